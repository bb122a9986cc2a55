package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/tool"
)

// A failed attempt of a model is reported where a run is followed and where it
// is shown, with its cause and when the next one is due; so is why calls
// waited.
func TestWaitsAndRetriesAreShown(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 5, 1, 12, 0, 4, 0, time.UTC)
	data, err := json.Marshal(agent.ModelRetry{
		Turn: 1, Attempt: 2, MaxAttempts: 10, Kind: tool.Unavailable, Cause: "it answered 502\x1b[2J", RetryAt: at,
	})
	require.NoError(t, err)
	var out strings.Builder
	view := &liveView{out: &out}
	require.NoError(t, view.show(tool.Event{Type: agent.EventModelRetrying, Data: data}))
	require.Equal(
		t,
		"  the model did not answer: attempt 2 of 10 failed: unavailable: it answered 502[2J; the next is due at "+
			terminal.Stamp(at)+"\n",
		out.String(),
	)
	require.Error(t, view.show(tool.Event{Type: agent.EventModelRetrying, Data: json.RawMessage(`[]`)}))

	out.Reset()
	require.NoError(t, writeRun(&out, v1.Run{
		ID: "r1", Status: agent.RunRunning,
		Waits: []v1.CallWait{
			{Turn: 2, Calls: 11, MostMS: 5200, Detail: "concurrency group \"default\" runs 1 at a time"},
		},
		ModelRetries: []v1.ModelRetry{
			{Turn: 1, Attempt: 2, MaxAttempts: 10, Kind: tool.Unavailable, Cause: "it answered 502", RetryAt: at},
		},
	}))
	shown := out.String()
	for _, text := range []string{
		"TURN  WAITED  LONGEST_MS  WHY", "2     11      5200        concurrency group \"default\" runs 1 at a time",
		"TURN  ATTEMPT", "2 of 10", terminal.Stamp(at), "unavailable: it answered 502",
	} {
		require.Contains(t, shown, text)
	}
	out.Reset()
	require.NoError(t, writeRun(&out, v1.Run{ID: "r1"}))
	require.NotContains(t, out.String(), "TURN  WAITED")
}
