package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// A long poll for the end of a running workflow returns empty after
// history.longPollExpirationInterval. A poll that missed the last notification
// of the server lasts as long: 20 s by default, which is longer than the
// timeout here.
func TestLongPollForTheEndOfAWorkflowExpiresSoon(t *testing.T) {
	t.Parallel()
	server, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{Port: embedded.AnyPort, Headless: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
	c := dial(t, server.Address(), server.Namespace())
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: uuid.NewString(), TaskQueue: "no-worker"},
		"never")
	require.NoError(t, err)

	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request := &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace:              server.Namespace(),
		Execution:              &commonpb.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()},
		WaitNewEvent:           true,
		HistoryEventFilterType: enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
	}
	polled, err := c.WorkflowService().GetWorkflowExecutionHistory(ctx, request)
	took := time.Since(began)
	require.NoError(t, err)
	require.Empty(t, polled.GetHistory().GetEvents(), "the workflow has not ended")
	require.NotEmpty(t, polled.GetNextPageToken(), "the client polls again")
	require.GreaterOrEqual(t, took, 900*time.Millisecond, "the poll waits")
	require.Less(t, took, 10*time.Second)
}
