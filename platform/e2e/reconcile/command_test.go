package reconcile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// login makes a login role that is granted one role, and returns the database's
// URL with it.
func (s *site) login(role string) string {
	s.t.Helper()
	name := "l_" + strings.ReplaceAll(storetest.NewID(s.t), "-", "")
	conn := s.Conn(s.t)
	_, err := conn.Exec(s.t.Context(), fmt.Sprintf("create role %s login password 'synthetic' in role %s", name, role))
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		conn, err := pgx.Connect(context.WithoutCancel(s.t.Context()), s.URL)
		require.NoError(s.t, err)
		defer func() { _ = conn.Close(context.WithoutCancel(s.t.Context())) }()
		_, err = conn.Exec(context.WithoutCancel(s.t.Context()), "drop role "+name)
		require.NoError(s.t, err)
	})
	u, err := url.Parse(s.URL)
	require.NoError(s.t, err)
	u.User = url.UserPassword(name, "synthetic")
	return u.String()
}

// The command says what it would do, does it, and says what it did.
func TestReconcileCommand(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	run := s.recorded()
	sent, _, _ := s.call(run, true)
	_, err := s.Conn(t).Exec(t.Context(), "update runs set created_at = now() - interval '1 hour' where id = $1", run.ID)
	require.NoError(t, err)
	environ := []string{cli.DatabaseVariable + "=" + s.login(store.AppRole), "TEMPORAL_ADDRESS=" + server.Address()}
	command := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = cli.Run(
			t.Context(), cli.Env{Out: &stdout, Err: &stderr, In: strings.NewReader(""), Environ: environ, Dir: t.TempDir()},
			append([]string{"reconcile"}, args...), operator.New,
		)
		return code, stdout.String(), stderr.String()
	}

	code, _, errs := command()
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, errs, cli.MaintenanceVariable)
	environ = append(environ, cli.MaintenanceVariable+"="+s.login(store.MaintenanceRole))

	code, out, errs := command("--dry-run")
	require.Equal(t, cli.ExitOK, code, errs)
	require.Contains(t, out, "would close")
	require.Contains(t, out, "never_started")
	require.Contains(t, out, run.ID)
	require.Equal(t, agent.RunPending, s.find(run.ID).Status)

	code, out, errs = command("--json")
	require.Equal(t, cli.ExitOK, code, errs)
	var report reconcile.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, 2, report.Closed())
	require.Len(t, report.Unknown, 1)
	require.Equal(t, sent, report.Unknown[0].InvocationID)
	require.Equal(t, agent.RunFailed, s.find(run.ID).Status)

	code, out, errs = command()
	require.Equal(t, cli.ExitOK, code, errs)
	require.Contains(t, out, "nothing to close")
	require.Contains(t, out, "calls whose outcome is unknown, to check by hand: 1")
	require.Contains(t, out, "api.example.com")

	environ = append(environ, cli.MaintenanceVariable+"="+s.login(store.AppRole))
	code, _, errs = command()
	require.Equal(t, cli.ExitDenied, code)
	require.Contains(t, errs, store.MaintenanceRole)
}
