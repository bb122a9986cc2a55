package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// An attempt that is repeated says everything again: what came before is set
// apart, and what still comes of it is left out. Nothing that is said does
// anything to the terminal.
func TestLiveView(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	view := &liveView{out: &out, call: func(id string) (v1.Invocation, error) {
		return v1.Invocation{ID: id, Tool: "search", Version: "1.0.0", Status: tool.StatusCompleted}, nil
	}}
	say := func(turn, attempt int, text string) tool.Event {
		data, err := json.Marshal(agent.Output{Turn: turn, Attempt: attempt, Text: text})
		require.NoError(t, err)
		return tool.Event{Type: agent.EventOutputAppended, Data: data}
	}
	for _, e := range []tool.Event{
		{Type: agent.EventRunStarted},
		say(1, 1, "Let "), say(1, 1, "me"),
		say(1, 2, "Let me\nlook"), say(1, 1, " see"), say(1, 2, "\x1b[2J."),
		{Type: agent.EventTurn},
		{Type: tool.EventNeedsApproval, InvocationID: "i", Data: json.RawMessage(`{"tool":"search","approval_id":"i"}`)},
		{Type: tool.EventStarted, InvocationID: "i"},
		{Type: tool.EventCompleted, InvocationID: "i"},
		say(2, 1, "Found."),
	} {
		require.NoError(t, view.show(e))
	}
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 8)
	require.Equal(t, []string{"Let me", "(the model is asked again)", "Let me", "look[2J."}, lines[:4])
	require.Contains(t, lines[4], "search waits for an approval")
	require.Contains(t, lines[5], "toolcrib approvals approve i")
	require.Contains(t, lines[6], "search@1.0.0")
	require.Equal(t, "Found.", lines[7])
	require.Equal(t, "Found.", view.said)
	require.Error(t, view.show(tool.Event{Type: agent.EventOutputAppended, Data: json.RawMessage(`[]`)}))
}
