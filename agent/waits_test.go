package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

var asked = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// after is a call that began some seconds after it was asked for, or with a
// negative number not at all.
func after(turn int, slug string, seconds int) agent.TurnCall {
	c := agent.TurnCall{Turn: turn, Slug: slug, AskedAt: asked}
	if seconds >= 0 {
		at := asked.Add(time.Duration(seconds) * time.Second)
		c.StartedAt = &at
	}
	return c
}

func pinned(slug string, x tool.Execution) agent.Pin {
	return agent.Pin{VersionIdentity: tool.VersionIdentity{Slug: slug}, Execution: x}
}

// Each call that waited for others of its turn is counted under its reason, with
// the longest wait; those that began at once, or run nothing, are not.
func TestWaits(t *testing.T) {
	t.Parallel()

	tools := []agent.Pin{
		pinned("read", tool.Execution{Pure: true}),
		pinned("wide", tool.Execution{Pure: true, ConcurrencyGroup: "wide", MaxConcurrency: 2}),
		pinned("write", tool.Execution{}),
	}
	for name, tt := range map[string]struct {
		mode  agent.ToolMode
		agent map[string]int
		calls []agent.TurnCall
		want  []agent.Wait
	}{
		"alone": {agent.ParallelSafe, nil, []agent.TurnCall{after(1, "read", 0), after(2, "write", 0)}, nil},
		"a group left at one": {
			agent.ParallelSafe, nil,
			[]agent.TurnCall{after(1, "read", 0), after(1, "read", 2), after(1, "read", 4)},
			[]agent.Wait{{
				Turn: 1, Calls: 2, Most: 4 * time.Second, Reason: agent.WaitGroup, Group: "default", Tool: "read",
				Text: `concurrency group "default" runs 1 at a time: max_concurrency of read is not set; set it, or the agent's max_concurrency for the group`,
			}},
		},
		"a group that the agent raises": {
			agent.ParallelSafe,
			map[string]int{"default": 3},
			[]agent.TurnCall{after(1, "read", 0), after(1, "read", 0), after(1, "read", 0)},
			nil,
		},
		"a group that its tool limits, and one call that waits still": {
			agent.ParallelSafe,
			map[string]int{"wide": 8},
			[]agent.TurnCall{after(3, "wide", 0), after(3, "wide", 0), after(3, "wide", -1)},
			[]agent.Wait{{
				Turn: 3, Calls: 1, Most: 9 * time.Second, Reason: agent.WaitGroup, Group: "wide", Tool: "wide",
				Text: `concurrency group "wide" runs 2 at a time: max_concurrency of wide allows no more`,
			}},
		},
		"a group that the agent lowers": {
			agent.ParallelSafe,
			map[string]int{"wide": 1},
			[]agent.TurnCall{after(1, "wide", 0), after(1, "wide", 1)},
			[]agent.Wait{{
				Turn: 1, Calls: 1, Most: time.Second, Reason: agent.WaitGroup, Group: "wide", Tool: "wide",
				Text: `concurrency group "wide" runs 1 at a time: the agent's max_concurrency for the group sets this limit`,
			}},
		},
		"a barrier, from both sides": {
			agent.ParallelSafe, nil,
			[]agent.TurnCall{
				after(1, "wide", 0), after(1, "write", 1), {Turn: 1, Refused: true, AskedAt: asked}, after(1, "read", 3),
			},
			[]agent.Wait{
				{
					Turn: 1, Calls: 1, Most: time.Second, Reason: agent.WaitBarrier, Tool: "write",
					Text: "write is not pure, so it runs alone, after the calls before it",
				},
				{
					Turn: 1, Calls: 1, Most: 3 * time.Second, Reason: agent.WaitBarrier, Tool: "write",
					Text: "write is not pure, so it runs alone, before the calls after it",
				},
			},
		},
		"one after another": {
			agent.Sequential, nil,
			[]agent.TurnCall{after(1, "wide", 0), after(1, "read", 2)},
			[]agent.Wait{{
				Turn: 1, Calls: 1, Most: 2 * time.Second, Reason: agent.WaitSequential,
				Text: "the agent's tool_mode runs one call after another; parallel_safe runs pure calls side by side",
			}},
		},
	} {
		plan := agent.Plan{ToolMode: tt.mode, MaxConcurrency: tt.agent, Tools: tools}
		require.Equal(t, tt.want, plan.Waits(tt.calls, asked.Add(9*time.Second)), name)
	}
}
