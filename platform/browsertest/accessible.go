package browsertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Check is an expression that returns the faults of accessibility that axe finds in a page, and what is wider than the
// screen. It takes the script of axe before it.
const Check = `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] })
	.then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html + " " + n.failureSummary))
		.concat(document.documentElement.scrollWidth > innerWidth ? ["the page is wider than the screen"] : []))`

// Axe returns the script that finds faults of accessibility. It is called by tests of packages beside the console.
func Axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "console", "testdata", "axe.min.js"))
	require.NoError(t, err)
	return string(script)
}

// Screen is a tab of a width, light or dark.
func Screen(width int64, scheme string) chromedp.Tasks {
	return chromedp.Tasks{
		emulation.SetDeviceMetricsOverride(width, 800, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
	}
}

// Accessible fails for a page in which axe finds a fault, or that is wider than the screen: light and dark, on a wide
// screen and on one of 320 pixels. The page is prepared by steps after it was opened.
func Accessible(ctx context.Context, t *testing.T, address string, steps ...chromedp.Action) {
	t.Helper()
	axe := Axe(t)
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 320} {
			var found []string
			all := append(chromedp.Tasks{Screen(width, scheme), chromedp.Navigate(address)}, steps...)
			all = append(all, chromedp.Evaluate(axe, nil), chromedp.Evaluate(Check, &found,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			require.NoError(t, chromedp.Run(tab, all), address)
			require.Empty(t, found, "%s, %s, %d pixels", address, scheme, width)
		}
	}
}
