package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

func pureIn(group string, most int) wire.InvokeInput {
	return wire.InvokeInput{Pin: agent.Pin{Execution: tool.Execution{Pure: true, ConcurrencyGroup: group, MaxConcurrency: most}}}
}

var (
	writes  = wire.InvokeInput{}
	refused = wire.InvokeInput{Call: wire.Call{Refused: &agent.Refusal{Kind: tool.NotFound}}}
)

func TestSegments(t *testing.T) {
	t.Parallel()

	p := pureIn("", 0)
	tests := []struct {
		name  string
		mode  agent.ToolMode
		calls []wire.InvokeInput
		want  []segment
	}{
		{"None", agent.ParallelSafe, nil, nil},
		{"AllPure", agent.ParallelSafe, []wire.InvokeInput{p, p, p}, []segment{{0, 3}}},
		{"WriteIsABarrier", agent.ParallelSafe, []wire.InvokeInput{p, p, writes, p}, []segment{{0, 2}, {2, 3}, {3, 4}}},
		{"WritesStandAlone", agent.ParallelSafe, []wire.InvokeInput{writes, writes}, []segment{{0, 1}, {1, 2}}},
		{"RefusedIsNoBarrier", agent.ParallelSafe, []wire.InvokeInput{p, refused, p}, []segment{{0, 3}}},
		{"Sequential", agent.Sequential, []wire.InvokeInput{p, p}, []segment{{0, 1}, {1, 2}}},
		{"SequentialByDefault", "", []wire.InvokeInput{p, p}, []segment{{0, 1}, {1, 2}}},
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

	require.Equal(t, map[string]int{"default": 1}, limits([]wire.InvokeInput{pureIn("", 0), pureIn("", 0)}))
	require.Equal(t, map[string]int{"reads": 2, "default": 3},
		limits([]wire.InvokeInput{pureIn("reads", 5), pureIn("reads", 2), pureIn("", 3), refused}))
}
