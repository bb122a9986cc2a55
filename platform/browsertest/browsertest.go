// Package browsertest starts browsers for tests of pages, waits for what pages show, and presses and types there.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// limit bounds how long a test may keep its tabs.
const limit = 20 * time.Minute

// shared is the browser of the tests that run now. It ends with the last of them.
var shared struct {
	sync.Mutex

	tests  int
	ctx    context.Context //nolint:containedctx // Of the browser.
	cancel func()
}

// Start returns what tabs of a test are made with: cookies, storage and caches of its own in a browser, Chromium,
// that the tests of a package share while they run. The test is skipped where there is no browser, and fails there
// if TOOLCRIB_REQUIRE_PROGRAMS is set.
func Start(t *testing.T) context.Context {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	switch {
	case program != "":
	case os.Getenv("TOOLCRIB_REQUIRE_PROGRAMS") != "":
		t.Fatal("no browser is on PATH: apt-get install chromium")
	default:
		t.Skip("no browser is on PATH: apt-get install chromium, to test pages")
	}
	started, err := join(program)
	t.Cleanup(leave)
	require.NoError(t, err)
	own, err := isolate(t, started)
	require.NoError(t, err)
	ctx, cancel := chromedp.NewContext(started, chromedp.WithExistingBrowserContext(own))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Run(ctx))
	return ctx
}

// join starts the browser for the first test. One that ends while it starts, as it may on a busy machine, is started
// again.
func join(program string) (context.Context, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.tests++; shared.ctx != nil && shared.ctx.Err() == nil {
		return shared.ctx, nil
	}
	var failed error
	for range starts {
		ctx, stop, err := start(program)
		if err == nil {
			shared.ctx, shared.cancel = ctx, stop //nolint:fatcontext // There is one at a time.
			return ctx, nil
		}
		stop()
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

const starts = 3

func start(program string) (ctx context.Context, stop func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], //nolint:gocritic // An array: it is not changed.
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-dev-shm-usage", true))
	// It outlives the test that starts it.
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	stop = func() {
		end()
		release()
	}
	return ctx, stop, chromedp.Run(ctx)
}

// isolate makes cookies and storage of their own, with a window: the browser opens no tab without one.
func isolate(t *testing.T, started context.Context) (cdp.BrowserContextID, error) { //nolint:revive // The browser's.
	t.Helper()
	ctx := cdp.WithExecutor(started, chromedp.FromContext(started).Browser)
	own, err := target.CreateBrowserContext().Do(ctx)
	if err != nil {
		return "", fmt.Errorf("making a context of the browser: %w", err)
	}
	t.Cleanup(func() { _ = target.DisposeBrowserContext(own).Do(ctx) })
	if _, err := target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(ctx); err != nil {
		return "", fmt.Errorf("opening a window: %w", err)
	}
	return own, nil
}

// leave stops the browser after the last test.
func leave() {
	shared.Lock()
	defer shared.Unlock()
	if shared.tests--; shared.tests == 0 && shared.ctx != nil {
		shared.cancel()
		shared.ctx = nil //nolint:fatcontext // It has ended.
	}
}
