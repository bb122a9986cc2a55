package embedded_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// A thousand workflows are listed, in one page or in many at once, without a
// request that is refused for being one too many.
func TestTemporalListsAThousandWorkflows(t *testing.T) {
	t.Parallel()
	const workflows, page = 1000, 20
	server, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{Port: embedded.AnyPort, Headless: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
	c := dial(t, server.Address(), embedded.DefaultNamespace)
	starting, ctx := errgroup.WithContext(t.Context())
	starting.SetLimit(32)
	for i := range workflows {
		starting.Go(func() error {
			_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: fmt.Sprint("listed-", i), TaskQueue: "no-worker"},
				"greet")
			return err
		})
	}
	require.NoError(t, starting.Wait())

	conn, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	bare := workflowservice.NewWorkflowServiceClient(conn) // It repeats nothing that was refused.
	list := func(size int32, token []byte) (*workflowservice.ListWorkflowExecutionsResponse, error) {
		return bare.ListWorkflowExecutions(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: embedded.DefaultNamespace, PageSize: size, NextPageToken: token,
		})
	}
	require.Eventually(t, func() bool { // What was started is listed a moment later.
		whole, err := list(workflows, nil)
		return err == nil && len(whole.GetExecutions()) == workflows
	}, 2*time.Minute, 200*time.Millisecond)

	seen := map[string]bool{}
	var token []byte
	for pages := 0; pages == 0 || len(token) > 0; pages++ {
		got, err := list(page, token)
		require.NoError(t, err, "page %d", pages)
		for _, e := range got.GetExecutions() {
			seen[e.GetExecution().GetWorkflowId()] = true
		}
		token = got.GetNextPageToken()
	}
	require.Len(t, seen, workflows)
	asking := errgroup.Group{} // As the API, the UI and a few people do at once.
	for range 200 {
		asking.Go(func() error {
			_, err := list(page, nil)
			return err
		})
	}
	require.NoError(t, asking.Wait())
}
