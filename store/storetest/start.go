package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Acceptance describes a call of the fixture's tenant, to be recorded with the start of
// its workflow. The start is due at once.
func (f *Fixture) Acceptance(t *testing.T) agent.Acceptance {
	t.Helper()
	id := NewID(t)
	return agent.Acceptance{
		Run: agent.Run{
			ID: id, Tenant: f.Tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w/" + id,
			Principal: tool.Principal{Tenant: f.Tenant, Subject: "test"},
		},
		Start: agent.Start{
			Tenant: f.Tenant, WorkflowID: "w/" + id, RunID: id, Workflow: "toolcrib.ToolCall", TaskQueue: "q", Summary: "call",
			Memo: map[string]string{"toolcrib_run": id}, Input: []byte(`{"a":"\u0000"}`),
		},
	}
}

// Start records a pending call with the start of its workflow.
func (f *Fixture) Start(t *testing.T) agent.Start {
	t.Helper()
	a := f.Acceptance(t)
	_, err := f.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err)
	return a.Start
}

func (f foreign) findStart(t *testing.T, start agent.Start) agent.Start {
	t.Helper()
	found, err := f.Store.FindStart(t.Context(), agent.StartKey{Tenant: start.Tenant, WorkflowID: start.WorkflowID})
	require.NoError(t, err)
	return found
}
