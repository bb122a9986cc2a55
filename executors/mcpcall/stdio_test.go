package mcpcall_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// serverVariable makes the test's own program a server over its pipes.
const serverVariable = "TOOLCRIB_TEST_MCP_SERVER"

// serveStdio is what that program does.
func serveStdio() {
	s := mcp.NewServer(&mcp.Implementation{Name: "pipes", Version: "1"}, nil)
	add := func(name string, do func(ctx context.Context) string) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: do(ctx)}}}, nil
			})
	}
	add("environment", func(context.Context) string { return strings.Join(os.Environ(), " ") })
	add("pid", func(context.Context) string { return strconv.Itoa(os.Getpid()) })
	add("crash", func(context.Context) string { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} })
	add("complain", func(context.Context) string {
		for range 1000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 10_000))
		}
		return "done"
	})
	s.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken()})
			select {}
		})
	add("child", func(ctx context.Context) string {
		cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sleep", "600")
		if err := cmd.Start(); err != nil {
			return err.Error()
		}
		return strconv.Itoa(cmd.Process.Pid)
	})
	add("nonsense", func(context.Context) string { _, _ = fmt.Fprintln(os.Stdout, "this is not JSON"); return "done" })
	add("flood", func(context.Context) string {
		for range 1000 {
			_, _ = fmt.Fprintln(os.Stdout, "[INFO] this is not JSON")
		}
		return "done"
	})
	_ = s.Run(context.Background(), &mcp.IOTransport{Reader: asBefore(os.Getenv(serverVariable)), Writer: os.Stdout})
}

// asBefore makes the server one of before 2026-07-28, which does not know
// server/discover, and does about it what some do.
func asBefore(manner string) io.ReadCloser {
	if manner == "1" {
		return os.Stdin
	}
	if manner == "banner" {
		_, _ = fmt.Fprintln(os.Stdout, "pipes 1.0 listening on stdio\n[INFO] ready")
	}
	if manner == "mute" {
		select {}
	}
	if manner == "dies" {
		_, _ = fmt.Fprintln(os.Stderr, "no licence; key "+os.Getenv("LICENCE_KEY"))
		os.Exit(3) //nolint:forbidigo // A program of its own.
	}
	out, in := io.Pipe()
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"server/discover"`) {
				switch manner {
				case "exits":
					os.Exit(2) //nolint:forbidigo // A program of its own.
				default:
					continue
				}
			}
			_, _ = fmt.Fprintln(in, lines.Text())
		}
		_ = in.Close()
	}()
	return out
}

func newStdio(t *testing.T, o mcpcall.Options) (*mcpcall.Executor, *mcpcall.Client) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	o.Commands = map[string]mcpcall.Command{
		"pipes":  {Path: program, Env: []string{serverVariable + "=1"}},
		"theirs": {Path: program, Env: []string{serverVariable + "=1"}, Tenants: []tool.TenantID{"t2"}},
		"absent": {Path: "/nowhere/at/all"},
		"silent": {Path: "/bin/sleep", Args: []string{"600"}},
	}
	for _, manner := range []string{"ignores", "exits", "banner", "dies"} {
		o.Commands[manner] = mcpcall.Command{
			Path: program, Env: []string{serverVariable + "=" + manner, "LICENCE_KEY=" + plantedKey, "LANG=C.UTF-8"},
		}
	}
	return newClient(t, "http://127.0.0.1:1", o)
}

func stdioCall(command, toolName, run string) *tool.Call {
	return callOf(fmt.Sprintf(`{"transport": "stdio", "command": %q, "tool_name": %q}`, command, toolName), run)
}

func TestCommandsAreServers(t *testing.T) {
	t.Parallel()

	e, c := newStdio(t, mcpcall.Options{})
	found, err := c.Discover(t.Context(), mcpcall.Access{
		Tenant: "t1", Class: tool.EgressReadOnly,
	}, remote.Server{Transport: remote.Stdio, Command: "pipes"})
	require.NoError(t, err)
	require.Equal(t, "pipes", found.Name)
	require.Len(t, found.Tools, 8)

	say := func(toolName, run string) string {
		t.Helper()
		res, err := e.Execute(t.Context(), stdioCall("pipes", toolName, run))
		require.NoError(t, err)
		require.False(t, res.IsError)
		return textOf(res)
	}
	require.Equal(t, serverVariable+"=1", say("environment", "run-1"), "it has what the operator gave, and nothing else")
	first := say("pid", "run-1")
	require.Equal(t, first, say("pid", "run-1"), "a run keeps its process")
	require.NotEqual(t, first, say("pid", "run-2"))
	alone := say("pid", "")
	require.NotEqual(t, alone, say("pid", ""), "a call without a run has one of its own")
}

func TestOnlyNamedCommandsRun(t *testing.T) {
	t.Parallel()

	e, _ := newStdio(t, mcpcall.Options{})
	_, err := e.Execute(t.Context(), stdioCall("other", "pid", "run-1"))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	unknown := tool.AsError(err).Msg
	_, err = e.Execute(t.Context(), stdioCall("theirs", "pid", "run-1"))
	require.Equal(t, strings.Replace(unknown, "other", "theirs", 1), tool.AsError(err).Msg, "another tenant's is none")
	call := stdioCall("theirs", "pid", "run-1")
	call.Principal.Tenant = "t2"
	_, err = e.Execute(t.Context(), call)
	require.NoError(t, err)
	_, err = e.Execute(t.Context(), stdioCall("absent", "pid", "run-1"))
	var failed *tool.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, tool.Unavailable, failed.Kind)
	require.False(t, failed.Sent)
	require.NotContains(t, failed.Msg, "nowhere", "where programs are is the operator's affair")
}

// A process that ends in the middle of a call is a call without an answer; the
// next call has another process.
func TestACommandThatCrashes(t *testing.T) {
	t.Parallel()

	e, _ := newStdio(t, mcpcall.Options{})
	for range 2 {
		_, err := e.Execute(t.Context(), stdioCall("pipes", "crash", "run-1"))
		var failed *tool.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, tool.Unavailable, failed.Kind)
		require.True(t, failed.Sent)
		require.False(t, failed.Answered)
		_, err = e.Execute(t.Context(), stdioCall("pipes", "pid", "run-1"))
		require.NoError(t, err)
	}
}

func TestACommandThatHangsIsKilled(t *testing.T) {
	t.Parallel()

	e, _ := newStdio(t, mcpcall.Options{})
	res, err := e.Execute(t.Context(), stdioCall("pipes", "pid", "run-1"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(textOf(res))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = e.Execute(tool.WithProgress(ctx, func(tool.Progress) { cancel() }), stdioCall("pipes", "wait", "run-1"))
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, time.Minute, 10*time.Millisecond)

	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = e.Execute(ctx, stdioCall("silent", "pid", "run-1"))
	var failed *tool.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, tool.Timeout, failed.Kind)
	require.False(t, failed.Sent, "it never came to the call")
}

func TestWhatACommandStartedEndsWithIt(t *testing.T) {
	t.Parallel()

	e, c := newStdio(t, mcpcall.Options{})
	res, err := e.Execute(t.Context(), stdioCall("pipes", "child", "run-1"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(textOf(res))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, 0))
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ") // Dead, if nobody has buried it.
	}, time.Minute, 10*time.Millisecond)
	_, err = e.Execute(t.Context(), stdioCall("pipes", "pid", "run-1"))
	require.Equal(t, tool.Unavailable, tool.KindOf(err), "a closed client starts nothing")
}

func TestACommandsComplaintsAreLoggedWithinBounds(t *testing.T) {
	t.Parallel()

	var log counter
	e, c := newStdio(t, mcpcall.Options{
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	_, err := e.Execute(t.Context(), stdioCall("pipes", "complain", "run-1"))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.Contains(t, log.String(), `"command":"pipes"`)
	require.Less(t, len(log.String()), 1<<20)
}

func TestACommandThatWritesNonsense(t *testing.T) {
	t.Parallel()

	e, _ := newStdio(t, mcpcall.Options{})
	res, err := e.Execute(t.Context(), stdioCall("pipes", "nonsense", "run-1"))
	require.NoError(t, err)
	require.Equal(t, "done", textOf(res), "a line that is no message is skipped")
	_, err = e.Execute(t.Context(), stdioCall("pipes", "flood", "run-1"))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	_, err = e.Execute(t.Context(), stdioCall("pipes", "pid", "run-1"))
	require.NoError(t, err)
}

const plantedKey = "planted-licence-4711"

// Servers of before 2026-07-28 that ignore what they do not know, exit on it, or
// print a banner are talked to all the same.
func TestCommandsWithoutDiscover(t *testing.T) {
	t.Parallel()

	for _, manner := range []string{"ignores", "exits", "banner"} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()

			e, c := newStdio(t, mcpcall.Options{})
			found, err := c.Discover(t.Context(), mcpcall.Access{
				Tenant: "t1", Class: tool.EgressReadOnly,
			}, remote.Server{Transport: remote.Stdio, Command: manner})
			require.NoError(t, err)
			require.Equal(t, "2025-11-25", found.Protocol)
			for range 2 {
				_, err = e.Execute(t.Context(), stdioCall(manner, "pid", ""))
				require.NoError(t, err)
			}
		})
	}
}

func TestACommandThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()

	var log counter
	e, c := newStdio(t, mcpcall.Options{
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	_, err := e.Execute(t.Context(), stdioCall("dies", "pid", ""))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.Contains(t, err.Error(), "exit status 3")
	require.NoError(t, c.Close())
	require.Contains(t, log.String(), "no licence")
	require.NotContains(t, log.String(), plantedKey)
}

// What an operator puts into a command's environment is hidden as credentials
// are, but for variables that hold none.
func TestACommandsEnvironmentIsRedacted(t *testing.T) {
	t.Parallel()

	e, _ := newStdio(t, mcpcall.Options{})
	known := &secret.Redactor{}
	_, err := e.Execute(secret.WithRedactor(t.Context(), known), stdioCall("banner", "pid", ""))
	require.NoError(t, err)
	require.NotContains(t, known.Text("the key is "+plantedKey), plantedKey)
	require.Equal(t, "C.UTF-8", known.Text("C.UTF-8"))
}

func TestCallsOfARunTakeTurnsAtItsCommand(t *testing.T) {
	t.Parallel()

	e, _ := newStdio(t, mcpcall.Options{})
	pids := make([]string, 16)
	var wg sync.WaitGroup
	for i := range pids {
		wg.Go(func() {
			if res, err := e.Execute(t.Context(), stdioCall("pipes", "pid", "run-1")); err == nil {
				pids[i] = textOf(res)
			}
		})
	}
	wg.Wait()
	require.NotEmpty(t, pids[0])
	for _, pid := range pids {
		require.Equal(t, pids[0], pid)
	}
}

// Those who waited behind a call that broke its process go on with another.
func TestCallsBehindACrashGoOn(t *testing.T) {
	t.Parallel()

	e, _ := newStdio(t, mcpcall.Options{})
	ends := make([]error, 8)
	var wg sync.WaitGroup
	for i := range ends {
		name := "pid"
		if i%4 == 0 {
			name = "crash"
		}
		wg.Go(func() { _, ends[i] = e.Execute(t.Context(), stdioCall("pipes", name, "run-1")) })
	}
	wg.Wait()
	for i, err := range ends {
		if i%4 == 0 {
			require.Equal(t, tool.Unavailable, tool.KindOf(err))
		} else {
			require.NoError(t, err)
		}
	}
}

// counter is a log that several goroutines write.
type counter struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (c *counter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

func (c *counter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
