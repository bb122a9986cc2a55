package resolver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// A request that is limited to a set finds nothing else, in the words for what does not exist, and no version that
// the set does not allow.
func TestWithinASet(t *testing.T) {
	t.Parallel()

	b := setup(t)
	find := b.add(t, b.acme, "findOrder", nil, "1.0.0", "1.5.0", "2.0.0")
	other := b.add(t, b.acme, "sendMail", nil, "1.0.0")
	resolve := func(name string, set *resolver.Set) (*resolver.Resolved, error) {
		req := b.request(name)
		req.Within = set
		return b.resolver.Resolve(t.Context(), req)
	}
	_, absent := resolve("findNothing", &resolver.Set{})
	for _, set := range []resolver.Set{{}, {other.ID: ""}} {
		for _, name := range []string{"findOrder", "findOrder@^1"} {
			_, err := resolve(name, &set)
			require.Equal(t, tool.NotFound, tool.KindOf(err))
			require.Equal(t, absent.Error()[:20], err.Error()[:20])
			require.Contains(t, err.Error(), `tool "findOrder" not found`)
		}
	}
	for _, c := range []struct{ name, allows, version string }{
		{"findOrder", "", "2.0.0"},
		{"findOrder", "^1", "1.5.0"},
		{"findOrder@~1.0", "^1", "1.0.0"},
		{"findOrder@^1", "", "1.5.0"},
		{"findOrder@>=1.5", "<2", "1.5.0"},
		{"findOrder@^2", "^1", ""},
		{"findOrder", "^3", ""},
	} {
		got, err := resolve(c.name, &resolver.Set{find.ID: c.allows})
		if c.version == "" {
			require.Equal(t, tool.NotFound, tool.KindOf(err), "%+v", c)
			continue
		}
		require.NoError(t, err, "%+v", c)
		require.Equal(t, c.version, got.Version.Number, "%+v", c)
	}
	req := b.request("findOrder")
	req.Within = &resolver.Set{}
	e, err := b.resolver.Explain(t.Context(), req)
	require.NoError(t, err)
	last := e.Steps[len(e.Steps)-1]
	require.Equal(t, resolver.RuleSet, last.Rule)
	require.False(t, last.Passed)
}
