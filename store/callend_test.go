package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// The end of a call is that of its run; before it there is only the status, and another
// tenant finds neither.
func TestFindCallEnd(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	id := storetest.NewID(t)
	run, err := d.Store.BeginRun(t.Context(), agent.Run{
		ID: id, Tenant: tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w", FirstRunID: "f",
		Status: agent.RunRunning,
	})
	require.NoError(t, err)
	end, err := d.Store.FindCallEnd(t.Context(), tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.CallEnd{Status: agent.RunRunning}, end)

	require.NoError(t, d.Store.FinishRun(t.Context(), agent.RunEnd{
		Tenant: tenant, RunID: run.ID, Status: agent.RunFailed, Kind: tool.Denied, Msg: "no", Execution: "e",
	}))
	end, err = d.Store.FindCallEnd(t.Context(), tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.CallEnd{Status: agent.RunFailed, EndedBy: "e", Kind: tool.Denied, Msg: "no"}, end)

	for _, id := range []string{run.ID, "none"} {
		_, err = d.Store.FindCallEnd(t.Context(), d.Tenant(t), id)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	}
}
