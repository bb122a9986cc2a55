package runs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
)

// pausing is a bench with a run that goes on, and the request to pause it.
func pausing(t *testing.T) (*bench, runs.PauseRequest) {
	t.Helper()
	b := setup(t)
	b.store.runs = []agent.Run{{
		ID: "run", Tenant: b.principal.Tenant, WorkflowID: "workflow", Kind: agent.RunKindAgent, Status: agent.RunRunning,
	}}
	b.temporal.workflows["workflow"] = workflow{}
	return b, runs.PauseRequest{Principal: b.principal, RunID: "run", Reason: "the shop is closed"}
}

// A run is paused once, however often that is asked for, and its workflow is given each
// round.
func TestPause(t *testing.T) {
	t.Parallel()
	b, request := pausing(t)
	for range 2 {
		run, err := b.Pause(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, &agent.Pause{By: b.principal.Subject, Reason: "the shop is closed"}, run.Paused)
	}
	for range 2 {
		run, err := b.Resume(t.Context(), request)
		require.NoError(t, err)
		require.Nil(t, run.Paused)
	}
	require.Equal(t, []string{"workflow toolcrib.pause {run 1 true}", "workflow toolcrib.pause {run 2 false}"},
		b.temporal.signals)
	require.Equal(t, []string{"run/1", "run/2"}, b.store.delivered)
}

// Where Temporal is away, or has no workflow yet, the pause is recorded, and delivered later.
func TestPauseIsDeliveredLater(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]error{
		"away": serviceerror.NewUnavailable("down"), "not started": serviceerror.NewNotFound("no such workflow"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, request := pausing(t)
			b.temporal.down = away
			run, err := b.Pause(t.Context(), request)
			require.NoError(t, err)
			require.NotNil(t, run.Paused)
			require.Empty(t, b.store.delivered)

			due := agent.UndeliveredPause{Tenant: b.principal.Tenant, RunID: "run", WorkflowID: "workflow", Round: 1}
			b.store.due = []agent.UndeliveredPause{due}
			n, err := b.Deliver(t.Context(), 10)
			require.NoError(t, err)
			require.Zero(t, n)

			b.temporal.down = nil
			b.store.due = []agent.UndeliveredPause{due}
			n, err = b.Deliver(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.Equal(t, []string{"run/1"}, b.store.delivered)
			require.Equal(t, []string{"workflow toolcrib.pause {run 1 true}"}, b.temporal.signals)
		})
	}
}

func TestPauseIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*bench, *runs.PauseRequest)
		kind   tool.Kind
		text   string
	}{
		"ended": {
			func(b *bench, _ *runs.PauseRequest) { b.store.runs[0].Status = agent.RunFailed }, tool.Conflict, "failed already",
		},
		"a host's": {
			func(b *bench, _ *runs.PauseRequest) { b.store.runs[0].Kind = agent.RunKindHost }, tool.Conflict, "only the host",
		},
		"below another": {
			func(b *bench, r *runs.PauseRequest) {
				b.store.runs = append(b.store.runs, agent.Run{
					ID: "middle", Tenant: r.Principal.Tenant, Parent: &agent.Parent{RunID: "run", Detached: true},
				}, agent.Run{ID: "below", Tenant: r.Principal.Tenant, Parent: &agent.Parent{RunID: "middle"}})
				r.RunID = "below"
			}, tool.Conflict, "a part of run middle",
		},
		"another tenant's": {
			func(b *bench, r *runs.PauseRequest) { r.Principal.Tenant = b.store.AddTenant("other") }, tool.NotFound,
			"run not found",
		},
		"a long reason": {
			func(_ *bench, r *runs.PauseRequest) { r.Reason = string(make([]byte, 2001)) }, tool.Invalid, "2000 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, request := pausing(t)
			test.change(b, &request)
			_, err := b.Pause(t.Context(), request)
			requireKind(t, err, test.kind, test.text)
			_, err = b.Resume(t.Context(), request)
			requireKind(t, err, test.kind, test.text)
			require.Empty(t, b.temporal.signals)
		})
	}
}
