package devcmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
)

// The command starts everything, stops when it is interrupted, and finds its
// data and its key again.
func TestDev(t *testing.T) {
	t.Parallel()
	data := filepath.Join(folder(t), "data")
	var keys []string
	for range 2 {
		ctx, interrupt := context.WithCancel(t.Context())
		var out, errs buffer
		ended := make(chan int, 1)
		go func() {
			env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs}
			ended <- cli.Run(ctx, env, []string{"dev", "--data", data, "--headless", "--json"}, commands.New, operator.New,
				devcmd.New)
		}()
		var at struct {
			Server   string `json:"server"`
			Console  string `json:"console"`
			KeyFile  string `json:"key_file"`
			Approver string `json:"approver_key_file"`
		}
		require.Eventually(t, func() bool { return json.Unmarshal(out.Bytes(), &at) == nil }, time.Minute,
			20*time.Millisecond, "%s", &errs)
		key, err := os.ReadFile(at.KeyFile)
		require.NoError(t, err)
		info, err := os.Stat(at.KeyFile)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		keys = append(keys, string(key))
		approver, err := os.ReadFile(at.Approver)
		require.NoError(t, err)
		require.NotEqual(t, key, approver)

		c, err := client.New(client.Config{Server: at.Server, Key: strings.TrimSpace(string(key))})
		require.NoError(t, err)
		ready, err := c.Ready(t.Context())
		require.NoError(t, err)
		require.Equal(t, "ok", ready.Status)
		page, err := c.ListTools(t.Context(), client.ToolQuery{ToolType: "built_in"})
		require.NoError(t, err)
		require.NotEmpty(t, page.Items)
		c.Close()

		console, code, ok := strings.Cut(at.Console, "#k=")
		require.True(t, ok, at.Console)
		shown, err := http.Get(console)
		require.NoError(t, err)
		require.NoError(t, shown.Body.Close())
		require.Equal(t, http.StatusOK, shown.StatusCode)
		require.Contains(t, shown.Header.Get("Content-Security-Policy"), "script-src 'self'")
		require.Equal(t, http.StatusOK, signIn(t, at.Server, code))
		require.Equal(t, http.StatusUnauthorized, signIn(t, at.Server, code), "it signs in once")

		interrupt()
		select {
		case code := <-ended:
			require.Equal(t, cli.ExitOK, code, &errs)
		case <-time.After(time.Minute):
			require.Fail(t, "it does not stop", "%s", &errs)
		}
		require.NoFileExists(t, filepath.Join(data, "server"))
	}
	require.Equal(t, keys[0], keys[1])
}

// signIn signs a browser in with a code, and returns the status.
func signIn(t *testing.T, server, code string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/v1/session",
		strings.NewReader(`{"code":"`+code+`"}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Toolcrib", "1")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// A data folder that is in use is not used again.
func TestDevTwice(t *testing.T) {
	t.Parallel()
	var out, errs buffer
	env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs}
	code := cli.Run(t.Context(), env, []string{"dev", "--data", shared.dev.Stack().DataDir(), "--headless"},
		commands.New, operator.New, devcmd.New)
	require.Equal(t, cli.ExitConflict, code, &errs)
	require.Contains(t, errs.String(), "uses the data folder")
}

// buffer is a buffer that a command writes while a test reads.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}

func (b *buffer) String() string { return string(b.Bytes()) }

// folder returns a folder that the account of PostgreSQL can pass through.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "toolcrib-dev-") //nolint:usetesting // Nobody else may pass through a TempDir.
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
