package e2e_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/workflows"
	"github.com/toolcrib/toolcrib/workflows/workflowstest"
)

// record writes the histories of these tests to workflows/testdata, where the
// replay test keeps them. Record a new shape under a new name: the old ones
// are what running workflows look like.
var record = flag.Bool("record", false, "write histories to workflows/testdata")

// replays is how often a history is replayed: a map's order hides a fault more
// often than it shows it.
const replays = 25

// historyOf fetches a workflow's whole history.
func historyOf(ctx context.Context, t *testing.T, c client.Client, workflowID, runID string) *historypb.History {
	t.Helper()
	h := &historypb.History{}
	it := c.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, e)
	}
	return h
}

// requireReplays replays a history many times over, and keeps it when asked.
func requireReplays(t *testing.T, h *historypb.History, name string) {
	t.Helper()
	keys, err := payload.FromEnvironment(os.Getenv)
	require.NoError(t, err)
	replayer := newReplayer(t, keys)
	for range replays {
		require.NoError(t, replayer.ReplayWorkflowHistory(nil, h))
	}
	if *record && name != "" {
		path := filepath.Join("..", "..", "workflows", "testdata", name+".json")
		require.NoError(t, os.WriteFile(path, historyJSON(t, h), 0o644))
	}
}

// newReplayer returns a replayer of encrypted histories.
func newReplayer(t *testing.T, keys *payload.Keyring) sdkworker.WorkflowReplayer {
	t.Helper()
	data, failures := payload.Wrap(nil, nil, keys)
	replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{
		DataConverter: data, FailureConverter: failures,
	})
	require.NoError(t, err)
	workflows.Register(replayer)
	workflowstest.Register(replayer)
	return replayer
}

func historyJSON(t *testing.T, h *historypb.History) []byte {
	t.Helper()
	raw, err := temporalproto.CustomJSONMarshalOptions{Indent: "  "}.Marshal(h)
	require.NoError(t, err)
	return raw
}

// historyBytes is the size of a history as the server counts it, more or less.
func historyBytes(h *historypb.History) int {
	n := 0
	for _, e := range h.GetEvents() {
		n += e.Size()
	}
	return n
}
