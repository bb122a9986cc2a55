package registry_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// Whatever is published in whatever order, nothing that is published leads back
// to itself; the error about a cycle names its path.
func TestNothingPublishedLeadsBackToItself(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(rt *rapid.T) {
		b := setup(t)
		const kinds = 3
		name := func(n int) string { return []string{"agent", "call", "chain"}[n%kinds] + strconv.Itoa(n/kinds) }
		edges := make(map[string][]string) // Of what is published, as it is published last.
		for i := range 4 {
			agent, call, chain := name(i*kinds), name(i*kinds+1), name(i*kinds+2)
			b.mustPut(t, with(agent), spec(call, asking(fmt.Sprintf(`{"agent":%q}`, agent)), publish),
				spec(chain, composed(call), publish))
			edges[call], edges[chain] = []string{agent}, []string{call}
		}
		for range rapid.IntRange(1, 20).Draw(rt, "changes") {
			n := rapid.IntRange(0, 4*kinds-1).Draw(rt, "what")
			slug := name(n)
			var below []string
			var definition definition.Definition
			switch n % kinds {
			case 0:
				below = rapid.SliceOfNDistinct(
					rapid.Map(rapid.IntRange(0, 7), func(i int) string { return name(i/2*kinds + 1 + i%2) }), 0, 3, rapid.ID[string],
				).Draw(rt, "tools")
				s := with(slug, below...)
				definition.Agent = &s
			case 1:
				below = []string{name(rapid.IntRange(0, 3).Draw(rt, "agent") * kinds)}
				s := spec(slug, asking(fmt.Sprintf(`{"agent":%q}`, below[0])), publish)
				definition.Tool = &s
			default:
				below = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 7), func(i int) string { return name(i/2*kinds + 1 + i%2) }), 1,
					3).Draw(rt, "steps")
				s := spec(slug, composed(below...), publish)
				definition.Tool = &s
			}
			_, err := b.registry.Apply(t.Context(), b.ada, definition)
			switch {
			case err == nil:
				edges[slug] = below
			case tool.KindOf(err) != tool.NotFound && tool.KindOf(err) != tool.Conflict:
				rt.Fatalf("%s -> %v: %v", slug, below, err)
			}
			for from := range edges {
				if way := wayBack(edges, from, nil); way != nil {
					rt.Fatalf("published, and leads back: %v", way)
				}
			}
		}
	})
}

// wayBack returns a way from the last of line to somewhere on it, if there is.
func wayBack(edges map[string][]string, at string, line []string) []string {
	if slices.Contains(line, at) {
		return append(line, at)
	}
	for _, next := range edges[at] {
		if way := wayBack(edges, next, append(slices.Clone(line), at)); way != nil {
			return way
		}
	}
	return nil
}
