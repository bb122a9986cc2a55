package embedded_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// A tenant whose workflows come after a hundred of another one's gets its share
// of the worker, as workflows and as the activities that inherit the key.
func TestBacklogIsDispatchedTenantByTenant(t *testing.T) {
	t.Parallel()
	server, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{Port: embedded.AnyPort, Headless: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
	c := dial(t, server.Address(), server.Namespace())
	const noisy, quiet = 100, 3
	queue := uuid.NewString()
	start := func(tenant string, n int) (started []client.WorkflowRun) {
		for range n {
			run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
				TaskQueue: queue, Priority: temporal.Priority{FairnessKey: tenant},
			}, "fair", tenant)
			require.NoError(t, err)
			started = append(started, run)
		}
		return started
	}
	all := append(start("noisy", noisy), start("quiet", quiet)...)

	var mu sync.Mutex
	var order []string
	w := sdkworker.New(c, queue, sdkworker.Options{
		MaxConcurrentActivityExecutionSize: 1, MaxConcurrentWorkflowTaskExecutionSize: 2,
		MaxConcurrentWorkflowTaskPollers: 2, MaxConcurrentActivityTaskPollers: 1, DisableEagerActivities: true,
	})
	w.RegisterActivityWithOptions(func(_ context.Context, tenant string) error {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, tenant)
		return nil
	}, activity.RegisterOptions{Name: "note"})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, tenant string) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		return workflow.ExecuteActivity(ctx, "note", tenant).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "fair"})
	require.NoError(t, w.Start())
	defer w.Stop()
	for _, run := range all {
		require.NoError(t, run.Get(t.Context(), nil))
	}
	last := 0
	for i, tenant := range order {
		if tenant == "quiet" {
			last = i
		}
	}
	require.Less(t, last, noisy/2, fmt.Sprint("in the order of their starts, quiet ones are the last: ", order))
}
