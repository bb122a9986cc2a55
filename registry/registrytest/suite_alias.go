package registrytest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// publishAs publishes a version of a tool with these names beside its slug.
func publishAs(t *testing.T, s registry.Store, head tool.Tool, number string, i tool.Interaction) (tool.Tool, error) {
	t.Helper()

	head.Interaction = i
	v := versionOf(t, head, number)
	v.Published = true
	stored, _, err := s.AddVersion(t.Context(), head, v)
	return stored, err
}

// found returns the tool that a name leads to, and how.
func found(t *testing.T, f Fixture, tenant tool.TenantID, name string) (id string, by *resolver.Alias) {
	t.Helper()

	c, err := f.Source.Entries(t.Context(), tenant, tool.Ref{Slug: name})
	require.NoError(t, err)
	if len(c.Entries) == 0 {
		return "", nil
	}
	require.Len(t, c.Entries, 1)
	require.NotEmpty(t, c.Entries[0].Versions)
	return c.Entries[0].Tool.ID, c.Entries[0].Alias
}

func testAliases(t *testing.T, f Fixture) {
	t.Helper()

	soon, past := time.Now().Add(48*time.Hour), time.Now().Add(-48*time.Hour)
	names := tool.Interaction{Aliases: []string{"mount", "addFolder"}}
	names.Rename("add-dir", soon)
	names.Rename("attach", past)
	head := create(t, f.Store, example(f.Tenant, "addDir"))
	id, _ := found(t, f, f.Tenant, "mount")
	require.Empty(t, id, "a draft has no further names")
	head, err := publishAs(t, f.Store, head, "1.0.0", names)
	require.NoError(t, err)
	for name, want := range map[string]*resolver.Alias{
		"addDir": nil, "mount": {Name: "mount"}, "addFolder": {Name: "addFolder"},
		"add-dir": {Name: "add-dir", RemoveBy: soon.UTC().Format(time.DateOnly)},
	} {
		id, by := found(t, f, f.Tenant, name)
		require.Equal(t, head.ID, id, name)
		require.Equal(t, want, by, name)
	}
	id, _ = found(t, f, f.Tenant, "attach")
	require.Empty(t, id, "its last day is over")

	second := create(t, f.Store, example(f.Tenant, "mountDisk"))
	_, err = publishAs(t, f.Store, second, "1.0.0", tool.Interaction{Aliases: []string{"disk", "mount"}})
	requireKind(t, tool.Conflict, err)
	id, _ = found(t, f, f.Tenant, "disk")
	require.Empty(t, id, "nothing of the refused version counts")
	second, err = publishAs(t, f.Store, second, "1.0.0", tool.Interaction{Aliases: []string{"attach"}})
	require.NoError(t, err, "what another tool was called once is free again")

	head, err = publishAs(t, f.Store, head, "1.1.0", tool.Interaction{Aliases: []string{"addFolder"}})
	require.NoError(t, err)
	id, _ = found(t, f, f.Tenant, "mount")
	require.Empty(t, id, "the version published last has it no more")
	second, err = publishAs(t, f.Store, second, "1.1.0", tool.Interaction{Aliases: []string{"mount"}})
	require.NoError(t, err)
	id, _ = found(t, f, f.Tenant, "mount")
	require.Equal(t, second.ID, id)

	slug := create(t, f.Store, example(f.Tenant, "addFolder"))
	slug, err = publishAs(t, f.Store, slug, "1.0.0", tool.Interaction{})
	require.NoError(t, err)
	id, by := found(t, f, f.Tenant, "addFolder")
	require.Equal(t, slug.ID, id, "a slug goes before an alias")
	require.Nil(t, by)
	id, _ = found(t, f, f.Tenant, head.ID)
	require.Empty(t, id)
}

func testAliasIsolation(t *testing.T, f Fixture) {
	t.Helper()

	names := tool.Interaction{Aliases: []string{"mount"}}
	theirs, err := publishAs(t, f.Store, create(t, f.Store, example(f.Other, "theirTool")), "1.0.0", names)
	require.NoError(t, err)
	id, _ := found(t, f, f.Tenant, "mount")
	require.Empty(t, id)
	hidden, err := publishAs(t, f.Platform, create(t, f.Platform, exampleFor("hidden", "nobody-else")), "1.0.0",
		tool.Interaction{Aliases: []string{"secretly"}})
	require.NoError(t, err)
	require.NotEmpty(t, hidden.ID)
	id, _ = found(t, f, f.Tenant, "secretly")
	require.Empty(t, id, "a global tool that is for others")

	own, err := publishAs(t, f.Store, create(t, f.Store, example(f.Tenant, "ownTool")), "1.0.0", names)
	require.NoError(t, err, "each tenant has its own names")
	id, _ = found(t, f, f.Tenant, "mount")
	require.Equal(t, own.ID, id)
	id, _ = found(t, f, f.Other, "mount")
	require.Equal(t, theirs.ID, id)

	global, err := publishAs(t, f.Platform, create(t, f.Platform,
		exampleFor("everybodys")), "1.0.0", tool.Interaction{Aliases: []string{"mount", "all"}})
	require.NoError(t, err)
	id, by := found(t, f, f.Tenant, "all")
	require.Equal(t, global.ID, id)
	require.Equal(t, &resolver.Alias{Name: "all"}, by)
	c, err := f.Source.Entries(t.Context(), f.Tenant, tool.Ref{Slug: "mount"})
	require.NoError(t, err)
	require.Len(t, c.Entries, 2, "its own and the global one, for the resolver to choose")
	require.Equal(t, own.ID, resolver.Select(c, resolver.Request{
		Principal: tool.Principal{Tenant: f.Tenant}, Ref: tool.Ref{Slug: "mount"}, Mode: tool.Debug,
	}).Tool.ID)
}
