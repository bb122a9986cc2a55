// Package browsertest starts browsers for tests of pages, and waits for what pages show.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// limit bounds how long a browser lives.
const limit = 20 * time.Minute

// Start starts Chromium for a test, with a window of its own, and stops it with the test. The test is skipped
// where there is no browser, and fails there if TOOLCRIB_REQUIRE_PROGRAMS is set.
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], //nolint:gocritic // An array: it is not changed.
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-dev-shm-usage", true))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Run(ctx))
	return ctx
}

// Until waits for a condition of the page, an expression of JavaScript. The page may be another one by then.
func Until(condition string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			var holds bool
			if err := chromedp.Evaluate("!!("+condition+")", &holds).Do(ctx); err == nil && holds {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("waiting until %s: %w", condition, ctx.Err())
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}
