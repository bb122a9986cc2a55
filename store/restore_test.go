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

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
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

// restoredElsewhere dumps a database and restores it in another cluster, and returns its URL there.
func restoredElsewhere(t *testing.T, source string) string {
	t.Helper()
	target := secondCluster(t)
	conn := storetest.Connect(t, target)
	_, err := store.Migrate(t.Context(), target) // Makes the roles.
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "create database restored")
	require.NoError(t, err)
	u, err := url.Parse(target)
	require.NoError(t, err)
	u.Path = "/restored"
	file := filepath.Join(t.TempDir(), "dump")
	for _, args := range [][]string{
		{binary(t, "pg_dump"), "--format=custom", "--file=" + file, "--dbname=" + source},
		{binary(t, "pg_restore"), "--exit-on-error", "--dbname=" + u.String(), file},
	} {
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return u.String()
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

	target := restoredElsewhere(t, f.URL)
	restored := storetest.Connect(t, target)
	s, err := store.Open(t.Context(), target, store.Options{SetRole: store.AppRole, SealInterval: -1})
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

// The audit log goes on in a copy of the database in another cluster: its chains are whole, from the
// beginning and from a head that was kept, pages go on from a cursor, and what is changed there is chained
// behind what came with the dump. What quotas count came too.
func TestAuditLogSurvivesDumpAndRestore(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenants := []tool.TenantID{d.Tenant(t), d.Tenant(t)}
	change := func(s *store.Store, tenant tool.TenantID, slug string) {
		t.Helper()
		_, err := s.CreateTool(audit.With(t.Context(), actor), tool.Tool{
			Tenant: tenant, Slug: slug, Status: tool.Draft, Active: true, Version: "1.0.0",
			Definition: tool.Definition{Name: slug, Description: "\u00e4 <b> \\ \" ", Implementation: tool.HTTP},
		})
		require.NoError(t, err)
	}
	for _, tenant := range tenants {
		for _, slug := range []string{"a", "b", "c"} {
			change(d.Store, tenant, slug)
		}
	}
	require.NoError(t, d.Platform.Quotas().SetQuota(t.Context(), quota.Rule{Name: quota.Tools, Limit: new(int64(5))}))
	require.NoError(t, d.Store.SealAudit(t.Context()))
	kept := map[tool.TenantID]audit.State{}
	for _, tenant := range tenants {
		state, err := d.Store.AuditState(t.Context(), tenant)
		require.NoError(t, err)
		kept[tenant] = state
		change(d.Store, tenant, "unsealed") // Is not chained yet when it is dumped.
	}
	page, err := d.Store.ListAudit(t.Context(), tenants[0], audit.Query{Limit: 2})
	require.NoError(t, err)
	was := entries(t, d.Store, tenants[0])

	target := restoredElsewhere(t, d.URL)
	s, err := store.Open(t.Context(), target, store.Options{SetRole: store.AppRole, SealInterval: -1})
	require.NoError(t, err)
	defer s.Close()
	owner, err := store.OpenPlatform(t.Context(), target, store.Options{})
	require.NoError(t, err)
	defer owner.Close()

	rest, err := s.ListAudit(t.Context(), tenants[0], audit.Query{Before: page[1].ID, Limit: 100})
	require.NoError(t, err)
	require.Len(t, rest, len(was)-2, "a page goes on from a cursor of before")
	for i, e := range rest {
		require.Equal(t, was[len(was)-3-i].ID, e.ID)
	}
	for _, tenant := range tenants {
		change(s, tenant, "later")
		_, err := s.CreateTool(t.Context(), tool.Tool{
			Tenant: tenant, Slug: "beyond", Status: tool.Draft, Active: true, Version: "1.0.0",
		})
		var over *quota.ExceededError
		require.ErrorAs(t, err, &over)
		require.EqualValues(t, 5, over.Used)
	}
	require.NoError(t, s.SealAudit(t.Context()))
	for _, tenant := range tenants {
		require.Nil(t, verify(t, s, tenant))
		report, err := audit.Verify(t.Context(), s, tenant, kept[tenant].Head, 1<<30)
		require.NoError(t, err)
		require.Nil(t, report.Broken, "it is the chain that had the head")
		require.Equal(t, kept[tenant].Seq+2, report.Verified.Seq)
		require.Zero(t, report.Unsealed)
	}
	require.Nil(t, verify(t, owner.Audit(), ""))
	require.NotEmpty(t, entries(t, owner.Audit(), ""))

	// What is changed in the copy past the platform is found as in the original.
	conn := storetest.Connect(t, target)
	for _, sql := range []string{
		"alter table audit_log disable trigger all", "update audit_log set reason = 'x' where seq = 2",
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, verify(t, s, tenants[0]).Seq)
}
