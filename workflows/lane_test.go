package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// lanes runs a run of one call and returns in which lane each attempt ran.
func lanes(
	t *testing.T, pin agent.Pin, attempt func(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error),
) (*stage, []string) {
	t.Helper()
	var took []string
	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pin}}
	s.turns = [][]agent.PreparedCall{{callOf("c1", pin.Slug)}}
	s.invoke = func(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		if activity.GetInfo(ctx).IsLocalActivity {
			took = append(took, "fast")
		} else {
			took = append(took, "visible")
		}
		return attempt(ctx, in)
	}
	s.startRun()
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())
	return s, took
}

func fastPin(x tool.Execution) agent.Pin {
	pin := pinOf("search", x)
	pin.Fast = true
	return pin
}

func TestFirstAttemptTakesThePinnedLane(t *testing.T) {
	t.Parallel()

	answer := func(_ context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) { return completed(in), nil }
	x := tool.Execution{Pure: true, TimeoutSeconds: 5}
	_, took := lanes(t, fastPin(x), answer)
	require.Equal(t, []string{"fast"}, took)
	// A plan of a run that began before there was a fast lane says nothing of it.
	_, took = lanes(t, pinOf("search", x), answer)
	require.Equal(t, []string{"visible"}, took)
}

// What fails in the fast lane and may be repeated goes on as a regular
// activity, which has the attempts that are left.
func TestFailureIsHandedOver(t *testing.T) {
	t.Parallel()

	pin := fastPin(tool.Execution{Pure: true, TimeoutSeconds: 5, MaxAttempts: 3})
	s, took := lanes(t, pin, func(_ context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		return wire.InvokeOutput{}, failure.Encode(&tool.Error{Kind: tool.Unavailable, Msg: "not now"})
	})
	require.Equal(t, []string{"fast", "visible", "visible"}, took, "three attempts in all")
	require.Equal(t, []int{0, 1, 1}, []int{s.invoked[0].Tried, s.invoked[1].Tried, s.invoked[2].Tried})
	require.Equal(t, s.invoked[0].EffectID, s.invoked[2].EffectID, "the lanes are attempts at one effect")
	require.Len(t, s.settled, 1)
}

func TestHandOverWaitsAsLongAsTheToolAsks(t *testing.T) {
	t.Parallel()

	pin := fastPin(tool.Execution{Idempotent: true, TimeoutSeconds: 5})
	var at []time.Time
	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pin}}
	s.turns = [][]agent.PreparedCall{{callOf("c1", pin.Slug)}}
	s.invoke = func(_ context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		if at = append(at, s.env.Now()); len(at) == 1 {
			return wire.InvokeOutput{}, failure.Encode(&tool.Error{
				Kind: tool.RateLimited, Msg: "slow down", RetryAfter: 40 * time.Second,
			})
		}
		return completed(in), nil
	}
	s.startRun()
	require.NoError(t, s.env.GetWorkflowError())
	require.Len(t, at, 2)
	require.GreaterOrEqual(t, at[1].Sub(at[0]), 40*time.Second)
}

// An end that is in the ledger is the end, and so is a failure that nothing
// could better.
func TestFinalFailuresAreNotHandedOver(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err     error
		settled int
	}{
		"Settled":      {settledError(tool.Unavailable), 0},
		"NotRetryable": {failure.Encode(&tool.Error{Kind: tool.Denied, Msg: "no"}), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			pin := fastPin(tool.Execution{Pure: true, TimeoutSeconds: 5})
			s, took := lanes(t, pin, func(context.Context, wire.InvokeInput) (wire.InvokeOutput, error) {
				return wire.InvokeOutput{}, c.err
			})
			require.Equal(t, []string{"fast"}, took)
			require.Len(t, s.settled, c.settled)
		})
	}
}

// Nobody knows how far an attempt came that panicked or ran out of time, so
// that another follows, even where the tool is to be tried once: the ledger
// keeps the effect single.
func TestAttemptsOfUnknownEndAreHandedOver(t *testing.T) {
	t.Parallel()

	pin := fastPin(tool.Execution{Pure: true, TimeoutSeconds: 1, MaxAttempts: 1})
	_, took := lanes(t, pin, func(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		if !activity.GetInfo(ctx).IsLocalActivity {
			return completed(in), nil
		}
		return wire.InvokeOutput{}, errors.New("not one of ours")
	})
	require.Equal(t, []string{"fast", "visible"}, took)
}

func TestCancelledInTheFastLane(t *testing.T) {
	t.Parallel()

	pin := fastPin(tool.Execution{Pure: true, TimeoutSeconds: 5})
	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pin}}
	s.turns = [][]agent.PreparedCall{{callOf("c1", pin.Slug)}}
	s.invoke = func(ctx context.Context, _ wire.InvokeInput) (wire.InvokeOutput, error) {
		s.env.CancelWorkflow()
		<-ctx.Done()
		return wire.InvokeOutput{}, ctx.Err()
	}
	s.startRun()
	requireDone(t, s.env)
	require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()), "%v", s.env.GetWorkflowError())
	require.Len(t, s.invoked, 1, "a cancelled call is not handed over")
	require.Len(t, s.settled, 1)
	require.Equal(t, tool.StatusCancelled, s.settled[0].Status)
}
