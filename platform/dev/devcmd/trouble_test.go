package devcmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
)

// A port that the user asks for is used, or refused with an error that names
// the process that holds it. A folder that is not one is reported.
func TestDevRefuses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	holder := fmt.Sprintf("process %d", os.Getpid())
	file := filepath.Join(folder(t), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, tt := range []struct {
		args []string
		code int
		says []string
	}{
		{
			[]string{"--listen", taken.Addr().String()},
			cli.ExitUnavailable,
			[]string{"the API: " + taken.Addr().String() + " is taken by " + holder, "ask for another port"},
		},
		{
			[]string{"--temporal-port", port},
			cli.ExitUnavailable,
			[]string{"port " + port + ", which Temporal was to listen on, is taken by " + holder},
		},
		{
			[]string{"--postgres-port", port},
			cli.ExitUnavailable,
			[]string{"port " + port + ", which PostgreSQL was to listen on, is taken by " + holder},
		},
		{[]string{"--listen", "8080"}, cli.ExitUsage, []string{`--listen "8080" is not host:port, such as 127.0.0.1:8080`}},
		{[]string{"--listen", "127.0.0.1:99999"}, cli.ExitUsage, []string{`--listen "127.0.0.1:99999" has no port from 0 to 65535`}},
		{[]string{"--allow-host", "http://x:80"}, cli.ExitUsage, []string{`--allow-host "http://x:80" is no host: name it as x:80`}},
		{
			[]string{"--data", file},
			cli.ExitDenied,
			[]string{"the data folder " + file + " is not a folder", "choose another folder with --data"},
		},
	} {
		var errs bytes.Buffer
		env := cli.Env{In: strings.NewReader(""), Out: &errs, Err: &errs}
		data := filepath.Join(folder(t), "data")
		args := append([]string{
			"dev", "--headless", "--data", data, "--temporal-port", "-1", "--postgres-port", "-1",
		}, tt.args...)
		require.Equal(t, tt.code, cli.Run(t.Context(), env, args, commands.New, operator.New, devcmd.New), errs.String())
		for _, says := range tt.says {
			require.Contains(t, errs.String(), says)
		}
		if tt.args[0] == "--listen" {
			require.NoDirExists(t, data, "it is refused before anything is started")
		}
	}
}

// The platform of a data folder is found and healthy; what it lacks is reported
// as a warning only.
func TestDoctorOfDev(t *testing.T) {
	t.Parallel()
	code, out, errs := toolcrib(t.Context(), "doctor")
	require.Equal(t, cli.ExitOK, code, out+errs)
	for _, check := range []string{
		"ok    temporal              answers at " + shared.dev.Stack().TemporalAddress(),
		"ok    temporal namespace    default",
		"ok    search attributes", "ok    workers", "ok    api                   ready at " + shared.dev.URL(),
		"ok    api key", "ok    data folder",
	} {
		require.Contains(t, out, check)
	}
}

// A command of operators says where the URL of the database of toolcrib dev is, and takes it.
func TestDatabaseOfDev(t *testing.T) {
	t.Parallel()
	code, _, errs := toolcrib(t.Context(), "tenant", "list")
	require.Equal(t, cli.ExitUsage, code)
	file := filepath.Join(shared.dev.Stack().DataDir(), dev.DatabaseFile)
	require.Contains(t, errs, `For that of toolcrib dev: --database-url "$(cat `+file+`)"`)
	url, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, ok(t, "tenant", "list", "--database-url", strings.TrimSpace(string(url))), "dev")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// A namespace that is missing is named, with the command that makes it.
func TestNamespaceThatIsMissing(t *testing.T) {
	t.Parallel()
	address := shared.dev.Stack().TemporalAddress()
	environ := []string{
		cli.DatabaseVariable + "=" + login(t), "TEMPORAL_ADDRESS=" + address, "TEMPORAL_NAMESPACE=elsewhere",
		cli.ListenVariable + "=127.0.0.1:0",
	}
	for _, command := range []string{"serve", "worker"} {
		var errs bytes.Buffer
		env := cli.Env{In: strings.NewReader(""), Out: &errs, Err: &errs, Environ: environ}
		require.Equal(t, cli.ExitNotFound, cli.Run(t.Context(), env, []string{command}, commands.New, operator.New,
			devcmd.New), errs.String())
		require.Contains(t, errs.String(), `has no namespace "elsewhere"`)
		require.Contains(t, errs.String(), "temporal operator namespace create --namespace elsewhere --address "+address)
	}
}

// A run without a worker is reported as such where it is shown or followed, and
// continues when a worker starts.
func TestRunWithoutWorker(t *testing.T) {
	t.Parallel()
	environ := []string{
		cli.DatabaseVariable + "=" + login(t), cli.QueueVariable + "=deserted", cli.ListenVariable + "=127.0.0.1:0",
		"TEMPORAL_ADDRESS=" + shared.dev.Stack().TemporalAddress(),
	}
	server := start(t, environ, "serve")
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	require.Eventually(t, func() bool { return address.MatchString(server.log.String()) }, time.Minute,
		10*time.Millisecond, "%s", &server.log)
	client := []string{
		cli.ServerVariable + "=" + address.FindString(server.log.String()), cli.KeyVariable + "=" + shared.dev.Key(),
	}

	waiting := start(t, client, "tool", "call", "datetime_utils", "--args", `{"operation":"now"}`, "--wait", "0s",
		"--json")
	require.Equal(t, cli.ExitOK, waiting.end(t), &waiting.log)
	var call v1.Call
	require.NoError(t, json.Unmarshal(waiting.log.Bytes(), &call), &waiting.log)
	follower := start(t, client, "run", "wait", call.RunID)
	const says = `no worker polls the task queue "deserted": start one with toolcrib worker --task-queue deserted`
	require.Eventually(t, func() bool { return strings.Contains(follower.log.String(), says) }, time.Minute,
		50*time.Millisecond, "%s", &follower.log)
	live := start(t, client, "run", "follow", call.RunID)
	require.Eventually(t, func() bool { return strings.Contains(live.log.String(), says) }, time.Minute,
		50*time.Millisecond, "%s", &live.log)
	looker := start(t, client, "run", "get", call.RunID)
	require.Equal(t, cli.ExitOK, looker.end(t))
	require.Contains(t, looker.log.String(), says)

	worker := start(t, environ, "worker")
	require.Equal(t, cli.ExitOK, follower.end(t), "%s\n%s", &follower.log, &worker.log)
	require.Equal(t, cli.ExitOK, live.end(t), "%s", &live.log)
	require.Equal(t, 1, strings.Count(follower.log.String(), says), "once is enough")
	require.Equal(t, cli.ExitOK, worker.interrupt(t), &worker.log)
	require.Equal(t, cli.ExitOK, server.interrupt(t), &server.log)
}

// end returns the exit code of a command that is not interrupted.
func (p *process) end(t *testing.T) (code int) {
	t.Helper()
	select {
	case code = <-p.ended:
	case <-time.After(2 * time.Minute):
		require.Fail(t, "it does not end", "%s", &p.log)
	}
	return code
}
