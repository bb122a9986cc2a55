package resolver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

func further(i tool.Interaction) func(*tool.Tool) {
	return func(t *tool.Tool) { t.Interaction = i }
}

// A further name resolves as the slug does, version and all; a former one warns
// and says until when it works.
func TestResolveByFurtherName(t *testing.T) {
	t.Parallel()

	lastDay := time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
	b := setup(t)
	head := b.add(t, b.acme, "addDir", further(tool.Interaction{
		Aliases: []string{"mount"}, FormerNames: map[string]string{"add-dir": lastDay, "attach": "2020-01-01"},
	}), "1.0.0", "1.1.0", "2.0.0")
	for ref, want := range map[string]string{"mount": "2.0.0", "mount@^1": "1.1.0", "add-dir@1.0.0": "1.0.0"} {
		got, err := b.resolver.Resolve(t.Context(), b.request(ref))
		require.NoError(t, err)
		require.Equal(t, head.ID, got.Tool.ID)
		require.Equal(t, want, got.Version.Number)
		require.Equal(t, "addDir", got.Name(), "a model hears of one name only")
		require.Equal(t, strings.Split(ref, "@")[0], got.AskedAs)
	}
	got, err := b.resolver.Resolve(t.Context(), b.request("mount"))
	require.NoError(t, err)
	require.Empty(t, got.Warnings)
	got, err = b.resolver.Resolve(t.Context(), b.request("add-dir"))
	require.NoError(t, err)
	require.Equal(t, []string{`tool "add-dir" is called "addDir" now: the old name works until ` + lastDay}, got.Warnings)
	_, err = b.resolver.Resolve(t.Context(), b.request("attach"))
	require.Equal(t, tool.NotFound, tool.KindOf(err))

	why, err := b.resolver.Explain(t.Context(), b.request("add-dir"))
	require.NoError(t, err)
	require.Contains(t, why.Steps, resolver.Step{
		Rule: resolver.RuleAlias, Passed: true, Saw: "no tool has the slug; it is a former name of addDir, until " + lastDay,
	})
	why, err = b.resolver.Explain(t.Context(), b.request("mount"))
	require.NoError(t, err)
	require.Equal(t, "addDir", why.Slug)
	require.Contains(t, why.Steps, resolver.Step{
		Rule: resolver.RuleAlias, Passed: true, Saw: "no tool has the slug; it is an alias of addDir",
	})

	items, _, err := b.resolver.List(t.Context(), tool.Principal{Tenant: b.acme}, tool.Production, resolver.Filter{},
		resolver.Page{})
	require.NoError(t, err)
	require.Len(t, items, 1, "a list names each tool once, by its slug")
}

// What may be called by its slug may be called by its further names, and what
// may not, may not.
func TestFurtherNamesGiveNoMoreAuthority(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.add(t, b.other, "theirs", further(tool.Interaction{Aliases: []string{"mount"}}), "1.0.0")
	b.add(t, "", "forOthers", func(h *tool.Tool) {
		h.Interaction.Aliases, h.TenantSlugs = []string{"attach"}, []string{"other"}
	}, "1.0.0")
	b.add(t, b.acme, "secret", func(h *tool.Tool) {
		h.Interaction.Aliases, h.RequiredPermission = []string{"hush"}, "secrets.read"
	}, "1.0.0")
	b.add(t, b.acme, "off", func(h *tool.Tool) { h.Interaction.Aliases, h.Status = []string{"out"}, tool.Disabled },
		"1.0.0")
	absent := func(name string) string {
		_, err := b.resolver.Resolve(t.Context(), b.request(name))
		return err.Error()
	}
	require.Equal(t, `resolver.Resolve: not_found: tool "mount" not found`, absent("mount"))
	require.Equal(t, `resolver.Resolve: not_found: tool "attach" not found`, absent("attach"))
	for alias, want := range map[string]tool.Kind{"hush": tool.Denied, "out": tool.Conflict} {
		_, err := b.resolver.Resolve(t.Context(), b.request(alias))
		require.Equal(t, want, tool.KindOf(err), alias)
	}
}

// Slugs go before aliases, and a tenant's own before the platform's, in
// whatever order a source gives them.
func TestSlugsGoBeforeAliases(t *testing.T) {
	t.Parallel()

	own := resolver.Entry{
		Tool: tool.Tool{ID: "own", Tenant: "acme", Slug: "addDir", Active: true}, Alias: &resolver.Alias{Name: "mount"},
	}
	global := resolver.Entry{
		Tool: tool.Tool{ID: "global", Slug: "addFolder", Active: true}, Alias: &resolver.Alias{Name: "mount"},
	}
	slug := resolver.Entry{Tool: tool.Tool{ID: "slug", Slug: "mount", Active: true}}
	req := resolver.Request{Principal: tool.Principal{Tenant: "acme"}, Ref: tool.Ref{Slug: "mount"}, Mode: tool.Debug}
	for want, entries := range map[string][]resolver.Entry{
		"own": {global, own}, "global": {global}, "slug": {own, slug, global},
	} {
		s := resolver.Select(resolver.Candidates{TenantActive: true, Entries: entries}, req)
		require.Equal(t, want, s.Tool.ID)
	}
}

// The former name of a built-in leads to it, with a warning, where nothing else has the name; nobody
// hears of it.
func TestFormerNamesOfBuiltins(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, err := b.resolver.Resolve(t.Context(), b.request("request_feedback"))
	require.Equal(t, tool.NotFound, tool.KindOf(err), "there is no such built-in")
	head := b.add(t, "", "request_input", func(h *tool.Tool) { h.BuiltinKey = "request_input" }, "1.0.0")
	got, err := b.resolver.Resolve(t.Context(), b.request("request_feedback@^1"))
	require.NoError(t, err)
	require.Equal(t, head.ID, got.Tool.ID)
	require.Equal(t, "request_input", got.Name())
	require.Empty(t, got.AskedAs)
	require.Len(t, got.Warnings, 1)
	require.Contains(t, got.Warnings[0], `"request_feedback" is called "request_input" now`)
	own := b.add(t, b.acme, "request_feedback", nil, "1.0.0")
	got, err = b.resolver.Resolve(t.Context(), b.request("request_feedback"))
	require.NoError(t, err)
	require.Equal(t, own.ID, got.Tool.ID, "a tool of the tenant goes before")
	require.Empty(t, got.Warnings)
}
