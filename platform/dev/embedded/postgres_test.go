package embedded_test

import (
	"context"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

func startPostgres(t *testing.T, cfg embedded.PostgresConfig) *embedded.Postgres {
	t.Helper()
	if cfg.Port == 0 {
		cfg.Port = embedded.AnyPort
	}
	p, err := embedded.StartPostgres(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.WithoutCancel(t.Context()))) })
	return p
}

func query[T any](t *testing.T, address, sql string, args ...any) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)
	return value
}

func execute(t *testing.T, address, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func TestPostgresKeepsItsDataOverARestart(t *testing.T) {
	t.Parallel()
	cfg := embedded.PostgresConfig{Dir: filepath.Join(folder(t), "postgres"), Port: embedded.AnyPort}

	first := startPostgres(t, cfg)
	execute(t, first.URL(), "CREATE TABLE kept AS SELECT 7 AS n")
	require.NoError(t, first.Stop(t.Context()))
	_, err := pgx.Connect(t.Context(), first.URL())
	require.Error(t, err, "a stopped server must not answer")

	second := startPostgres(t, cfg)
	require.Equal(t, 7, query[int](t, second.URL(), "SELECT n FROM kept"))
	require.Equal(t, "on|on", query[string](t, second.URL(),
		"SELECT current_setting('fsync') || '|' || current_setting('synchronous_commit')"))
}

func TestPostgresAsksForItsPasswordAndKeepsItPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	p := startPostgres(t, embedded.PostgresConfig{Dir: dir})

	info, err := os.Stat(filepath.Join(dir, "password"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	address, err := url.Parse(p.URL())
	require.NoError(t, err)
	address.User = url.UserPassword(address.User.Username(), "wrong")
	_, err = pgx.Connect(t.Context(), address.String())
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "28P01", refused.Code) // invalid_password
	require.Equal(t, "127.0.0.1", query[string](t, p.URL(), "SELECT current_setting('listen_addresses')"))
}

func TestPostgresOfATestLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	p := startPostgres(t, embedded.PostgresConfig{Dir: dir, Throwaway: true})
	require.Equal(t, "off", query[string](t, p.URL(), "SELECT current_setting('fsync')"))
	require.NoError(t, p.Stop(t.Context()))
	require.NoDirExists(t, dir)
}

func TestPostgresTakesAnotherPortWhenItsOwnIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	address, ok := taken.Addr().(*net.TCPAddr)
	require.True(t, ok)

	p := startPostgres(t, embedded.PostgresConfig{Dir: filepath.Join(folder(t), "postgres"), Port: address.Port})
	require.NotEqual(t, address.Port, p.Port())
	require.Equal(t, strconv.Itoa(p.Port()), query[string](t, p.URL(), "SELECT current_setting('port')"))
}

func TestPostgresRefusesAFolderInUse(t *testing.T) {
	t.Parallel()
	cfg := embedded.PostgresConfig{Dir: filepath.Join(folder(t), "postgres"), Port: embedded.AnyPort}
	startPostgres(t, cfg)

	_, err := embedded.StartPostgres(t.Context(), cfg)
	var locked *embedded.LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, os.Getpid(), locked.PID)
}

func TestPostgresRefusesDataOfAnotherRelease(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	p := startPostgres(t, embedded.PostgresConfig{Dir: dir})
	require.NoError(t, p.Stop(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("9\n"), 0o600))

	_, err := embedded.StartPostgres(t.Context(), embedded.PostgresConfig{Dir: dir})
	var mismatch *embedded.VersionMismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, "9", mismatch.Have)
	require.Equal(t, dir, mismatch.Dir)
}

func TestPostgresLivesElsewhereWhereItsUserCannotGo(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs PostgreSQL as somebody else")
	}
	closed := filepath.Join(folder(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	cfg := embedded.PostgresConfig{Dir: filepath.Join(closed, "postgres"), Port: embedded.AnyPort}
	p := startPostgres(t, cfg)
	elsewhere, err := os.Readlink(cfg.Dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(elsewhere)) })
	execute(t, p.URL(), "CREATE TABLE kept ()")
	require.NoError(t, p.Stop(t.Context()))

	again := startPostgres(t, cfg)
	require.True(t, query[bool](t, again.URL(), "SELECT to_regclass('kept') IS NOT NULL"))
	require.NoError(t, again.Stop(t.Context()))

	cfg.Throwaway = true
	startPostgres(t, cfg)
}

func TestPostgresEndsWithAProcessThatIsKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	holder, address := play(t, "hold", dir)
	execute(t, address, "CREATE TABLE kept ()")
	require.NoError(t, holder.Process.Signal(syscall.SIGKILL))
	require.Error(t, holder.Wait())

	// At once, so that the old server may still be on its way out.
	p := startPostgres(t, embedded.PostgresConfig{Dir: dir})
	require.NotEqual(t, address, p.URL())
	require.True(t, query[bool](t, p.URL(), "SELECT to_regclass('kept') IS NOT NULL"))
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(t.Context(), address)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err != nil
	}, time.Minute, 50*time.Millisecond)
}

func TestPostgresRecoversFromAKilledServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	holder, address := play(t, "hold", dir)
	execute(t, address, "CREATE TABLE kept ()")
	require.NoError(t, syscall.Kill(serverOf(t, dir), syscall.SIGKILL))
	require.NoError(t, holder.Wait(), "whoever runs the server must notice its end")
	require.FileExists(t, filepath.Join(dir, "data", "postmaster.pid"))

	p := startPostgres(t, embedded.PostgresConfig{Dir: dir})
	require.True(t, query[bool](t, p.URL(), "SELECT to_regclass('kept') IS NOT NULL"))
}

// Where the kernel does not end the server with us, it stays behind.
func TestPostgresStopsAServerLeftBehind(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	p := startPostgres(t, embedded.PostgresConfig{Dir: dir})
	require.NoError(t, p.Stop(t.Context()))
	left := runServer(t, dir, p.Port())

	again := startPostgres(t, embedded.PostgresConfig{Dir: dir})
	require.NoError(t, left.Wait(), "it must stop in order")
	require.NotEqual(t, left.Process.Pid, serverOf(t, dir))
	require.Equal(t, 1, query[int](t, again.URL(), "SELECT 1"))
}

// A number in the mark that is another program's by now must not be touched.
func TestPostgresIgnoresAMarkOfAnotherProgram(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "postgres")
	p := startPostgres(t, embedded.PostgresConfig{Dir: dir})
	require.NoError(t, p.Stop(t.Context()))
	mark := filepath.Join(dir, "data", "postmaster.pid")
	require.NoError(t, os.WriteFile(mark, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600))

	again := startPostgres(t, embedded.PostgresConfig{Dir: dir})
	require.Equal(t, 1, query[int](t, again.URL(), "SELECT 1"))
}

func TestPostgresLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	cmd, _ := play(t, "leak", filepath.Join(folder(t), "postgres"))
	require.NoError(t, cmd.Wait())
}

func TestPostgresStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(folder(t), "postgres")
	_, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{Dir: dir})
	require.Error(t, err)
	startPostgres(t, embedded.PostgresConfig{Dir: dir}) // What was begun is no hindrance.
}

func serverOf(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	return pid
}

// runServer runs the cluster in dir behind the package's back.
func runServer(t *testing.T, dir string, port int) *exec.Cmd {
	t.Helper()
	data := filepath.Join(dir, "data")
	var stat syscall.Stat_t
	require.NoError(t, syscall.Stat(data, &stat))
	opts, err := os.ReadFile(filepath.Join(data, "postmaster.opts"))
	require.NoError(t, err)
	program, _, _ := strings.Cut(string(opts), " ")
	cmd := exec.CommandContext(t.Context(), program, "-D", data, "-p", strconv.Itoa(port), "-k", "")
	cmd.Dir = dir
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}}
	}
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
		return err == nil && strings.Contains(string(raw), "ready")
	}, time.Minute, 10*time.Millisecond)
	return cmd
}
