package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// A pure tool that leaves max_concurrency at its default is warned of wherever
// it is written; one that says a number, one that is not pure, and one that no
// executor runs are not.
func TestPureToolsLeftAtOneAreWarnedOf(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for name, tt := range map[string]struct {
		x     tool.Execution
		impl  tool.Implementation
		warns bool
	}{
		"pure":             {tool.Execution{Pure: true}, tool.Internal, true},
		"pure, in a group": {tool.Execution{Pure: true, ConcurrencyGroup: "shop"}, tool.Internal, true},
		"pure, with eight": {tool.Execution{Pure: true, MaxConcurrency: 8}, tool.Internal, false},
		"pure, one meant":  {tool.Execution{Pure: true, MaxConcurrency: 1}, tool.Internal, false},
		"not pure":         {tool.Execution{Idempotent: true}, tool.Internal, false},
		"of a client":      {tool.Execution{Pure: true}, tool.Client, false},
	} {
		s := spec("getOrder", func(s *definition.ToolSpec) { s.Execution, s.Implementation = tt.x, tt.impl })
		change, err := b.registry.Check(t.Context(), b.ada, definition.Definition{Tool: &s})
		require.NoError(t, err, name)
		if !tt.warns {
			require.Empty(t, change.Warnings, name)
			require.Empty(
				t,
				definition.ConcurrencyWarnings(&s.Definition, registrytest.Types().Traits(s.Implementation)),
				name,
			)
			continue
		}
		require.Equal(
			t,
			definition.ConcurrencyWarnings(&s.Definition, registrytest.Types().Traits(s.Implementation)),
			change.Warnings,
			name,
		)
		require.Contains(t, change.Warnings[0], `concurrency group "`+tt.x.Group()+`"`, name)
	}
}

// An agent names the limits of its groups within bounds, in both spellings.
func TestAgentsMaxConcurrency(t *testing.T) {
	t.Parallel()

	b := setup(t)
	read := func(limits string) (definition.Change, error) {
		d, err := definition.Parse([]byte(`{"kind":"agent","slug":"desk","instructions":"Help.","maxConcurrency":` +
			limits + `}`))
		require.NoError(t, err)
		return b.registry.Apply(t.Context(), b.ada, d)
	}
	_, err := read(`{"default":8,"shop":1000}`)
	require.NoError(t, err)
	got, err := b.registry.GetAgent(t.Context(), b.ada, "desk")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"default": 8, "shop": 1000}, got.MaxConcurrency)
	for group, limits := range map[string]string{"shop": `{"shop":0}`, "default": `{"default":1001}`, "": `{"":4}`} {
		_, err := read(limits)
		registrytest.RequireRefused(t, err, tool.Invalid, "/max_concurrency/"+group, "expected 1 to 1000")
	}
}
