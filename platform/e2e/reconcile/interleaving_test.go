package reconcile_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Whatever the interleaving of workflows that end by themselves, are terminated
// or go on, and of reconcilers: what is alive is never touched, what ended by
// itself keeps its end, and what was terminated is closed once.
func TestInterleavings(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.workflowsThatEnd()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	const runs = 40
	var all []agent.Run
	var workflows []client.WorkflowRun
	for range runs { // Before anything passes: a run that is not started yet is closed, and begins again.
		run, w := s.started()
		all, workflows = append(all, run), append(workflows, w)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var passing sync.WaitGroup
	for range 2 {
		passing.Go(func() {
			r := s.reconciler()
			for ctx.Err() == nil {
				if _, err := r.Pass(ctx, reconcile.PassOptions{}); err != nil && ctx.Err() == nil &&
					tool.KindOf(err) != tool.Unavailable { // The machine is busy.
					t.Error(err)
				}
			}
		})
	}
	const (
		alive = iota
		ended
		terminated
	)
	fates := map[string]int{}
	var acting sync.WaitGroup
	for i, run := range all {
		w := workflows[i]
		fate := random.IntN(3)
		fates[run.ID] = fate
		delay := time.Duration(random.IntN(20)) * time.Millisecond
		acting.Go(func() {
			select {
			case <-time.After(delay): // An interleaving, nothing that is waited for.
			case <-ctx.Done():
			}
			switch fate {
			case ended:
				if err := s.temporal.SignalWorkflow(ctx, run.WorkflowID, "", "end", run.ID); err != nil {
					t.Error(err)
				}
				_ = w.Get(ctx, nil)
			case terminated:
				if err := s.temporal.TerminateWorkflow(ctx, run.WorkflowID, "", "by hand"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	acting.Wait()
	require.Eventually(t, func() bool {
		for _, run := range all {
			if fates[run.ID] != alive && !s.find(run.ID).Status.Final() {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond)
	stop()
	passing.Wait()
	for _, run := range all {
		switch found := s.find(run.ID); fates[run.ID] {
		case alive:
			require.Equal(t, agent.RunRunning, found.Status)
			require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.status(run.WorkflowID))
			s.terminate(run.WorkflowID, "the test is over")
		case ended:
			require.Equal(t, agent.RunCompleted, found.Status)
			data, ends := s.ending(run.ID, agent.EventRunCompleted)
			require.Equal(t, 1, ends)
			require.NotContains(t, data, "ended_by")
		case terminated:
			require.Equal(t, agent.RunCancelled, found.Status)
			_, ends := s.ending(run.ID, agent.EventRunCancelled)
			require.Equal(t, 1, ends)
		}
	}
}

// workflowsThatEnd runs workflows that record their end as runs do, when they
// get a signal.
func (s *site) workflowsThatEnd() {
	s.t.Helper()
	w := sdkworker.New(s.temporal, s.queue, sdkworker.Options{DisableRegistrationAliasing: true})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ map[string]string) error {
		var id string
		workflow.GetSignalChannel(ctx, "end").Receive(ctx, &id)
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Minute})
		return workflow.ExecuteLocalActivity(ctx, func(ctx context.Context, id, execution string) error {
			return s.Store.FinishRun(ctx, agent.RunEnd{
				Tenant: s.Tenant, RunID: id, Status: agent.RunCompleted, Execution: execution,
			})
		}, id, workflow.GetInfo(ctx).WorkflowExecution.RunID).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: wire.AgentRunWorkflow})
	require.NoError(s.t, w.Start())
	s.t.Cleanup(w.Stop)
}
