package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// The first steps of a run are taken in the workflow's own task, and only they. What fails
// there and may be repeated, or is left, is a regular activity's.
func TestRunBeginsInline(t *testing.T) {
	t.Parallel()

	busy := &tool.Error{Kind: tool.Unavailable, Msg: "the database is away"}
	for name, tt := range map[string]struct {
		inline bool
		first  func() (wire.AdvanceOutput, error)
		local  []bool // Of each Advance: whether it was a part of the task.
		failed bool
	}{
		"Whole":    {inline: true, local: []bool{true}},
		"Not":      {local: []bool{false}},
		"Left":     {inline: true, first: left, local: []bool{true, false}},
		"Away":     {inline: true, first: fails(busy), local: []bool{true, false}},
		"Panicked": {inline: true, first: func() (wire.AdvanceOutput, error) { panic("x") }, local: []bool{true, false}},
		"Refused": {
			inline: true, first: fails(&tool.Error{Kind: tool.Denied, Msg: "no"}), local: []bool{true, false}, failed: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			var local []bool
			s.env.RegisterActivityWithOptions(func(ctx context.Context, in wire.AdvanceInput) (wire.AdvanceOutput, error) {
				local = append(local, activity.GetInfo(ctx).IsLocalActivity)
				if len(local) == 1 && tt.first != nil {
					return tt.first()
				}
				return s.advance(ctx, in)
			}, activity.RegisterOptions{Name: wire.AdvanceActivity, DisableAlreadyRegisteredCheck: true})
			s.env.ExecuteWorkflow(wire.AgentRunWorkflow, wire.AgentRunInput{
				Principal: principal, RunID: "r1", Head: "m0", Inline: tt.inline,
			})
			require.True(t, s.env.IsWorkflowCompleted())
			require.Equal(t, tt.local, local)
			if tt.failed {
				require.Error(t, s.env.GetWorkflowError())
				return
			}
			var out wire.AgentRunOutput
			require.NoError(t, s.env.GetWorkflowResult(&out))
			require.Equal(t, agent.RunCompleted, out.Status)
		})
	}
}

func left() (wire.AdvanceOutput, error) { return wire.AdvanceOutput{Handover: wire.HandoverSlice}, nil }

func fails(err error) func() (wire.AdvanceOutput, error) {
	return func() (wire.AdvanceOutput, error) { return wire.AdvanceOutput{}, failure.Encode(err) }
}

// A run that Temporal is asked to cancel while its first steps are taken has them cancelled in
// its process, and ends as cancelled.
func TestRunCancelledInline(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	asked := 0
	s.env.RegisterActivityWithOptions(func(_ context.Context, in wire.AgentRunInput) error {
		require.Equal(t, wire.AgentRunInput{Principal: principal, RunID: "r1"}, in)
		asked++
		return nil
	}, activity.RegisterOptions{Name: wire.CancelInlineActivity})
	s.env.RegisterActivityWithOptions(func(ctx context.Context, in wire.AdvanceInput) (wire.AdvanceOutput, error) {
		if activity.GetInfo(ctx).IsLocalActivity {
			s.env.CancelWorkflow()
			return left()
		}
		return s.advance(ctx, in)
	}, activity.RegisterOptions{Name: wire.AdvanceActivity, DisableAlreadyRegisteredCheck: true})
	s.env.ExecuteWorkflow(wire.AgentRunWorkflow, wire.AgentRunInput{
		Principal: principal, RunID: "r1", Head: "m0", Inline: true,
	})
	require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()), "%v", s.env.GetWorkflowError())
	require.Equal(t, agent.RunCancelled, s.finished[0].Status)
	require.Equal(t, 1, asked)
}
