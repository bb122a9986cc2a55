package graph_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

const resumable = `{"state":{"n":0},"on_error":"mend","nodes":[
	{"id":"begin","kind":"start"},
	{"id":"fetch","kind":"tool","tool":"t","set":{"n":1},"on_error":"continue"},
	{"id":"judge","kind":"branch","cases":[{"when":"true","next":"each"}],"default":"other"},
	{"id":"other","kind":"tool","tool":"t","next":"last"},
	{"id":"each","kind":"map","over":[1],"nodes":[{"id":"item","kind":"tool","tool":"t","set":{"n":2}}]},
	{"id":"again","kind":"loop","while":"iteration < 1","max":2,"nodes":[{"id":"more","kind":"tool","tool":"t","set":{"n":3}}]},
	{"id":"last","kind":"tool","tool":"t"},
	{"id":"mend","kind":"tool","tool":"t"}]}`

func TestResume(t *testing.T) {
	t.Parallel()

	g, err := graph.Parse([]byte(resumable), nil)
	require.NoError(t, err)
	done := func(path string, k flow.Kind, sets bool) graph.Passed {
		return graph.Passed{Path: path, Kind: k, Status: graph.Completed, Sets: sets}
	}
	branch := graph.Passed{Path: "judge", Kind: flow.Branch, Status: graph.Completed, Case: "each"}
	refused := graph.Passed{Path: "fetch", Kind: flow.Tool, Status: graph.Failed}
	broken := graph.Passed{Path: "last", Kind: flow.Tool, Status: graph.Failed}
	begin, each := done("begin", flow.Start, false), done("each", flow.Map, false)
	again := done("again", flow.Loop, false)
	all := []graph.Passed{
		begin, done("fetch", flow.Tool, true), branch, done("each/0/item", flow.Tool, true), each,
		done("again/0/more", flow.Tool, true), again, broken,
	}
	for name, tt := range map[string]struct {
		passed []graph.Passed
		node   string
		want   flow.Frame
		fault  string
	}{
		"First":    {all, "begin", flow.Frame{At: "begin", Phase: flow.PhaseBegin}, ""},
		"Failed":   {all, "", flow.Frame{At: "last", Phase: flow.PhaseCall, State: "again/0/more", Last: "again"}, ""},
		"MapsKeep": {all, "again", flow.Frame{At: "again", Phase: flow.PhaseBegin, State: "fetch", Last: "each"}, ""},
		"AfterFault": {
			[]graph.Passed{begin, refused},
			"judge",
			flow.Frame{At: "judge", Phase: flow.PhaseBegin, Last: "fetch"},
			"",
		},
		"Next": {
			[]graph.Passed{begin, done("fetch", flow.Tool, false), branch},
			"each",
			flow.Frame{At: "each", Phase: flow.PhaseBegin, Last: "fetch"},
			"",
		},
		"Handler": {
			append(slices.Clip(all), done("mend", flow.Tool, false)), "mend",
			flow.Frame{At: "mend", Phase: flow.PhaseCall, State: "again/0/more", Last: "again", Failed: "last"},
			"",
		},
		"AfterAFailure": {
			[]graph.Passed{begin, done("fetch", flow.Tool, true), branch, {Path: "each", Kind: flow.Map, Status: graph.Failed}},
			"again",
			flow.Frame{},
			`the run did not come to node "again"`,
		},
		"HandlerFarAway": {
			[]graph.Passed{
				begin, done("fetch", flow.Tool, true), branch,
				{Path: "each", Kind: flow.Map, Status: graph.Failed},
				{Path: "mend", Kind: flow.Tool, Status: graph.Failed},
			},
			"",
			flow.Frame{At: "mend", Phase: flow.PhaseCall, State: "fetch", Last: "fetch", Failed: "each"},
			"",
		},
		"NotTaken":    {all, "other", flow.Frame{}, `the run did not come to node "other"`},
		"NotYet":      {[]graph.Passed{begin}, "each", flow.Frame{}, `the run did not come to node "each"`},
		"InABody":     {all, "item", flow.Frame{}, `node "item" is in a body of "each": name that one`},
		"Unknown":     {all, "none", flow.Frame{}, `the graph has no node "none"`},
		"NothingFail": {all[:2], "", flow.Frame{}, "every node that the run came to succeeded: name the node to begin with"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			state, _, err := g.Resume(tt.passed, tt.node)
			if tt.fault != "" {
				require.Equal(t, tool.Invalid, tool.KindOf(err))
				require.Equal(t, tt.fault, tool.AsError(err).Msg)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []flow.Frame{tt.want}, state.Frames)
			require.Equal(t, tt.want.At == "mend", state.Handled)
		})
	}
}
