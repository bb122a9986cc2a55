package doctest_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/browsertest"
)

// ofNode are the programs of Node.js.
var ofNode = []string{"node", "nodejs", "npm", "npx", "corepack", "yarn", "pnpm", "bun", "deno"}

// readable is a folder that the user of the database may read too.
func readable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "toolcrib") //nolint:usetesting // t.TempDir is closed to the user of the database.
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// withoutNode is a folder with all programs of PATH but those of Node.js.
func withoutNode(t *testing.T) string {
	t.Helper()
	dir := readable(t)
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		programs, _ := os.ReadDir(from) // It may be missing.
		for _, p := range programs {
			if !slices.Contains(ofNode, p.Name()) { // What comes first in PATH is what is started.
				_ = os.Symlink(filepath.Join(from, p.Name()), filepath.Join(dir, p.Name()))
			}
		}
	}
	for _, name := range ofNode {
		require.NoFileExists(t, filepath.Join(dir, name))
	}
	return dir
}

// printed keeps what a command prints.
type printed struct {
	mu sync.Mutex
	bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Buffer.Write(b)
}

func (p *printed) text() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.Bytes())
}

// The command starts, and its console works in a browser, where there is no Node.js. No request leaves the server.
func TestTheConsoleNeedsNoNode(t *testing.T) {
	t.Parallel()

	tab := browsertest.Start(t)
	data := readable(t)
	self, err := os.Executable()
	require.NoError(t, err)
	var out, errs printed
	cmd := exec.CommandContext(t.Context(), self, "dev", "--data", filepath.Join(data, "d"), "--headless", "--json")
	cmd.Env = append(os.Environ(), commandVariable+"=toolcrib", "PATH="+withoutNode(t))
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, time.Minute
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // The context of the test ends before.
	var at struct {
		Server  string `json:"server"`
		Console string `json:"console"`
	}
	require.Eventually(t, func() bool { return json.Unmarshal(out.text(), &at) == nil }, 2*time.Minute,
		50*time.Millisecond, "%s", &errs.Buffer)
	server, err := url.Parse(at.Server)
	require.NoError(t, err)

	var mu sync.Mutex
	var asked, outside []string
	chromedp.ListenTarget(tab, func(event any) {
		e, ok := event.(*network.EventRequestWillBeSent)
		if !ok {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, e.Request.URL)
		to, err := url.Parse(e.Request.URL)
		if err != nil || to.Host != server.Host && to.Scheme != "data" && to.Scheme != "blob" {
			outside = append(outside, e.Request.URL)
		}
	})
	require.NoError(t, chromedp.Run(tab, network.Enable(), chromedp.Navigate(at.Console),
		browsertest.Until(`document.querySelector("main h1")?.innerText === "Overview"`),
		chromedp.Evaluate(`document.querySelector("nav a[href$='/tools']").click()`, nil),
		browsertest.Until(`location.pathname.endsWith("/tools") && document.querySelector("main h1")`),
		browsertest.Until(`document.querySelectorAll("tbody tr").length > 5`),
		browsertest.Click("tbody a"), browsertest.Until(`document.querySelector("aside h3, aside h2")`)))
	mu.Lock()
	defer mu.Unlock()
	require.NotEmpty(t, asked)
	require.Empty(t, outside)
}
