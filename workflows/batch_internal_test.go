package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

func pureIn(group string, most int) wire.InvokeInput {
	return wire.InvokeInput{
		Pin: agent.Pin{Execution: tool.Execution{Pure: true, ConcurrencyGroup: group, MaxConcurrency: most}},
	}
}

var (
	writes  = wire.InvokeInput{}
	refused = wire.InvokeInput{PreparedCall: agent.PreparedCall{Refused: &agent.Refusal{Kind: tool.NotFound}}}
)

func TestSegments(t *testing.T) {
	t.Parallel()

	p := pureIn("", 0)
	tests := []struct {
		name  string
		mode  agent.ToolMode
		calls []wire.InvokeInput
		want  []agent.Segment
	}{
		{"None", agent.ParallelSafe, nil, nil},
		{"AllPure", agent.ParallelSafe, []wire.InvokeInput{p, p, p}, []agent.Segment{{From: 0, To: 3}}},
		{
			"WriteIsABarrier", agent.ParallelSafe,
			[]wire.InvokeInput{p, p, writes, p},
			[]agent.Segment{{From: 0, To: 2}, {From: 2, To: 3}, {From: 3, To: 4}},
		},
		{
			"WritesStandAlone", agent.ParallelSafe,
			[]wire.InvokeInput{writes, writes},
			[]agent.Segment{{From: 0, To: 1}, {From: 1, To: 2}},
		},
		{"RefusedIsNoBarrier", agent.ParallelSafe, []wire.InvokeInput{p, refused, p}, []agent.Segment{{From: 0, To: 3}}},
		{"Sequential", agent.Sequential, []wire.InvokeInput{p, p}, []agent.Segment{{From: 0, To: 1}, {From: 1, To: 2}}},
		{"SequentialByDefault", "", []wire.InvokeInput{p, p}, []agent.Segment{{From: 0, To: 1}, {From: 1, To: 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, segments(tt.mode, tt.calls))
		})
	}
}

// A group's limit is the least that its tools name, among the calls made; the
// default is one call of the group "default" at a time.
func TestLimitsOfGroups(t *testing.T) {
	t.Parallel()

	most := func(asked map[string]int, calls ...wire.InvokeInput) map[string]int {
		out := make(map[string]int)
		for group, limit := range limits(&agent.Plan{MaxConcurrency: asked}, calls) {
			out[group] = limit.Limit
		}
		return out
	}
	require.Equal(t, map[string]int{"default": 1}, most(nil, pureIn("", 0), pureIn("", 0)))
	require.Equal(t, map[string]int{"reads": 2, "default": 3},
		most(nil, pureIn("reads", 5), pureIn("reads", 2), pureIn("", 3), refused))

	for name, tt := range map[string]struct {
		tools []wire.InvokeInput
		want  int
	}{
		"raises what no tool limits":      {[]wire.InvokeInput{pureIn("reads", 0)}, 4},
		"lowers what a tool allows":       {[]wire.InvokeInput{pureIn("reads", 9)}, 4},
		"stays within what a tool allows": {[]wire.InvokeInput{pureIn("reads", 1)}, 1},
		"stays within the least of a group": {
			[]wire.InvokeInput{pureIn("reads", 0), pureIn("reads", 9), pureIn("reads", 3)}, 3,
		},
	} {
		require.Equal(t, map[string]int{"reads": tt.want}, most(map[string]int{"reads": 4, "other": 7}, tt.tools...), name)
	}
}
