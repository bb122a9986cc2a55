package runs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for name, test := range map[string]struct {
		before  agent.Run // As it is when the request comes.
		missing bool      // Temporal has no workflow of the run.
		down    bool
		after   agent.RunStatus // If set, the reconciler closes the run with it.

		status agent.RunStatus
		kind   tool.Kind
		text   string
	}{
		"pending": {before: agent.Run{Status: agent.RunPending}, status: agent.RunCancelled},
		"pending without workflow": {
			before: agent.Run{Status: agent.RunPending}, missing: true, status: agent.RunCancelled,
		},
		"pending without Temporal": {before: agent.Run{Status: agent.RunPending}, down: true, status: agent.RunCancelled},
		"running": {
			before: agent.Run{Status: agent.RunRunning, StartedAt: &began}, status: agent.RunRunning,
		},
		"running without Temporal": {
			before: agent.Run{Status: agent.RunRunning, StartedAt: &began}, down: true, kind: tool.Unavailable, text: "Temporal",
		},
		"workflow that was cancelled": {
			before: agent.Run{Status: agent.RunRunning, StartedAt: &began}, missing: true, after: agent.RunCancelled,
			status: agent.RunCancelled,
		},
		"workflow that ended otherwise": {
			before: agent.Run{Status: agent.RunRunning, StartedAt: &began}, after: agent.RunFailed,
			kind: tool.Conflict, text: "failed already",
		},
		"workflow with open calls": {
			before: agent.Run{Status: agent.RunRunning, StartedAt: &began}, missing: true,
			kind: tool.Conflict, text: "last calls are being settled",
		},
		"workflow that is not started": {
			before: agent.Run{Status: agent.RunRunning}, missing: true, kind: tool.Conflict, text: "has not been started yet",
		},
		"completed": {before: agent.Run{Status: agent.RunCompleted}, kind: tool.Conflict, text: "completed already"},
		"host's": {
			before: agent.Run{Status: agent.RunHosted, Kind: agent.RunKindHost}, kind: tool.Conflict, text: "cancel it there",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			test.before.ID, test.before.Tenant, test.before.WorkflowID = "run", b.principal.Tenant, "workflow"
			b.store.runs = []agent.Run{test.before}
			if !test.missing {
				b.temporal.workflows["workflow"] = workflow{}
			}
			if test.down {
				b.temporal.down = serviceerror.NewUnavailable("down")
			}
			b.closes = test.after
			run, err := b.Cancel(t.Context(), b.principal.Tenant, "run")
			if test.kind != "" {
				requireKind(t, err, test.kind, test.text)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.status, run.Status)
			if !test.down {
				require.Equal(t, []string{"workflow"}, b.temporal.cancelled)
			}
		})
	}
}

func TestCancelOfAnotherTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.store.runs = []agent.Run{{ID: "run", Tenant: b.principal.Tenant, Status: agent.RunPending}}
	_, err := b.Cancel(t.Context(), b.store.AddTenant("other"), "run")
	requireKind(t, err, tool.NotFound, "run not found")
}

// The request is recorded for the execution that is open, before Temporal gets it; if it
// cannot be recorded, Temporal gets it all the same.
func TestCancelIsRecorded(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for name, test := range map[string]struct {
		change  func(*bench)
		cancels []string
	}{
		"open":   {func(*bench) {}, []string{"run execution"}},
		"broken": {func(b *bench) { b.store.broken = errors.New("down") }, []string{"run execution"}},
		"closed": {func(b *bench) { b.temporal.end("workflow", &tool.Result{}, nil) }, nil},
		"a call": {func(b *bench) { b.store.runs[0].Kind = agent.RunKindToolCall }, []string{"run execution"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.store.runs = []agent.Run{{
				ID: "run", Tenant: b.principal.Tenant, WorkflowID: "workflow", Kind: agent.RunKindAgent,
				Status: agent.RunRunning, StartedAt: &began,
			}}
			b.temporal.workflows["workflow"] = workflow{}
			test.change(b)
			_, err := b.Cancel(t.Context(), b.principal.Tenant, "run")
			require.NoError(t, err)
			require.Equal(t, test.cancels, b.store.cancels)
			require.Equal(t, []string{"workflow"}, b.temporal.cancelled)
		})
	}
}
