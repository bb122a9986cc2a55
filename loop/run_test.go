package loop_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

var identity = loop.Identity{
	Principal: tool.Principal{Tenant: "01890000-0000-7000-8000-000000000001"}, RunID: "r1",
	WorkflowID: "w1", FirstRunID: "f1",
}

// pin returns a pinned tool. Its group's limit is the default where most is zero.
func pin(slug string, pure bool, group string, most int) agent.Pin {
	return agent.Pin{
		VersionIdentity: tool.VersionIdentity{Slug: slug, Digest: "digest of " + slug},
		Execution:       tool.Execution{Pure: pure, ConcurrencyGroup: group, MaxConcurrency: most},
	}
}

func planOf(mode agent.ToolMode, limits agent.Limits) agent.Plan {
	return agent.Plan{ToolMode: mode, Limits: limits, Tools: []agent.Pin{
		pin("read", true, "", 0), pin("read3", true, "reads", 3), pin("read2", true, "reads", 2), pin("write", false, "", 0),
		pin("ask", false, "", 0), pin("askno", false, "", 0), pin("askread", true, "", 0),
		pin("out", false, "", 0), pin("outread", true, "outside", 2), pin("askout", false, "", 0),
		pin("askoutread", true, "", 0),
	}}
}

// turnOf returns a turn that calls the given tools; "x" is a refused call, recorded
// with the turn, and calls of tools that begin with "ask" need an approval.
func turnOf(head string, slugs ...string) loop.Turn {
	turn := loop.Turn{Head: head}
	for i, slug := range slugs {
		call := agent.PreparedCall{Slug: slug, ArgumentsDigest: slug + strconv.Itoa(i)}
		call.CallID = slug + strconv.Itoa(i)
		if slug == "x" {
			call.Refused, call.Settled = &agent.Refusal{Kind: tool.NotFound}, true
		}
		if strings.HasPrefix(slug, "ask") {
			call.Asks = &agent.Asking{Reasons: []string{"it writes"}}
		}
		turn.Calls = append(turn.Calls, call)
	}
	return turn
}

// waves lets every call that was started end before the next step, and returns which
// calls ran at once.
func waves(r *loop.Run) (out [][]string) {
	for {
		step := r.Next()
		if len(step.Start) == 0 {
			return out
		}
		var wave []string
		for _, start := range step.Start {
			wave = append(wave, r.Call(start.Call).CallID)
		}
		for _, start := range step.Start {
			r.Called(start.Call, 0, nil)
		}
		out = append(out, wave)
	}
}

// Pure calls run at once, as many as their group allows; any other runs alone, in the
// order of the model. A refused call is no barrier.
func TestSchedule(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		mode  agent.ToolMode
		calls []string
		want  [][]string
	}{
		"None":       {agent.ParallelSafe, nil, nil},
		"OneAtATime": {agent.ParallelSafe, []string{"read", "read"}, [][]string{{"read0"}, {"read1"}}},
		"Groups":     {agent.ParallelSafe, []string{"read3", "read3", "read"}, [][]string{{"read30", "read31", "read2"}}},
		"Least":      {agent.ParallelSafe, []string{"read3", "read2", "read3"}, [][]string{{"read30", "read21"}, {"read32"}}},
		"LeastOfMade": {
			agent.ParallelSafe, []string{"read3", "read3", "read3"}, [][]string{{"read30", "read31", "read32"}},
		},
		"Barrier": {
			agent.ParallelSafe,
			[]string{"read3", "read3", "write", "read3"},
			[][]string{{"read30", "read31"}, {"write2"}, {"read33"}},
		},
		"Barriers":   {agent.ParallelSafe, []string{"write", "write"}, [][]string{{"write0"}, {"write1"}}},
		"Refused":    {agent.ParallelSafe, []string{"read3", "x", "read3"}, [][]string{{"read30", "read32"}}},
		"Sequential": {agent.Sequential, []string{"read3", "read3"}, [][]string{{"read30"}, {"read31"}}},
		"Default":    {"", []string{"read3", "read3"}, [][]string{{"read30"}, {"read31"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			plan := planOf(tt.mode, agent.Limits{})
			r := loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0"})
			require.Equal(t, loop.Step{Ask: true}, r.Next())
			r.Answered(&plan, turnOf("m1", tt.calls...))
			require.Equal(t, tt.want, waves(r))
			require.Equal(t, "m1", r.Head())
		})
	}
}

// An agent's limit of a group raises what no tool limits, and lowers what a tool allows.
func TestScheduleByTheAgentsLimits(t *testing.T) {
	t.Parallel()

	for asked, want := range map[int]int{0: 1, 4: 4} {
		plan := planOf(agent.ParallelSafe, agent.Limits{})
		plan.MaxConcurrency = map[string]int{tool.DefaultConcurrencyGroup: asked}
		r := loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0"})
		r.Answered(&plan, turnOf("m1", "read", "read", "read", "read"))
		require.Len(t, r.Next().Start, want)
	}
}

// A run ends when the model makes no call, or at a limit. The calls beyond a limit are
// settled with its error.
func TestEnds(t *testing.T) {
	t.Parallel()

	plan := planOf(agent.ParallelSafe, agent.Limits{MaxTurns: 2, MaxCalls: 3})
	r := loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0"})
	r.Answered(&plan, loop.Turn{Head: "m1", Answer: "done"})
	require.Equal(t, loop.Step{End: true}, r.Next())
	require.NoError(t, r.Err())
	require.Equal(t, "done", r.Answer())

	r = loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0"})
	for range 2 {
		require.True(t, r.Next().Ask)
		r.Answered(&plan, turnOf("m", "read"))
		waves(r)
	}
	require.Equal(t, loop.Step{End: true}, r.Next())
	require.ErrorContains(t, r.Err(), "limit of 2 turns")

	r = loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0", MaxCalls: 1})
	r.Answered(&plan, turnOf("m", "read3", "read3"))
	step := r.Next()
	require.Len(t, step.Start, 2)
	require.ErrorContains(t, step.Start[0].Refuse, "limit of 1 tool calls")
	r.Called(0, 0, nil)
	require.Equal(t, loop.Step{}, r.Next(), "a call is in progress")
	r.Called(1, 0, nil)
	require.Equal(t, loop.Step{End: true}, r.Next())
	require.Equal(t, 2, r.Calls())
}

// A stopped run waits for the calls in progress, and settles those that have not
// started, held ones too.
func TestStop(t *testing.T) {
	t.Parallel()

	plan := planOf(agent.ParallelSafe, agent.Limits{})
	r := loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0"})
	r.Answered(&plan, turnOf("m", "read2", "read2", "read2", "write"))
	require.Len(t, r.Next().Start, 2)
	r.Hold(1)
	r.Stop(errors.New("first"))
	r.Stop(errors.New("second"))
	step := r.Next()
	require.Len(t, step.Start, 3)
	for i, start := range step.Start {
		require.Equal(t, i+1, start.Call)
		require.Equal(t, tool.Cancelled, start.Refuse.Kind)
		r.Called(start.Call, 0, nil)
	}
	require.Equal(t, loop.Step{}, r.Next())
	r.Called(0, 0, nil)
	require.Equal(t, loop.Step{End: true}, r.Next())
	require.EqualError(t, r.Err(), "first")
}

// The agents of a turn share the calls that are left.
func TestShare(t *testing.T) {
	t.Parallel()

	ask := pin("desk", false, "", 0)
	ask.Agent = &agent.PinnedAgent{Slug: "desk"}
	plan := planOf(agent.ParallelSafe, agent.Limits{MaxCalls: 10})
	plan.Tools = append(plan.Tools, ask)
	for calls, want := range map[int]int{0: 4, 6: 1, 8: -1} {
		r := loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0", Calls: calls})
		r.Answered(&plan, turnOf("m", "desk", "desk"))
		require.Equal(t, want, r.Share())
	}
	r := loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0"})
	r.Answered(&plan, turnOf("m", "read"))
	require.Zero(t, r.Share())
}

func TestLate(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := loop.NewRun(identity, wire.RunState{Plan: planOf("", agent.Limits{TimeoutSeconds: 5}), Deadline: at})
	require.Equal(t, tool.Timeout, r.Late(time.Time{}).Kind)
	require.Contains(t, r.Late(at.Add(time.Hour)).Msg, "its time of 5s")
	require.Contains(t, r.Late(at).Msg, "the time that its caller gives it")
}
