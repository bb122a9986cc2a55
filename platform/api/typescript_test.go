package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// handlers are those of a page or a program in JavaScript.
const handlers = `{
	pickSeat: async (call) => {
		switch (call.arguments.row) {
			case 1: return { seat: "1A" };
			case 2: throw new Error("no seat is free");
			default: return { seat: call.arguments.row };
		}
	},
}`

// program returns the path of a program that a test needs. The test is skipped where there is
// none, unless TOOLCRIB_REQUIRE_PROGRAMS is set.
func program(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("TOOLCRIB_REQUIRE_PROGRAMS") != "" {
		t.Fatalf("none of %v is on PATH", names)
	}
	t.Skipf("none of %v is on PATH", names)
	return ""
}

// begin starts a program and ends it with the test.
func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.WaitDelay = 10 * time.Second
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

func library(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../client/typescript/dist/index.js")
	require.NoError(t, err)
	return path
}

// The executor in TypeScript answers as that in Go does, in a process of its own.
func TestTypeScriptExecutor(t *testing.T) {
	t.Parallel()

	node := program(t, "node")
	b := setup(t)
	seats := b.outside(t, "pickSeat")
	file := filepath.Join(t.TempDir(), "answer.mjs")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
		import { Executor } from %q;
		await new Executor({ server: process.env.SERVER, key: process.env.KEY, handlers: %s }).run();
	`, "file://"+library(t), handlers), 0o600))
	cmd := exec.CommandContext(t.Context(), node, file)
	cmd.Env = append(os.Environ(), "SERVER="+b.url, "KEY="+b.Key(t, b.tenant, wait.SubmitPermission))
	begin(t, cmd)
	b.requireAnswers(t, seats)
}

// browserProfile makes a folder for a browser. Processes of a browser that was killed write into it for
// a moment longer, so that it is removed repeatedly.
func browserProfile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "toolcrib-browser-") //nolint:usetesting // It fails where a file appears while it removes.
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, 30*time.Second, 50*time.Millisecond)
	})
	return dir
}

// The same in a browser, on a page of another origin; and a page that has a token for one
// call only.
func TestTypeScriptInABrowser(t *testing.T) {
	t.Parallel()

	browser := program(t, "chromium", "chromium-browser", "google-chrome")
	pages := http.NewServeMux()
	site := httptest.NewServer(pages)
	t.Cleanup(site.Close)
	b := setup(t, func(c *api.Config) { c.AllowedOrigins = []string{site.URL} })
	seats := b.outside(t, "pickSeat")
	pages.HandleFunc("/index.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, library(t)) })
	page := func(path, script string) {
		pages.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, `<!doctype html><script type="module">%s</script>`, script)
		})
	}
	page("/executor", fmt.Sprintf(`
		import { Executor } from "/index.js";
		await new Executor({ server: %q, key: %q, handlers: %s }).run();
	`, b.url, b.Key(t, b.tenant, wait.SubmitPermission), handlers))
	open := func(path string) {
		begin(t, exec.CommandContext(t.Context(), browser,
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir="+browserProfile(t),
			"--remote-debugging-port=0", site.URL+path))
	}
	once := b.offers(t, seats)
	var token v1.SubmitToken
	b.do(t, http.MethodPost, "/v1/pending-tool-calls/"+once.ID+"/token", "{}").into(t, &token)
	page("/token", fmt.Sprintf(`
		import { answer } from "/index.js";
		const handlers = %s;
		await answer({ server: %q, key: %q }, %q, (call) => ({ seat: "token for row " + call.arguments.row }));
	`, handlers, b.url, token.Token, once.ID))
	open("/token")
	require.JSONEq(t, `{"seat":"token for row 12"}`, string(b.resolved(t, once).Result.Structured))
	open("/executor")
	b.requireAnswers(t, seats)
}

// requireAnswers fails unless the handlers above answer calls.
func (b *bundle) requireAnswers(t *testing.T, seats tool.VersionIdentity) {
	t.Helper()
	require.JSONEq(t, `{"seat":"1A"}`, string(b.resolved(t, b.offers(t, seats, 1)).Result.Structured))
	for row, want := range map[int]string{2: "no seat is free", 3: "the answer was refused"} {
		got := b.resolved(t, b.offers(t, seats, row))
		require.True(t, got.Result.IsError)
		require.Contains(t, got.Result.Content[0].Text, want)
	}
}

// resolved waits until a call has its result.
func (b *bundle) resolved(t *testing.T, c wait.Call) (found wait.Call) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		found, err = b.Store.FindCall(t.Context(), b.tenant, c.ID)
		require.NoError(t, err)
		return found.Status == wait.CallResolved
	}, time.Minute, 10*time.Millisecond)
	return found
}
