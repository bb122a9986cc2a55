package resolver_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// withCanary returns the candidates of a tool with a canary, 1.1.0, that is withheld from some percent of the runs.
func withCanary(withheld int) resolver.Candidates {
	return resolver.Candidates{TenantActive: true, Entries: []resolver.Entry{{
		Tool: tool.Tool{
			ID: "01975c2e-7d1a-7c3e-9f00-0000000000a1", Tenant: "acme", Slug: "findOrder", Status: tool.Published, Active: true,
			Definition: tool.Definition{Implementation: tool.Internal},
		},
		Versions: []resolver.VersionInfo{
			{ID: "1", Number: "1.0.0", Digest: "a", Published: true},
			{ID: "2", Number: "1.1.0", Digest: "b", Published: true, Withheld: withheld},
		},
	}}}
}

func canaryRequest(run, constraint string) resolver.Request {
	return resolver.Request{
		Principal: tool.Principal{Tenant: "acme"}, Ref: tool.Ref{Slug: "findOrder", Constraint: constraint}, Run: run,
	}
}

// The share of the runs that get a canary is about what was asked for, and a run always gets the same.
func TestCanaryShare(t *testing.T) {
	t.Parallel()

	for withheld, want := range map[int][2]int{0: {1000, 1000}, 50: {420, 580}, 90: {60, 140}, 100: {0, 0}} {
		got := 0
		for i := range 1000 {
			req := canaryRequest(fmt.Sprintf("run-%d", i), "")
			s := resolver.Select(withCanary(withheld), req)
			require.Nil(t, s.Err)
			require.Equal(t, s.Version, resolver.Select(withCanary(withheld), req).Version)
			if s.Version.Number == "1.1.0" {
				got++
			}
		}
		require.GreaterOrEqual(t, got, want[0], "withheld from %d %%", withheld)
		require.LessOrEqual(t, got, want[1], "withheld from %d %%", withheld)
	}
}

func TestCanaryIsAskedFor(t *testing.T) {
	t.Parallel()

	number := func(withheld int, req resolver.Request) string {
		t.Helper()
		s := resolver.Select(withCanary(withheld), req)
		if s.Err != nil {
			return string(s.Err.Kind)
		}
		return s.Version.Number
	}
	require.Equal(t, "1.0.0", number(1, canaryRequest("", "")), "no run, no canary")
	require.Equal(t, "1.1.0", number(99, canaryRequest("", "1.1.0")), "exactly it is asked for")
	require.Equal(t, "not_found", number(100, canaryRequest("", "1.1.0")), "it was taken back")
	debug := canaryRequest("", "^1")
	debug.Mode = tool.Debug
	require.Equal(t, "1.1.0", number(100, debug), "debug mode runs any version")

	best, ok, err := resolver.Highest(withCanary(50).Entries[0].Versions, "^1")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "1.0.0", best.Number)
	_, _, err = resolver.Highest(nil, "nonsense")
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}

// A tool without a canary is decided without allocating for one.
func TestNoCanaryAllocatesNothing(t *testing.T) { //nolint:paralleltest // It counts allocations.
	c := withCanary(0)
	req := canaryRequest("run", "")
	before := testing.AllocsPerRun(100, func() { _ = resolver.Select(c, req) })
	req.Run = ""
	require.InDelta(t, before, testing.AllocsPerRun(100, func() { _ = resolver.Select(c, req) }), 0)
}
