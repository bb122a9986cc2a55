package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// A run that is reset, while an agent below it works or after it answered, finds
// that agent's run again: it is not begun a second time.
func TestResetFindsTheRunBelow(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	entered, release := make(chan struct{}, 1), make(chan struct{})
	s.start(worker.Config{Models: map[string]agent.Model{"test": held(entered, release)}})
	s.agentOf("quiet")
	s.publish("askQuiet", delegation("quiet", tool.Execution{}), tool.Policy{})
	run, w := s.run(s.agentOf("top", "askQuiet"), "go")
	<-entered
	again := s.reset(w)
	close(release)
	_, err := s.wait(again)
	require.NoError(t, err)
	child, ok := s.below(run.ID)
	require.True(t, ok)
	require.True(t, child.Status.Final(), child.Status)
	calls := s.invocations(run.ID)
	require.Len(t, calls, 1)
	require.Equal(t, child.ID, compactOf(t, calls[0]).RunID)

	_, err = s.wait(s.reset(again))
	require.NoError(t, err)
	once, _ := s.below(run.ID)
	require.Equal(t, child, once, "what was answered is not asked again")
	require.Equal(t, calls, s.invocations(run.ID))
	requireReplays(t, historyOf(t.Context(), t, s.temporal, again.GetID(), again.GetRunID()), "")
}

// A run that is reset while an agent below it works is cancelled with that
// agent, which is no child of the execution that waits for it now.
func TestResetRunIsCancelledWithTheRunBelow(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	entered := make(chan struct{}, 1)
	s.start(worker.Config{Models: map[string]agent.Model{"test": held(entered, nil)}})
	s.agentOf("quiet")
	s.publish("askQuiet", delegation("quiet", tool.Execution{}), tool.Policy{})
	run, w := s.run(s.agentOf("top", "askQuiet"), "go")
	<-entered
	again := s.reset(w)
	require.Eventually(t, func() bool { // It waits, or has the run below begin again.
		described, err := s.temporal.DescribeWorkflowExecution(t.Context(), again.GetID(), again.GetRunID())
		if err != nil {
			return false
		}
		for _, a := range described.GetPendingActivities() {
			if a.GetActivityType().GetName() == wire.SettleActivity {
				return true
			}
		}
		return len(described.GetPendingChildren()) > 0
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, s.temporal.CancelWorkflow(t.Context(), again.GetID(), again.GetRunID()))
	_, err := s.wait(again)
	require.True(t, temporal.IsCanceledError(err), "%v", err)
	child, ok := s.below(run.ID)
	require.True(t, ok)
	require.Equal(t, agent.RunCancelled, child.Status)
	calls := s.invocations(run.ID)
	require.Len(t, calls, 1)
	require.True(t, calls[0].Status.Final(), calls[0].Status)
	h := historyOf(t.Context(), t, s.temporal, again.GetID(), again.GetRunID())
	requireReplays(t, h, "agent_call_inline_reset_cancelled")
}
