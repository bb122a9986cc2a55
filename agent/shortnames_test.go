package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
)

func TestNamesOfCallsAreBounded(t *testing.T) {
	t.Parallel()

	short := &agent.ModelResponse{Calls: []agent.Call{{ID: strings.Repeat("i", 256), Name: strings.Repeat("n", 256)}}}
	require.Same(t, short, short.WithShortNames())

	long := strings.Repeat("é", 1<<20)
	resp := &agent.ModelResponse{Text: "Both.", Calls: []agent.Call{
		{ID: long, Name: "searchOrders"}, {ID: long, Name: "ping"}, {ID: long + "x", Name: long}, {ID: "c4", Name: "ping"},
	}}
	got := resp.WithShortNames()
	require.Equal(t, "Both.", got.Text)
	for _, c := range got.Calls {
		require.LessOrEqual(t, len(c.ID), 256)
		require.LessOrEqual(t, len(c.Name), 256)
	}
	require.Equal(t, got.Calls[0].ID, got.Calls[1].ID, "equal ids stay equal")
	require.NotEqual(t, got.Calls[0].ID, got.Calls[2].ID)
	require.Equal(t, agent.Call{ID: "c4", Name: "ping"}, got.Calls[3])
	require.Equal(t, long, resp.Calls[0].ID, "the model's answer is not changed")
}
