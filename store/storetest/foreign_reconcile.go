package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// reconcileCases are the foreign-tenant cases of the reconciler's methods.
var reconcileCases = map[string]func(t *testing.T, f foreign){
	"CloseRun": func(t *testing.T, f foreign) {
		t.Helper()
		closed, err := f.Store.CloseRun(t.Context(), store.RunClosure{
			Tenant: f.stranger, RunID: f.Run.ID, StatusSeen: f.Run.Status, SeqSeen: f.Run.LastSeq, Status: agent.RunFailed,
			Kind: tool.Unknown,
		})
		require.NoError(t, err)
		require.False(t, closed)
	},
	"OpenCalls": func(t *testing.T, f foreign) {
		t.Helper()
		f.Admit(t, f.Lone(t), false, false)
		calls, err := f.Store.OpenCalls(t.Context(), f.stranger, f.Run.ID, 10)
		require.NoError(t, err)
		require.Empty(t, calls)
	},
	"KnownWorkflows": func(t *testing.T, f foreign) {
		t.Helper()
		known, err := f.Store.KnownWorkflows(t.Context(), f.stranger, []string{f.Run.ID}, []string{f.Run.WorkflowID})
		require.NoError(t, err)
		require.Empty(t, known)
	},
	"FindEffect": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Lone(t)
		f.Admit(t, e, false, false)
		_, err := f.Store.FindEffect(t.Context(), f.stranger, e.EffectID)
		RequireKind(t, tool.NotFound, err)
	},
}
