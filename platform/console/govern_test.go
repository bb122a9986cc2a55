package console_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/usage"
)

func (s *site) governPages() []string {
	return []string{
		"/usage", "/usage?by=model&show=tokens", "/usage?by=day&show=calls", "/usage?open=" + s.Tool.Slug,
		"/usage?from=2020-01-01&to=2020-01-31",
	}
}

// fillGovern makes prices, and calls that cost what they say.
func (s *site) fillGovern(t *testing.T) {
	t.Helper()
	_, err := s.Store.SetPrice(t.Context(), usage.Price{
		Tenant: s.Tenant, ToolID: s.Tool.ID, Call: 1_250_001, ChangedBy: "user:ada",
	})
	require.NoError(t, err)
	for range 3 {
		s.spend(t)
	}
}

// awaited evaluates a promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// look keeps a picture of the page in a folder, if CONSOLE_LOOKS names one.
func (v *visitor) look(t *testing.T, name string) {
	t.Helper()
	if dir := os.Getenv("CONSOLE_LOOKS"); dir != "" {
		var picture []byte
		v.do(t, chromedp.FullScreenshot(&picture, 100))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600))
	}
}

// spend makes a call that ends, and costs.
func (s *site) spend(t *testing.T) {
	t.Helper()
	e := s.Lone(t)
	_, err := s.Store.Settle(t.Context(), storetest.Completed(e, s.Admit(t, e, true, true).Fence))
	require.NoError(t, err)
}

// What was used is shown exactly, as a chart, as text and as a file, and leads to the calls.
func TestAPersonReadsWhatWasUsed(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/usage")
	v.do(t, until(`document.querySelector(".tile strong").innerText === "3.750003"`))
	v.look(t, "usage")
	v.do(t,
		until(`document.querySelector(".plot canvas")`),
		until(`document.querySelector(".days-slider").getAttribute("aria-valuetext").includes("Spend 3.750003")`))
	// The day before is read with an arrow key.
	v.do(t, chromedp.Focus(".days-slider", chromedp.ByQuery), press(kb.ArrowLeft),
		until(`document.querySelector(".days-read").innerText.includes("`+
			time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)+`")`),
		until(`document.querySelector(".days-slider").getAttribute("aria-valuetext").includes("Spend 0.00")`))
	var file string
	v.do(t, chromedp.Evaluate(`(async () => {
		const made = URL.createObjectURL; let blob; URL.createObjectURL = (b) => { blob = b; return made.call(URL, b) };
		[...document.querySelectorAll("button")].find((b) => b.innerText === "Download CSV").click();
		return blob.text() })()`, &file, awaited))
	require.Contains(t, file, "tool,cost,calls,")
	require.Contains(t, file, v.Tool.Slug+",3.750003,3,0,")
	v.open(t, "/usage?by=tool")
	v.do(t, chromedp.Click(".split-list tbody a", chromedp.ByQuery), chromedp.WaitVisible("aside .small", chromedp.ByQuery),
		until(`document.querySelectorAll("aside .small tbody tr").length >= 3`),
		until(`document.querySelector("aside").innerText.split("1.250001").length === 4`))
	v.blameless(t)
}
