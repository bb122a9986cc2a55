package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// runCases are foreign cases of runs and their turns.
var runCases = map[string]func(t *testing.T, f foreign){
	"CreateRun": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.CreateRun(t.Context(), agent.Run{Tenant: f.stranger, Kind: agent.AgentRun, AgentID: f.Agent.ID, WorkflowID: "w"}, agent.Message{})
		RequireKind(t, tool.NotFound, err)
	},
	"BeginRun": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.BeginRun(t.Context(), agent.Run{ID: f.Run.ID, Tenant: f.stranger, Kind: agent.AgentRun})
		RequireKind(t, tool.NotFound, err)
	},
	"FindRun": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindRun(t.Context(), f.stranger, f.Run.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListRuns": func(t *testing.T, f foreign) {
		t.Helper()
		runs, err := f.Store.ListRuns(t.Context(), f.stranger, store.RunQuery{AgentID: f.Agent.ID})
		require.NoError(t, err)
		require.Empty(t, runs)
	},
	"Ancestors": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.Ancestors(t.Context(), f.stranger, f.Run.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"OpenTurn": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.OpenTurn(t.Context(), f.stranger, f.Run.ID, f.Turn.Message.ID, f.Turn.Key)
		RequireKind(t, tool.NotFound, err)
	},
	"FindHead": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindHead(t.Context(), f.stranger, f.Run.ID, f.Run.HeadMessageID)
		RequireKind(t, tool.NotFound, err)
	},
	"SaveTurn": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.SaveTurn(t.Context(), agent.Turn{Tenant: f.stranger, RunID: f.Run.ID, Key: "k"})
		RequireKind(t, tool.NotFound, err)
	},
	"FinishRun": func(t *testing.T, f foreign) {
		t.Helper()
		err := f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.stranger, RunID: f.Run.ID, Status: agent.RunFailed})
		RequireKind(t, tool.NotFound, err)
	},
}
