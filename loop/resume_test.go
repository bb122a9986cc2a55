package loop_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

var tools = []string{"read", "read3", "read2", "write", "x", "ask", "askread", "askno"}

// script is what the model asks for, turn by turn; then it stops.
type script struct {
	plan  agent.Plan
	turns []loop.Turn
}

func scripts() *rapid.Generator[script] {
	return rapid.Custom(func(t *rapid.T) script {
		s := script{plan: planOf(
			rapid.SampledFrom([]agent.ToolMode{agent.ParallelSafe, agent.Sequential}).Draw(t, "mode"),
			agent.Limits{MaxTurns: rapid.IntRange(1, 5).Draw(t, "turns"), MaxCalls: rapid.IntRange(1, 12).Draw(t, "calls")},
		)}
		for i := range rapid.IntRange(0, 4).Draw(t, "answers") {
			slugs := rapid.SliceOfN(rapid.SampledFrom(tools), 1, 6).Draw(t, "slugs")
			s.turns = append(s.turns, turnOf(fmt.Sprintf("m%d", i+1), slugs...))
		}
		return s
	})
}

// outcome is what a run did: its calls by effect, and how it ended.
type outcome struct {
	effects map[string]string // Effect id to call id, or to the refusal.
	head    string
	turns   int
	calls   int
	err     string
}

// play takes a run to its end. Cut says before each step whether another driver takes
// over from the state.
func (s *script) play(t require.TestingT, cut func() bool, choose func(n int) int) outcome {
	out := outcome{effects: map[string]string{}}
	r := loop.NewRun(identity, wire.RunState{Plan: s.plan, Head: "m0", Mode: tool.Production})
	var flying, waiting []int
	for {
		if cut() && len(flying) == 0 {
			state := r.State()
			require.Empty(t, state.Plan.Tools)
			r, waiting = loop.NewRun(identity, state), nil
		}
		step := r.Next()
		for _, call := range step.Wait {
			require.NotNil(t, r.Call(call).Asks)
			require.NotContains(t, waiting, call, "an approval is asked for once")
			waiting = append(waiting, call)
		}
		switch {
		case step.End:
			out.head, out.turns, out.calls = r.Head(), r.Turns(), r.Calls()
			if r.Err() != nil {
				out.err = r.Err().Error()
			}
			return out
		case step.Ask:
			require.Empty(t, flying)
			require.Empty(t, waiting)
			turn := loop.Turn{Head: "last"}
			if n := r.Turns(); n < len(s.turns) {
				turn = s.turns[n]
			}
			r.Answered(&s.plan, turn)
			if turn.Head == "last" {
				cut = func() bool { return false } // A run that is over has no state to continue from.
			}
		case len(step.Start)+len(step.Wait) > 0:
			for _, start := range step.Start {
				in := r.Call(start.Call)
				require.True(t, in.Asks == nil || start.Refuse != nil, "nothing runs that is not approved")
				require.NotContains(t, out.effects, in.EffectID, "a call is started once")
				out.effects[in.EffectID] = in.CallID
				if start.Refuse != nil {
					out.effects[in.EffectID] += " " + start.Refuse.Error()
					cut = func() bool { return false } // As above.
					waiting = slices.DeleteFunc(waiting, func(w int) bool { return w == start.Call })
				} else if in.Refused != nil {
					out.effects[in.EffectID] += " " + in.Refused.Msg
				}
				flying = append(flying, start.Call)
			}
			s.requireAlone(t, r, flying)
		default:
			require.NotZero(t, len(flying)+len(waiting))
			i := choose(len(flying) + len(waiting))
			if i < len(flying) {
				r.Called(flying[i], 0, nil)
				flying = slices.Delete(flying, i, i+1)
				continue
			}
			i -= len(flying)
			r.Decided(waiting[i], decisionOn(r.Call(waiting[i]).Pin.Slug))
			waiting = slices.Delete(waiting, i, i+1)
		}
	}
}

// decisionOn returns why a call of a tool is rejected; nil where it is approved.
func decisionOn(slug string) *agent.Refusal {
	if slug == "askno" {
		return &agent.Refusal{Kind: tool.Denied, Status: tool.StatusRejected, Msg: "no"}
	}
	return nil
}

// requireAlone fails where a call that is not pure runs beside another, unless both are
// only settled.
func (s *script) requireAlone(t require.TestingT, r *loop.Run, flying []int) {
	if r.Err() != nil || len(flying) == 1 {
		return
	}
	for _, i := range flying {
		require.True(t, r.Call(i).Pin.Execution.Pure || r.Call(i).Refused != nil, "%s is beside others", r.Call(i).CallID)
		require.Equal(t, agent.ParallelSafe, s.plan.ToolMode)
	}
}

// Whatever the calls' ends come in, and wherever another driver takes over, a run makes
// the same calls with the same effects, and comes to the same end.
func TestDriversAgree(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		s := scripts().Draw(t, "script")
		whole := s.play(t, func() bool { return false }, func(int) int { return 0 })
		cut := s.play(t, func() bool { return rapid.Bool().Draw(t, "cut") },
			func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "ends") })
		require.Equal(t, whole, cut)
	})
}
