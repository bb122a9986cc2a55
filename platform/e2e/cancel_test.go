package e2e_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// blocked is a site whose agent calls a tool that blocks until it is cancelled, on a
// worker whose heartbeats are eight seconds apart.
type blocked struct {
	*site
	agent       agent.Agent
	began, gone chan time.Time
}

func newBlocked(t *testing.T) *blocked {
	t.Helper()
	b := &blocked{site: newSite(t), began: make(chan time.Time, 1), gone: make(chan time.Time, 1)}
	functions := function.NewRegistry()
	block := func(ctx context.Context, _ noteIn) (noteOut, error) {
		b.began <- time.Now()
		select {
		case <-ctx.Done():
			b.gone <- time.Now()
			return noteOut{}, ctx.Err()
		case <-time.After(30 * time.Second):
			return noteOut{}, nil
		}
	}
	require.NoError(t, function.Define(functions, "block", "Blocks.", block))
	b.publish("block", functionTool("block", tool.Execution{TimeoutSeconds: 60}), tool.Policy{})
	b.agent = b.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "block")})
	plugin, err := worker.New(t.Context(), worker.Config{
		Store: b.Store, Functions: functions, Models: map[string]agent.Model{
			"test": play([]agent.Call{call("c0", "block", noteIn{})}),
		},
	})
	require.NoError(t, err)
	c, err := dial(server.Address(), plugin)
	require.NoError(t, err)
	w := sdkworker.New(c, b.queue, sdkworker.Options{
		DisableRegistrationAliasing: true, MaxHeartbeatThrottleInterval: time.Minute, // Then 80 % of the timeout of 10 s.
	})
	require.NoError(t, w.Start())
	t.Cleanup(func() {
		w.Stop()
		c.Close()
		require.NoError(t, plugin.Close())
	})
	return b
}

// A run in place whose tool blocks is cancelled long before its next heartbeat, and ends
// as any other that is cancelled.
func TestCancelReachesARunInPlace(t *testing.T) {
	t.Parallel()

	b := newBlocked(t)
	service := b.service(b.temporal)
	run, w := b.run(b.agent, "go")
	<-b.began
	time.Sleep(2500 * time.Millisecond) // The first heartbeat is sent at two seconds; the next one at ten.
	asked := time.Now()
	_, err := service.Cancel(t.Context(), b.principal.Tenant, run.ID)
	require.NoError(t, err)
	_, err = b.wait(w)
	require.Less(t, time.Since(asked), 5*time.Second)
	require.True(t, temporal.IsCanceledError(err), "%v", err)
	ended, err := b.FindRun(t.Context(), b.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCancelled, ended.Status)
	require.Equal(t, 1, ended.Turns)
	calls := b.invocations(run.ID)
	require.Len(t, calls, 1)
	require.Equal(t, tool.StatusCancelled, calls[0].Status)
	requireReplays(t, historyOf(t.Context(), t, b.temporal, w.GetID(), w.GetRunID()), "")
	<-b.gone

	var took []time.Duration
	for range 20 {
		run, w := b.run(b.agent, "go")
		<-b.began
		asked := time.Now()
		_, err := service.Cancel(t.Context(), b.principal.Tenant, run.ID)
		require.NoError(t, err)
		took = append(took, (<-b.gone).Sub(asked))
		_, err = b.wait(w)
		require.True(t, temporal.IsCanceledError(err), "%v", err)
	}
	slices.Sort(took)
	t.Logf("from the request to the tool: p50 %s, p95 %s, max %s", took[9], took[18], took[19])
}

// So are calls by themselves, also those in a composition, and who waits for one is told.
func TestCancelReachesACall(t *testing.T) {
	t.Parallel()

	b := newBlocked(t)
	service := b.service(b.temporal)
	b.publish("steps", composition(`{"steps":[{"id":"a","tool":"block","arguments":{}}]}`, tool.Execution{}), tool.Policy{})
	for _, name := range []string{"block", "steps"} {
		c, err := service.Call(t.Context(), runs.NewCall{
			Principal: b.principal, Node: wire.Node{Tool: refs(t, name)[0], Arguments: json.RawMessage(`{"name":"x"}`)},
		})
		require.NoError(t, err)
		<-b.began
		time.Sleep(2500 * time.Millisecond) // As above.
		asked := time.Now()
		_, err = service.Cancel(t.Context(), b.principal.Tenant, c.RunID)
		require.NoError(t, err)
		_, ended, err := service.Wait(t.Context(), c, time.Minute, nil)
		require.True(t, ended)
		require.Equal(t, tool.Cancelled, tool.KindOf(err))
		require.Less(t, time.Since(asked), 5*time.Second, name)
		for _, i := range b.invocations(c.RunID) {
			require.Equal(t, tool.StatusCancelled, i.Status)
		}
		id := c.WorkflowID
		_, err = b.wait(b.temporal.GetWorkflow(t.Context(), id, ""))
		require.True(t, temporal.IsCanceledError(err), "%v", err)
		<-b.gone
	}
}

// The request to cancel an execution does not cancel the one after a reset.
func TestCancelDoesNotOutliveAReset(t *testing.T) {
	t.Parallel()

	b := newBlocked(t)
	service := b.service(b.temporal)
	run, w := b.run(b.agent, "go")
	<-b.began
	_, err := service.Cancel(t.Context(), b.principal.Tenant, run.ID)
	require.NoError(t, err)
	_, err = b.wait(w)
	require.True(t, temporal.IsCanceledError(err), "%v", err)
	before, err := b.FindRun(t.Context(), b.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, w.GetRunID(), before.CancelExecution)

	reset, err := b.temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         embedded.DefaultNamespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: w.GetID(), RunId: w.GetRunID()},
		RequestId:         newID(t), Reason: "test", WorkflowTaskFinishEventId: b.firstTask(w.GetID(), w.GetRunID()),
	})
	require.NoError(t, err)
	out, err := b.wait(b.temporal.GetWorkflow(t.Context(), w.GetID(), reset.GetRunId()))
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	after, err := b.FindRun(t.Context(), b.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, after.Status)
	require.Equal(t, before.CancelExecution, after.CancelExecution)
}
