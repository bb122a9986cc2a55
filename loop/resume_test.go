package loop_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

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
			slugs := rapid.SliceOfN(rapid.SampledFrom([]string{"read", "read3", "read2", "write", "x"}), 1, 6).Draw(t, "slugs")
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
	var flying []int
	for {
		if cut() && len(flying) == 0 {
			state := r.State()
			require.Empty(t, state.Plan.Tools)
			r = loop.NewRun(identity, state)
		}
		step := r.Next()
		switch {
		case step.End:
			out.head, out.turns, out.calls = r.Head(), r.Turns(), r.Calls()
			if r.Err() != nil {
				out.err = r.Err().Error()
			}
			return out
		case step.Ask:
			require.Empty(t, flying)
			turn := loop.Turn{Head: "last"}
			if n := r.Turns(); n < len(s.turns) {
				turn = s.turns[n]
			}
			r.Answered(&s.plan, turn)
			if turn.Head == "last" {
				cut = func() bool { return false } // A run that is over has no state to continue from.
			}
		case len(step.Start) > 0:
			for _, start := range step.Start {
				in := r.Call(start.Call)
				require.NotContains(t, out.effects, in.EffectID, "a call is started once")
				out.effects[in.EffectID] = in.CallID
				if start.Refuse != nil {
					out.effects[in.EffectID] += " " + start.Refuse.Error()
					cut = func() bool { return false } // As above.
				}
				flying = append(flying, start.Call)
			}
			s.requireAlone(t, r, flying)
		default:
			require.NotEmpty(t, flying)
			i := choose(len(flying))
			r.Called(flying[i], 0, nil)
			flying = append(flying[:i], flying[i+1:]...)
		}
	}
}

// requireAlone fails where a call that is not pure runs beside another, unless both are
// only settled.
func (s *script) requireAlone(t require.TestingT, r *loop.Run, flying []int) {
	if r.Err() != nil || len(flying) == 1 {
		return
	}
	for _, i := range flying {
		require.True(t, r.Call(i).Pin.Execution.Pure, "%s is beside others", r.Call(i).CallID)
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
