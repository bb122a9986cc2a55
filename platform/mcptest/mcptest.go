// Package mcptest helps to test against what others have made of the Model
// Context Protocol: its conformance suites, its inspector, the TypeScript SDK,
// and a server with tools of every sort. They are programs for Node, of
// versions that are pinned here. Tests are skipped, and say so, where there is
// no Node, or no registry to get them from the first time; with
// TOOLCRIB_REQUIRE_PROGRAMS they fail instead.
package mcptest

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

//go:embed node/package.json node/package-lock.json node/node20.mjs
var programs embed.FS

// files of [programs].
var files = []string{"package.json", "package-lock.json", "node20.mjs"}

const (
	installTimeout = 5 * time.Minute
	startTimeout   = 2 * time.Minute
)

// requireVariable is set where tests fail that lack a program.
const requireVariable = "TOOLCRIB_REQUIRE_PROGRAMS"

// Install returns Node and the folder that holds the programs, which is shared
// by all tests of this machine. It skips the test where it can't.
func Install(tb testing.TB) (node, folder string) {
	tb.Helper()
	lacks := tb.Skipf
	if os.Getenv(requireVariable) != "" {
		lacks = tb.Fatalf
	}
	node, err := exec.LookPath("node")
	if err != nil {
		lacks("SKIPPED: there is no Node on this machine, so nothing of others is tested against; install nodejs and npm")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		lacks("SKIPPED: there is no npm on this machine, so nothing of others is tested against; install npm")
	}
	folder, err = install(tb.Context(), npm)
	if err != nil {
		lacks("SKIPPED: the programs of others can't be installed, so nothing is tested against them: %v", err)
	}
	return node, folder
}

// Package returns the path of a file of an installed package, below the folder that [Install] returned.
func Package(folder, name, file string) string {
	return filepath.Join(folder, "node_modules", "@modelcontextprotocol", name, file)
}

func install(ctx context.Context, npm string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.New()
	for _, name := range files {
		raw, err := programs.ReadFile("node/" + name)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", name, err)
		}
		_, _ = sum.Write(raw)
	}
	folder := filepath.Join(cache, "toolcrib", "mcptest-"+hex.EncodeToString(sum.Sum(nil))[:16])
	if err := os.MkdirAll(filepath.Dir(folder), 0o750); err != nil {
		return "", fmt.Errorf("making a place for them: %w", err)
	}
	unlock, err := lock(folder + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), "mcptest-new-")
	if err != nil {
		return "", fmt.Errorf("making a place for them: %w", err)
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	for _, name := range files {
		raw, _ := programs.ReadFile("node/" + name)
		if err := os.WriteFile(filepath.Join(fresh, name), raw, 0o600); err != nil {
			return "", fmt.Errorf("writing %s: %w", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w: %s", err, tail(out))
	}
	if err := os.Rename(fresh, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("putting them in their place: %w", err)
	}
	return folder, nil
}

// lock waits until no other process installs.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // In the user's cache.
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("waiting for the lock: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

func tail(out []byte) []byte {
	const most = 2000
	return out[max(0, len(out)-most):]
}

// everything is the program of the server, below the folder.
var everything = filepath.Join("node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")

// EverythingCommand returns the program and arguments of a server over its
// pipes with tools of every sort, such as "echo". It skips the test where there
// is no Node.
func EverythingCommand(tb testing.TB) (path string, args []string) {
	tb.Helper()
	node, folder := Install(tb)
	return node, []string{filepath.Join(folder, everything), "stdio"}
}

// Everything starts the same server over streamable HTTP, for as long as the
// test goes on, and returns its URL. It skips the test where there is no Node.
func Everything(tb testing.TB) string {
	tb.Helper()
	node, folder := Install(tb)
	for try := 0; ; try++ {
		port := freePort(tb)
		log := &output{}
		cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), node, filepath.Join(folder, everything), //nolint:gosec // The machine's Node.
			"streamableHttp")
		cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
		cmd.Stdout, cmd.Stderr = log, log
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.WaitDelay = time.Second
		require.NoError(tb, cmd.Start())
		over := make(chan struct{})
		go func() { defer close(over); _ = cmd.Wait() }()
		tb.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-over
		})
		if listens(tb, log, over) {
			return fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
		}
		require.Less(tb, try, 5, "the server does not start: %s", log)
	}
}

// listens waits for a server, and reports false when its program ends: another
// one took its port.
func listens(tb testing.TB, log *output, over <-chan struct{}) bool {
	tb.Helper()
	deadline := time.After(startTimeout)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return false
		case <-deadline:
			require.Fail(tb, "the server did not answer in time")
		case <-tick.C:
		}
		if strings.Contains(log.String(), "listening on port") {
			return true
		}
	}
}

func freePort(tb testing.TB) int {
	tb.Helper()
	ln, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(tb, err)
	defer func() { _ = ln.Close() }()
	addr, ok := ln.Addr().(*net.TCPAddr)
	require.True(tb, ok)
	return addr.Port
}

// output keeps what a program says.
type output struct {
	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b...)
	return len(b), nil
}

// String implements [fmt.Stringer].
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(tail(o.text))
}
