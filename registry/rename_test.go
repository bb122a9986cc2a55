package registry_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

const someDay = "2099-06-30"

// Until its last day the former slug leads to the tool: calls and agents that
// have it go on, with a warning.
func TestRename(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head, _ := b.sync(t, code("1.0.0", first))
	former := tool.Ref{Slug: "convertWeight", Constraint: "^1"}
	_, _, err := b.registry.CreateAgent(t.Context(), b.ada, definition.AgentSpec{
		Slug:       "clerk",
		Definition: agent.Definition{Instructions: "Help.", Model: "scripted/x", Tools: []tool.Ref{former}},
	})
	require.NoError(t, err)

	renamed, warnings, err := b.registry.Rename(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"},
		registry.Renaming{Slug: "weighAgain", KeepUntil: someDay})
	require.NoError(t, err)
	require.Equal(t, head.ID, renamed.ID)
	require.Equal(t, []string{
		`slug "weighAgain": "weigh" does not look like a verb; expected a verb and then a noun, such as searchOrders`,
		`agent "clerk" names the tool "convertWeight": change that to "weighAgain"`,
	}, warnings)
	for _, name := range []string{"weighAgain", "convertWeight"} {
		r, err := b.resolver.Resolve(t.Context(), resolver.Request{
			Principal: b.ada, Ref: tool.Ref{Slug: name, Constraint: "^1"},
		})
		require.NoError(t, err, name)
		require.Equal(t, head.ID, r.Tool.ID)
		require.Len(t, r.Warnings, map[string]int{"convertWeight": 1}[name])
	}
	bound, err := b.resolver.BindNew(t.Context(), b.ada, []tool.Ref{former}, tool.Production)
	require.NoError(t, err)
	require.Equal(t, "weighAgain", bound[0].Name())

	_, err = b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	require.ErrorContains(t, err, `is called "weighAgain" now`)
	_, _, err = b.registry.Create(t.Context(), b.ada, spec("convertWeight"))
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, `the former name of tool "weighAgain"`)

	_, err = b.registry.Check(t.Context(), b.ada, definition.Definition{Tool: new(spec("convertWeight"))})
	require.Equal(t, tool.Conflict, tool.KindOf(err), "as it would be refused")
	require.ErrorContains(t, err, "toolcrib tool rename weighAgain weighAgain --drop-former")

	again, warnings, err := b.registry.Rename(t.Context(), b.ada, tool.Ref{
		Slug: "weighAgain",
	}, registry.Renaming{Slug: "weighAgain"})
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, renamed.Revision, again.Revision, "nothing changes")
	_, _, err = b.registry.Rename(t.Context(), b.ada, tool.Ref{
		Slug: "weighAgain",
	}, registry.Renaming{Slug: "convertWeight", Drop: true})
	require.NoError(t, err, "and back")
	_, err = b.resolver.Resolve(t.Context(), resolver.Request{Principal: b.ada, Ref: tool.Ref{Slug: "weighAgain"}})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

// With the slug that it has, a tool gives up its former names.
func TestFormerNamesAreDropped(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head, _ := b.sync(t, code("1.0.0", first))
	for _, slug := range []string{"convertMass", "convertHeight"} {
		_, _, err := b.registry.Rename(t.Context(), b.ada, tool.Ref{ID: head.ID},
			registry.Renaming{Slug: slug, KeepUntil: someDay})
		require.NoError(t, err)
	}
	for _, name := range []string{"convertWeight", "convertMass"} {
		_, _, err := b.registry.Create(t.Context(), b.ada, spec(name))
		require.Equal(t, tool.Conflict, tool.KindOf(err), name)
	}
	still, warnings, err := b.registry.Rename(t.Context(), b.ada, tool.Ref{ID: head.ID},
		registry.Renaming{Slug: "convertHeight", Drop: true})
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, "convertHeight", still.Slug)
	for _, name := range []string{"convertWeight", "convertMass"} {
		_, _, err := b.registry.Create(t.Context(), b.ada, spec(name))
		require.NoError(t, err, name)
	}
}

func TestRenameRefusals(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.sync(t, code("1.0.0", first))
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrders"))
	require.NoError(t, err)
	reader := tool.Principal{Tenant: b.ada.Tenant, Subject: "user:eve"}
	for name, tt := range map[string]struct {
		by   tool.Principal
		n    registry.Renaming
		kind tool.Kind
		path string
	}{
		"no permission":  {reader, registry.Renaming{Slug: "weighThings"}, tool.Denied, ""},
		"another tenant": {b.bob, registry.Renaming{Slug: "weighThings"}, tool.NotFound, ""},
		"malformed":      {b.ada, registry.Renaming{Slug: "weigh things"}, tool.Invalid, "/slug"},
		"empty":          {b.ada, registry.Renaming{}, tool.Invalid, "/slug"},
		"taken":          {b.ada, registry.Renaming{Slug: "findOrders"}, tool.Conflict, ""},
		"no day":         {b.ada, registry.Renaming{Slug: "weighThings", KeepUntil: "soon"}, tool.Invalid, "/keep_until"},
		"a day that is over": {
			b.ada,
			registry.Renaming{Slug: "weighThings", KeepUntil: noon.AddDate(0, 0, -1).Format(time.DateOnly)},
			tool.Invalid, "/keep_until",
		},
		"kept and dropped": {
			b.ada, registry.Renaming{Slug: "weighThings", KeepUntil: someDay, Drop: true}, tool.Invalid, "/keep_until",
		},
	} {
		_, _, err := b.registry.Rename(t.Context(), tt.by, tool.Ref{Slug: "convertWeight"}, tt.n)
		require.Equal(t, tt.kind, tool.KindOf(err), "%s: %v", name, err)
		require.Equal(t, tt.path, tool.AsError(err).Path, name)
	}
	_, err = b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"})
	require.NoError(t, err)
}

// renamedCode is the function of code under another name.
func renamedCode(version string) registry.CodeSpec {
	s := code(version, second)
	s.Slug = "convertMass"
	s.Definition.Config = json.RawMessage(`{"function_name":"convertMass"}`)
	s.Definition.Interaction.FormerNames = map[string]string{"convertWeight": someDay}
	return s
}

// A host that renames a published function keeps starting, and so does the
// program from before: there is one tool, under one id, which both names lead to.
func TestSyncCodeRenames(t *testing.T) {
	t.Parallel()

	b := setup(t)
	old, _ := b.sync(t, code("1.0.0", first))
	moved, runs := b.sync(t, renamedCode("1.1.0"))
	require.Empty(t, moved.Warnings)
	require.Equal(t, old.ID, moved.ID)
	require.Equal(t, "1.1.0", runs)

	before, runs := b.sync(t, code("1.0.0", first))
	require.Equal(t, definition.Unchanged, before.Action)
	require.Equal(t, "1.1.0", runs, "the former name leads to it")
	require.Equal(t, []string{`it is left alone: "convertWeight" is the former name of tool "convertMass" until ` + someDay +
		`: choose another slug, or end the former names of that tool with toolcrib tool rename convertMass convertMass ` +
		`--drop-former`}, before.Warnings)

	again, runs := b.sync(t, renamedCode("1.1.0"))
	require.Equal(t, definition.Unchanged, again.Action)
	require.Empty(t, again.Warnings)
	require.Equal(t, "1.1.0", runs)
	versions, err := b.registry.Versions(t.Context(), b.ada, tool.Ref{Slug: "convertMass"})
	require.NoError(t, err)
	require.Len(t, versions, 2)
}

// Code that is renamed without a greater version starts too, and a warning says
// what is missing.
func TestSyncCodeRenamesUnderTheSameVersion(t *testing.T) {
	t.Parallel()

	b := setup(t)
	old, _ := b.sync(t, code("1.0.0", first))
	moved, runs := b.sync(t, renamedCode("1.0.0"))
	require.Equal(t, "1.0.0", runs)
	require.Equal(t, old.ID, moved.ID)
	require.Equal(
		t, []string{"version 1.0.0 was published under the former name: give what the code has now a greater version"},
		moved.Warnings,
	)
}

// What stands under the former name and is not the code's stays as it is.
func TestSyncCodeRenamesItsOwnOnly(t *testing.T) {
	t.Parallel()

	b := setup(t)
	other, _, err := b.registry.Create(t.Context(), b.ada, spec("convertWeight"))
	require.NoError(t, err)
	changes, err := b.registry.SyncCode(t.Context(), b.ada.Tenant, []registry.CodeSpec{renamedCode("1.0.0")})
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, changes[0].Action)
	require.Len(t, changes[0].Warnings, 1)
	require.Contains(t, changes[0].Warnings[0], `"convertWeight" is the slug of the tenant tool `+other.ID)
}
