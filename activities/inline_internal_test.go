package activities

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

func inlineActivities(t *testing.T, c Config) *Activities {
	t.Helper()
	a := &Activities{
		Config:      c,
		answerTimes: cache.New[string, time.Duration](cache.Options{Entries: 10}),
		definitions: cache.New[definitionKey, agent.Definition](cache.Options{Entries: 10}),
	}
	a.inline.limit = DefaultInlineRuns
	return a
}

// A run that an inline attempt began before, and did not end, is left to the regular
// activity: its attempts are counted, so a run that kills its process does not do so forever.
func TestInlineAttemptIsNotRepeated(t *testing.T) {
	t.Parallel()

	run := agent.Run{ID: "r", Status: agent.RunRunning, Plan: &agent.Plan{}}
	a := inlineActivities(t, Config{Runs: rows{run: run}})
	out := advanceLocally(t, a)
	require.Equal(t, wire.AdvanceOutput{Handover: wire.HandoverSlice}, out)
}

// More runs than a process may advance inline are left to regular activities, which queue.
func TestInlineRunsAreLimited(t *testing.T) {
	t.Parallel()

	a := inlineActivities(t, Config{Runs: &unreadable{}}) // Reading it would end in a failure.
	a.LimitInline(2)
	a.LimitInline(1000)
	first, release, ok := a.inline.take(t.Context())
	require.True(t, ok)
	second, _, ok := a.inline.take(t.Context())
	require.True(t, ok)
	_, _, ok = a.inline.take(t.Context())
	require.False(t, ok, "another worker does not raise the limit")
	release()
	require.Error(t, first.Err())
	_, _, ok = a.inline.take(t.Context())
	require.True(t, ok, "one has ended")
	a.InterruptInline()
	require.ErrorIs(t, context.Cause(second), errStopped)
	require.False(t, cancelled(second), "another attempt continues the run")
	a.LimitInline(0)
	require.Equal(t, wire.AdvanceOutput{Handover: wire.HandoverSlice}, advanceLocally(t, a))
}

// advanceLocally runs an Advance as a local activity.
func advanceLocally(t *testing.T, a *Activities) wire.AdvanceOutput {
	t.Helper()
	var out wire.AdvanceOutput
	locally(t, a.Advance, wire.AdvanceInput{AgentRunInput: wire.AgentRunInput{RunID: "r"}}, &out)
	return out
}

// locally runs a function as a local activity.
func locally(t *testing.T, fn, in, out any) {
	t.Helper()
	env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
	env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: "local"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		return workflow.ExecuteLocalActivity(ctx, "local", in).Get(ctx, out)
	})
	require.True(t, env.IsWorkflowCompleted())
	require.NoError(t, env.GetWorkflowError())
}

// An execution whose task was lost after it had recorded the end of its run returns that end.
func TestInlineEndIsReturned(t *testing.T) {
	t.Parallel()

	run := agent.Run{
		ID: "r", Status: agent.RunCompleted, Plan: &agent.Plan{}, Output: "done", HeadMessageID: "m", Turns: 3, Calls: 2,
		EndedBy: "default-test-run-id",
	}
	for _, in := range []wire.AdvanceInput{
		{AgentRunInput: wire.AgentRunInput{RunID: "r"}},
		{AgentRunInput: wire.AgentRunInput{RunID: "r"}, Stop: &wire.Failure{Kind: tool.Cancelled}},
	} {
		var out wire.AdvanceOutput
		locally(t, inlineActivities(t, Config{Runs: rows{run: run}}).Advance, in, &out)
		require.Equal(t, wire.AdvanceOutput{Execution: "default-test-run-id", Ended: &wire.AgentRunOutput{
			RunID: "r", Status: agent.RunCompleted, Head: "m", Turns: 3, Calls: 2, Answer: "done",
		}}, out)
	}
	run.Status, run.ErrorKind, run.Error = agent.RunFailed, tool.Invalid, "no"
	var out wire.AdvanceOutput
	locally(t, inlineActivities(t, Config{Runs: rows{run: run}}).Advance, wire.AdvanceInput{
		AgentRunInput: wire.AgentRunInput{RunID: "r"},
	}, &out)
	require.Equal(t, &wire.Failure{Kind: tool.Invalid, Msg: "no"}, out.Failure)
}

// What an inline Advance begins no further step for: a slice that is used up, and a model
// that takes its time.
func TestInlineAdvanceRests(t *testing.T) {
	t.Parallel()

	a := inlineActivities(t, Config{})
	plan := agent.Plan{AgentID: "a", AgentDigest: "d"}
	a.definitions.Set(definitionKey{"t", "a", "d"}, agent.Definition{Model: "p/slow"})
	var seen []wire.Handover
	look := func(ctx context.Context, _ string) (string, error) {
		d := a.newDriver(ctx, wire.AdvanceInput{AgentRunInput: wire.AgentRunInput{
			Principal: tool.Principal{Tenant: "t"},
		}})
		d.machine = loop.NewRun(loop.Identity{}, wire.RunState{Plan: plan})
		seen = append(seen, d.pause(ctx))
		a.answeredIn("p/slow", 2*slowModel)
		seen = append(seen, d.pause(ctx))
		for range 10 {
			a.answeredIn("p/slow", slowModel/10)
		}
		seen = append(seen, d.pause(ctx))
		d.began = d.began.Add(-inlineSlice - time.Second)
		seen = append(seen, d.pause(ctx))
		return "", nil
	}
	locally(t, look, "", nil)
	require.Equal(t, []wire.Handover{"", wire.HandoverSlice, "", wire.HandoverSlice}, seen)
}

// A process that slept for about as long as Temporal gives a workflow task goes no further
// with a run that it advances inline: another process may have the task.
func TestInlineAdvanceThatSleptStops(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pulse{timeout: beatTimeout(activity.Info{IsLocalActivity: true}), beat: time.Now()}
		time.Sleep(inlineFreeze - time.Second)
		require.NoError(t, p.alive())
		p.beats()
		time.Sleep(inlineFreeze + time.Second)
		p.beats()
		require.ErrorIs(t, p.alive(), errSuperseded)
	})
}
