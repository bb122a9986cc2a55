package store_test

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// secondCluster starts a PostgreSQL server of its own, whose transaction ids
// have nothing to do with those of the tests' server, and returns the
// superuser's URL.
func secondCluster(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "../scripts/with-postgres", "sh", "-c",
		`echo "$`+storetest.URLVariable+`"; cat`)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, storetest.URLVariable+"=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Stderr = t.Output()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "a second server is started with the binaries that scripts/find-postgres finds")
	return strings.TrimSpace(address)
}

// binary returns the path of one of PostgreSQL's programs.
func binary(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../scripts/find-postgres").Output()
	require.NoError(t, err)
	server, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(out)), "initdb"))
	require.NoError(t, err)
	path := filepath.Join(filepath.Dir(server), name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err = exec.LookPath(name)
	require.NoError(t, err, "%s is in the package of PostgreSQL's clients", name)
	return path
}

// A tenant's stream goes on in a copy of the database in another cluster, from
// the cursors of before: every event comes to every follower exactly once.
func TestStreamSurvivesDumpAndRestore(t *testing.T) {
	t.Parallel()

	f, pool := sealFixture(t)
	// The first server's transaction ids are far ahead of the second's.
	_, err := pool.Exec(
		t.Context(), "do $$ begin for i in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$",
	)
	require.NoError(t, err)
	second := f.NewRun(t).ID
	write := func(run string, n int) {
		for range n {
			tx := begin(t, pool)
			appendEvent(t, tx, f.Tenant, run)
			require.NoError(t, tx.Commit(t.Context()))
		}
	}
	write(f.Run.ID, 8)
	early, all, none := &follower{}, &follower{}, &follower{}
	early.read(t, f.Store, f.Tenant)
	write(second, 8)
	all.read(t, f.Store, f.Tenant)
	write(f.Run.ID, 5) // Has no numbers yet when it is dumped.
	rolledBack := begin(t, pool)
	appendEvent(t, rolledBack, f.Tenant, second) // Never commits.

	target := secondCluster(t)
	conn := storetest.Connect(t, target)
	_, err = store.Migrate(t.Context(), target) // Makes the roles.
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "create database restored")
	require.NoError(t, err)
	u, err := url.Parse(target)
	require.NoError(t, err)
	u.Path = "/restored"
	file := filepath.Join(t.TempDir(), "dump")
	for _, args := range [][]string{
		{binary(t, "pg_dump"), "--format=custom", "--file=" + file, "--dbname=" + f.URL},
		{binary(t, "pg_restore"), "--exit-on-error", "--dbname=" + u.String(), file},
	} {
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}

	restored := storetest.Connect(t, u.String())
	s, err := store.Open(t.Context(), u.String(), store.Options{SetRole: store.AppRole, SealInterval: -1})
	require.NoError(t, err)
	defer s.Close()
	for range 4 {
		tx, err := restored.Begin(t.Context())
		require.NoError(t, err)
		appendEvent(t, tx, f.Tenant, second)
		require.NoError(t, tx.Commit(t.Context()))
	}
	want := map[string][]int64{f.Run.ID: sequence(2 + 8 + 5), second: sequence(1 + 8 + 4)}
	for name, r := range map[string]*follower{
		"one that left early": early, "one that had all": all, "one that begins": none,
	} {
		r.read(t, s, f.Tenant)
		require.Equal(t, want, r.seen, name)
	}
}

func sequence(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i + 1)
	}
	return out
}
