package console_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// onNewPages has a script run in each page that the tab opens, before the page's own.
func (v *visitor) onNewPages(t *testing.T, script string) {
	t.Helper()
	v.do(t, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// What is shown stays where it is while the rest of a page arrives, whether the browser knows its files or not.
func TestPagesDoNotMove(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.onNewPages(t, `window.moved = []; new PerformanceObserver((list) => list.getEntries().forEach((e) => {
		if (!e.hadRecentInput) moved.push({by: e.value, what: e.sources.map((s) => [s.previousRect, s.currentRect].map((r) => r.x + "," + r.y).join(" to ") + " " +
			(s.node?.outerHTML ?? s.node?.textContent ?? "").slice(0, 120))});
	})).observe({type: "layout-shift", buffered: true});`)
	v.signIn(t)
	for _, cold := range []bool{true, false, false} {
		for _, path := range []string{"/tools", "/runs", "/agents", "/calls", "/inbox", "/inbox/inputs", ""} {
			if cold {
				v.do(t, network.ClearBrowserCache())
			}
			v.open(t, path)
			var moved []struct {
				By   float64
				What []string
			}
			v.do(t, until(`document.querySelector(".status.live")`), chromedp.Evaluate(
				`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(moved))))`, &moved, awaited))
			sum := 0.0
			for _, m := range moved {
				sum += m.By
			}
			require.LessOrEqual(t, sum, 0.02, "%s: %+v", path, moved)
		}
	}
	v.blameless(t)
}

// meddled counts what a page asks for under a path, has it fail while it is broken, and keeps whether the last of
// it was asked without a person.
const meddled = `window.asked = 0; window.asking = 0; window.broken = true; window.alone = ""; window.flashed = false;
const ask = window.fetch;
window.fetch = (to, how) => {
	if (!/[/]v1[/]runs[?]/.test(to)) return ask(to, how);
	asked++;
	alone = how.headers["X-Toolcrib-Background"] ?? "";
	if (!broken) return ask(to, how);
	asking++;
	return new Promise((done) => setTimeout(() => {
		asking--;
		done(new Response('{"code":"invalid","detail":"It is broken."}', {status: 422}));
	}, 300));
};
new MutationObserver(() => { if (document.querySelector("main .loading")) flashed = true; })
	.observe(document, {childList: true, subtree: true});`

// What failed stays to be seen while it is asked again, by the events of the tenant or by a person, up to an answer.
func TestWhatFailedStays(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	v := visit(t, s, browser(t))
	v.onNewPages(t, meddled)
	v.signIn(t)
	v.open(t, "/runs")
	const failed = `document.querySelector("main [role=alert]")?.innerText.includes("It is broken.")`
	v.do(t, until(failed), until(`document.querySelector(".status.live")`),
		chromedp.Evaluate(`flashed = false; asked = 0; Date.now = ((now) => () => now() + 60_000)(Date.now.bind(Date))`, nil))
	s.NewRun(t)
	v.do(t, until(`asked > 0 && alone === "1"`), until(failed))
	s.NewRun(t)
	v.do(t, until(`asked > 1 && asking === 0`), until(failed), until(`!flashed`))

	v.do(t, chromedp.Evaluate(`broken = false; asked = 0`, nil),
		click("main [role=alert] .button"), until(`document.querySelector("tbody tr")`), until(`!flashed && alone === ""`))
	v.blameless(t)
}

// A result of more than a mebibyte is read when it is asked for, with its numbers and texts as they were written.
func TestALargeResultIsReadOnDemand(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	id := uuid.NewString()
	_, err := s.Conn(t).Exec(t.Context(), `insert into tool_invocations (id, tenant_id, run_id, turn, call_id, tool, mode,
			status, input, output, created_at, started_at, completed_at)
		select $3, $1, $2, 1, 'large', 'searchOrders', 'production', 'completed', '{}',
			(select '{"structured":{"said":"a \"large\" one\u0021","ids":[' || string_agg('9223372036854775807', ',') || ']}}'
				from generate_series(1, 60000))::json, now(), now(), now()`, s.Tenant, s.Run.ID, id)
	require.NoError(t, err)
	v := visit(t, s, browser(t))
	v.signIn(t)
	v.open(t, "/calls?open="+id)
	v.do(t, until(`document.querySelector("aside").innerText.includes("The result has 1.1 MiB")`),
		click("aside .notice .button"),
		until(`document.querySelector("aside").innerText.includes("59900 more")`),
		until(`document.querySelector("aside").innerText.includes("9223372036854775807")`),
		until(`document.querySelector("aside").innerText.includes(JSON.stringify('a "large" one!'))`),
		click(`//aside//*[@aria-label="Result"]//button[text()="Text"]`),
		until(`document.querySelector("aside [aria-label=Result] pre").textContent.length > 100000`))
	v.blameless(t)
}
