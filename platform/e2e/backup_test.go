package e2e_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// dump writes a database to a file, as docs/backup.md does.
func dump(t *testing.T, url string) (file string) {
	t.Helper()
	for _, program := range []string{"pg_dump", "pg_restore"} {
		_, err := exec.LookPath(program)
		switch {
		case err == nil:
		case os.Getenv("TOOLCRIB_REQUIRE_PROGRAMS") != "":
			t.Fatalf("%s is not on PATH: install PostgreSQL's client programs", program)
		default:
			t.Skipf("%s is not on PATH: install PostgreSQL's client programs to rehearse a restore", program)
		}
	}
	file = filepath.Join(t.TempDir(), "toolcrib.dump")
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--format=custom", "--file="+file, url).CombinedOutput()
	require.NoError(t, err, string(out))
	return file
}

// restore makes a new database of a dump. It returns a site there, with no worker, and
// on another Temporal if it is given.
func (o *office) restore(file, temporal string) *office {
	o.t.Helper()
	url := storetest.NewEmpty(o.t)
	out, err := exec.CommandContext(o.t.Context(), "pg_restore", "--exit-on-error", "--dbname="+url, file).CombinedOutput()
	require.NoError(o.t, err, string(out))
	opened, err := store.Open(o.t.Context(), url, store.Options{SetRole: store.AppRole, MaxConns: 4})
	require.NoError(o.t, err)
	o.t.Cleanup(opened.Close)
	beside := *o.site
	beside.Store, beside.db = opened, &storetest.Database{URL: url, Store: opened}
	if temporal != "" {
		c, err := dial(temporal)
		require.NoError(o.t, err)
		o.t.Cleanup(c.Close)
		beside.temporal = c
	}
	return &office{site: &beside, upstream: o.upstream, approver: o.approver}
}

// workAt starts a worker on the site's database, with the Temporal at the address.
func (o *office) workAt(address string) (stop func()) {
	o.t.Helper()
	plugin, err := worker.New(o.t.Context(), worker.Config{
		Store: o.Store, Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("refund")},
	})
	require.NoError(o.t, err)
	c, err := dial(address, plugin)
	require.NoError(o.t, err)
	w := sdkworker.New(c, o.queue, sdkworker.Options{DisableRegistrationAliasing: true})
	require.NoError(o.t, w.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			w.Stop()
			c.Close()
			require.NoError(o.t, plugin.Close())
		}
	}
	o.t.Cleanup(stop)
	return stop
}

// reconcileOnce compares the record with Temporal, as servers do.
func (o *office) reconcileOnce(adopt bool) (reconcile.Report, error) {
	o.t.Helper()
	m, err := store.OpenMaintenance(o.t.Context(), o.db.URL, store.Options{SetRole: store.MaintenanceRole, MaxConns: 2})
	require.NoError(o.t, err)
	defer m.Close()
	r, err := reconcile.New(reconcile.Config{
		Store: o.Store, Temporal: o.temporal, Namespace: embedded.DefaultNamespace, Maintenance: m, Adopt: adopt,
		Grace: time.Nanosecond, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(o.t, err)
	return r.Once(o.t.Context(), reconcile.PassOptions{})
}

// approve approves the request of a run.
func (o *office) approve(runID string, of []wait.Approval) {
	o.t.Helper()
	for _, a := range of {
		if a.RunID == runID {
			require.NoError(o.t, o.tell(o.decide(wait.Verdict{ID: a.ID, Approve: true, Seen: a.Binding})))
			return
		}
	}
	o.t.Fatalf("no request of run %s", runID)
}

func (o *office) status(runID string) agent.RunStatus {
	o.t.Helper()
	run, err := o.FindRun(o.t.Context(), o.principal.Tenant, runID)
	require.NoError(o.t, err)
	return run.Status
}

// A database is dumped while runs wait, and goes on; then it is lost, and the dump is
// restored. With the Temporal there was, a run that waits completes, and what happened
// since the dump does not happen again. With a new Temporal, runs that waited are closed
// as failed, their calls are not made, and new runs complete.
//
//nolint:paralleltest,tparallel // The cases count the calls of one upstream, one after the other.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	stop := o.workAt(server.Address())
	ended, w := o.run(a, "go")
	o.approve(ended.ID, o.waiting(1))
	_, err := o.wait(w)
	require.NoError(t, err)
	waits, waiting := o.run(a, "go")
	before, early := o.run(a, "go") // Waits when the dump is made, and ends after it.
	asked := o.waiting(2)
	_, err = o.reconcileOnce(true) // Binds the record to the namespace, as a server that reconciles does.
	require.NoError(t, err)

	file := dump(t, o.db.URL)
	o.approve(before.ID, asked)
	_, err = o.wait(early)
	require.NoError(t, err)
	after, late := o.run(a, "go") // The dump does not have it.
	asked = o.waiting(2)
	o.approve(after.ID, asked)
	_, err = o.wait(late)
	require.NoError(t, err)
	require.Equal(t, 3, o.refunds())
	stop()

	t.Run("SameTemporal", func(t *testing.T) {
		r := o.restore(file, "")
		r.t = t
		require.Equal(t, agent.RunCompleted, r.status(ended.ID))
		require.False(t, r.status(before.ID).Final(), "the dump is older than its end")
		r.workAt(server.Address())
		_, err := r.reconcileOnce(false)
		require.NoError(t, err)
		require.Equal(t, agent.RunCompleted, r.status(before.ID))
		require.False(t, r.status(waits.ID).Final())
		_, err = r.FindRun(t.Context(), r.principal.Tenant, after.ID)
		storetest.RequireKind(t, tool.NotFound, err)
		pending, err := r.ListApprovals(t.Context(), wait.Query{Tenant: r.principal.Tenant, Status: wait.Pending, Limit: 100})
		require.NoError(t, err)
		r.approve(waits.ID, pending)
		_, err = r.wait(waiting)
		require.NoError(t, err)
		require.Equal(t, agent.RunCompleted, r.status(waits.ID))
		require.Equal(t, 4, r.refunds(), "the run that waited makes its call, and no other is repeated")
	})

	t.Run("NewTemporal", func(t *testing.T) {
		made := o.refunds()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		fresh, err := embedded.StartTemporal(ctx, embedded.TemporalConfig{
			Port: embedded.AnyPort, Headless: true, Logger: quiet(),
		})
		require.NoError(t, err)
		t.Cleanup(func() { _ = fresh.Stop(context.Background()) })
		r := o.restore(file, fresh.Address())
		r.t = t
		r.workAt(fresh.Address())
		_, err = r.reconcileOnce(false)
		storetest.RequireKind(t, tool.Conflict, err)
		require.False(t, r.status(waits.ID).Final(), "nothing is closed in another namespace unless an operator asks")
		_, err = r.reconcileOnce(true)
		require.NoError(t, err)
		for _, run := range []string{waits.ID, before.ID} {
			require.Equal(t, agent.RunFailed, r.status(run))
			for _, call := range r.invocations(run) {
				require.NotEqual(t, tool.StatusCompleted, call.Status)
			}
		}
		require.Equal(t, made, r.refunds())
		again, w := r.run(a, "go")
		r.approve(again.ID, r.waiting(1))
		_, err = r.wait(w)
		require.NoError(t, err)
		require.Equal(t, made+1, r.refunds())
	})
}
