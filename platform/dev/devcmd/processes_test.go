package devcmd_test

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
	"github.com/toolcrib/toolcrib/store"
)

// Server and worker run as processes of their own, as a login that owns
// nothing, and stop when they are interrupted.
func TestServeAndWorker(t *testing.T) {
	t.Parallel()
	environ := []string{
		cli.DatabaseVariable + "=" + login(t), cli.QueueVariable + "=apart", cli.ListenVariable + "=127.0.0.1:0",
		"TEMPORAL_ADDRESS=" + shared.dev.Stack().TemporalAddress(),
	}
	server := start(t, environ, "serve")
	worker := start(t, environ, "worker")
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	require.Eventually(t, func() bool { return address.MatchString(server.log.String()) }, 30*time.Second,
		10*time.Millisecond)
	at := address.FindString(server.log.String())

	c, err := client.New(client.Config{Server: at})
	require.NoError(t, err)
	defer c.Close()
	ready, err := c.Ready(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", ready.Status, ready.Checks)
	require.Contains(t, ok(t, "tool", "call", "datetime_utils", "--args", `{"operation":"now"}`, "--server", at, "--key",
		shared.dev.Key()), "UTC")
	require.Contains(t, worker.log.String(), "task_queue=apart")

	require.Equal(t, cli.ExitOK, server.interrupt(t), &server.log)
	require.Equal(t, cli.ExitOK, worker.interrupt(t), &worker.log)
	require.NotContains(t, server.log.String()+worker.log.String(), shared.dev.Key())
}

// process is a command that runs until it is interrupted.
type process struct {
	log   buffer
	stop  context.CancelFunc
	ended chan int
}

func start(t *testing.T, environ []string, args ...string) *process {
	t.Helper()
	p := &process{ended: make(chan int, 1)}
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	go func() {
		env := cli.Env{In: strings.NewReader(""), Out: &p.log, Err: &p.log, Environ: environ}
		p.ended <- cli.Run(ctx, env, args, commands.New, operator.New, devcmd.New)
	}()
	return p
}

func (p *process) interrupt(t *testing.T) (code int) {
	t.Helper()
	p.stop()
	select {
	case code = <-p.ended:
	case <-time.After(time.Minute):
		require.Fail(t, "it does not stop", "%s", &p.log)
	}
	return code
}

// login makes a login role that is granted the app role and nothing more, and
// returns its URL.
func login(t *testing.T) string {
	t.Helper()
	owner := shared.dev.Stack().DatabaseURL()
	conn, err := pgx.Connect(t.Context(), owner)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	name := fmt.Sprintf("login_%d", time.Now().UnixNano())
	_, err = conn.Exec(
		t.Context(), fmt.Sprintf("create role %s login password 'only-here' in role %s", name, store.AppRole),
	)
	require.NoError(t, err)
	u, err := url.Parse(owner)
	require.NoError(t, err)
	u.User = url.UserPassword(name, "only-here")
	return u.String()
}
