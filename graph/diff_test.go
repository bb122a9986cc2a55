package graph_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/graph"
)

func definition(t *testing.T, raw string) *graph.Definition {
	t.Helper()
	g, err := graph.Parse(json.RawMessage(raw), nil)
	require.NoError(t, err)
	return &g.Definition
}

// A diff names nodes, edges and bindings, whatever the order of nodes and members.
func TestDiff(t *testing.T) {
	t.Parallel()

	before := definition(t, `{"state":{"n":1},"nodes":[
		{"id":"a","kind":"tool","tool":"x@^1.0","arguments":{"i":{"$from":"/input/i"},"keep":1}},
		{"id":"gone","kind":"start"},
		{"id":"j","kind":"branch","cases":[{"when":"true","next":"p"}],"default":"p"},
		{"id":"p","kind":"parallel","branches":[{"id":"one","nodes":[{"id":"b","kind":"tool","tool":"x"}]}]}]}`)
	after := definition(t, `{"state":{"n":2},"nodes":[
		{"id":"a","kind":"tool","tool":"x@^2.0","arguments":{"keep":1,"i":{"$from":"/input/j"}}},
		{"id":"j","kind":"branch","cases":[{"when":"false","next":"p"}],"default":"p"},
		{"id":"p","kind":"parallel","branches":[{"id":"two","nodes":[{"id":"b","kind":"tool","tool":"x"},{"id":"new","kind":"end"}]}]}]}`)
	changes, err := json.Marshal(graph.Diff(before, after))
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"what":"changed","node":"a","path":"/arguments/i/$from","from":"/input/i","to":"/input/j"},
		{"what":"changed","node":"a","path":"/next","from":"gone","to":"j"},
		{"what":"changed","node":"a","path":"/tool","from":"x@^1.0","to":"x@^2.0"},
		{"what":"changed","node":"j","path":"/cases","from":[{"when":"true","next":"p"}],"to":[{"when":"false","next":"p"}]},
		{"what":"removed","node":"p","path":"/branches/one","from":null},
		{"what":"added","node":"p","path":"/branches/two","to":null},
		{"what":"changed","node":"b","path":"/in","from":"p/one","to":"p/two"},
		{"what":"added","node":"b","path":"/next","to":"new"},
		{"what":"added","node":"new","to":"end"},
		{"what":"removed","node":"gone","from":"start"},
		{"what":"changed","path":"/state/n","from":1,"to":2}]`, string(changes))
	require.Empty(t, graph.Diff(before, before))
	require.Empty(t, graph.Diff(definition(t, everything), definition(t, everything)))
}
