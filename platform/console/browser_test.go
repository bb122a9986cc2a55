package console_test

import (
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/appframe"
	"github.com/toolcrib/toolcrib/platform/browsertest"
	"github.com/toolcrib/toolcrib/wait"
)

// axe finds faults of accessibility. It is not in what is shipped.
//
//go:embed testdata/axe.min.js
var axe string

// browser returns what tabs of one visitor are made with.
func browser(t *testing.T) context.Context {
	t.Helper()
	return browsertest.Start(t)
}

// visitor is a tab that is signed in, with what its pages did that they must not.
type visitor struct {
	*site
	ctx context.Context //nolint:containedctx // Of the tab.

	mu     sync.Mutex
	faults []string
}

func visit(t *testing.T, s *site, started context.Context) *visitor { //nolint:revive // The browser's.
	t.Helper()
	tab, cancel := chromedp.NewContext(started)
	t.Cleanup(cancel)
	v := &visitor{site: s, ctx: tab}
	origin, err := url.Parse(s.url)
	require.NoError(t, err)
	fault := func(text string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.faults = append(v.faults, text)
	}
	chromedp.ListenTarget(tab, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			to, err := url.Parse(e.Request.URL)
			switch {
			case err == nil && s.content != "" && to.Host == s.content && to.Path == appframe.Path:
			case err != nil || to.Host != origin.Host && to.Scheme != "data" && to.Scheme != "blob":
				fault("a request leaves: " + e.Request.URL)
			case to.Host == origin.Host && to.Path != origin.Path && !strings.HasPrefix(to.Path, origin.Path+"/"):
				fault("a request leaves the prefix: " + e.Request.URL)
			}
		case *log.EventEntryAdded:
			if e.Entry.Source == log.SourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
				fault("the policy is broken: " + e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			fault("an exception: " + e.ExceptionDetails.Error())
		}
	})
	require.NoError(t, chromedp.Run(tab, network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetFocusEmulationEnabled(true))) // There are tabs of other tests.
	return v
}

// do takes steps in the tab.
func (v *visitor) do(t *testing.T, steps ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, time.Minute)
	defer cancel()
	err := chromedp.Run(ctx, steps...)
	if err != nil {
		var at, body string
		_ = chromedp.Run(v.ctx, chromedp.Location(&at), chromedp.Evaluate(`document.body.innerText`, &body))
		require.NoError(t, err, "at %s:\n%s\n%s", at, body, strings.Join(v.faults, "\n"))
	}
}

// atHome holds on the page that a person comes to who signs in: the overview of their tenant.
const atHome = `/\/t\/[^/]+\/?$/.test(location.pathname)`

// signIn opens the address that signs in once.
func (v *visitor) signIn(t *testing.T) {
	t.Helper()
	v.do(t, chromedp.Navigate(v.url+"/login#k="+code), until(atHome), settled())
	v.do(t, until(`location.hash === ""`))
}

// open opens a page of the tenant.
func (v *visitor) open(t *testing.T, path string) {
	t.Helper()
	v.do(t, chromedp.Navigate(v.url+"/t/"+v.slug+path), chromedp.WaitVisible("h1", chromedp.ByQuery), settled())
}

// until waits for a condition of the page, which may be another one by then.
func until(condition string) chromedp.Action { return browsertest.Until(condition) }

// click, focus and typed act on the first element of a CSS selector or an XPath, as soon as it stands still.
func click(selector string) chromedp.Action { return browsertest.Click(selector) }
func focus(selector string) chromedp.Action { return browsertest.Focus(selector) }

func typed(selector, text string) chromedp.Action { return browsertest.Type(selector, text) }

// settled waits until nothing loads.
func settled() chromedp.Action {
	return until(`document.querySelector("h1") && !document.querySelector(".loading")`)
}

// press presses keys as a keyboard does: the text of a key is a part of its press, so that a page that
// takes the press gets no text.
func press(keys ...string) chromedp.Tasks {
	var tasks chromedp.Tasks
	for _, k := range keys {
		if k < "!" || k > "~" {
			tasks = append(tasks, chromedp.KeyEvent(k))
			continue
		}
		tasks = append(tasks, input.DispatchKeyEvent(input.KeyDown).WithKey(k).WithText(k),
			input.DispatchKeyEvent(input.KeyUp).WithKey(k))
	}
	return tasks
}

func (v *visitor) blameless(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	require.Empty(t, v.faults)
}

// A person signs in by the address that is printed, finds a tool, looks at it beside the list, and comes
// back, with the keyboard alone and under any prefix.
//
//nolint:tparallel,paralleltest,contextcheck // One browser, one tab after another, with the context of the test.
func TestAPersonFindsATool(t *testing.T) {
	t.Parallel()

	started := browser(t)
	for name, prefix := range map[string]string{"AtTheRoot": "", "UnderAPrefix": "/a/b"} {
		t.Run(name, func(t *testing.T) {
			v := visit(t, newSite(t, prefix), started)
			v.signIn(t)
			v.do(t, until(`document.title === "Overview · Toolcrib"`), press("g", "t"),
				until(`document.activeElement.tagName === "H1" && document.title === "Tools · Toolcrib"`), settled())

			v.do(t, press("/", "r", "e", "f", "u", "n", "d"), until(`document.querySelectorAll("tbody tr").length === 1`),
				until(`location.search === "?search=refund"`))
			v.do(t, chromedp.Evaluate(`document.activeElement.blur()`, nil))
			v.do(t, press("j", kb.Enter), until(`location.search.includes("open=refundOrder")`),
				chromedp.WaitVisible("aside.drawer h3", chromedp.ByQuery))
			v.do(t, press(kb.Escape), until(`!document.querySelector("aside")`),
				until(`document.activeElement.closest("tr")`))
			v.do(t, chromedp.NavigateBack(), settled())

			v.open(t, "/tools?search=refund&open=refundOrder")
			v.do(t, click(`aside .button`),
				until(`location.pathname.endsWith("/tools/refundOrder")`), settled())
			for tab, shows := range map[string]string{
				"input": "Number of the order", "versions": "2.1.0", "explain": "would run",
			} {
				v.open(t, "/tools/refundOrder?tab="+tab)
				v.do(t, until(`document.querySelector("main").innerText.includes("`+shows+`")`))
			}

			v.do(t, press("g", "r"), until(`location.pathname.endsWith("/runs")`), settled())
			v.do(t, press("?"), chromedp.WaitVisible(`[role=dialog]`, chromedp.ByQuery), press(kb.Escape),
				until(`!document.querySelector("[role=dialog]")`))
			v.do(t, click(".find"), chromedp.WaitVisible(`[role=combobox]`, chromedp.ByQuery),
				typed(`[role=combobox]`, "trackPar"),
				until(`document.querySelector("[role=option]")?.innerText.includes("trackParcel")`), press(kb.Enter),
				until(`location.pathname.endsWith("/tools/trackParcel")`))

			// What an address says is quoted where it is to be copied into a terminal.
			v.open(t, "/tools?search="+url.QueryEscape("a';id"))
			v.do(t, until(`document.querySelector(".hints").textContent.includes("--search 'a'\\'';id'")`))
			v.blameless(t)
		})
	}
}

// What opens a request decides nothing; a person decides in a dialog, and the record has the reason.
func TestAPersonDecides(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/inbox?order=oldest")
	v.do(t, click("tbody a"), chromedp.WaitVisible("aside .button.danger", chromedp.ByQuery),
		until(`document.querySelector("aside").innerText.includes("9007199254740993")`))
	pending, err := v.Store.ListApprovals(t.Context(), wait.Query{Tenant: v.Tenant, Limit: 10})
	require.NoError(t, err)
	asked := pending[len(pending)-1]
	require.Equal(t, wait.Pending, asked.Status, "it was only opened")

	v.do(t, press("r"), chromedp.WaitVisible(`[role=alertdialog] textarea`, chromedp.ByQuery),
		typed(`[role=alertdialog] textarea`, "The order was refunded already."),
		click(`[role=alertdialog] button[type=submit]`),
		until(`document.querySelector("aside").innerText.includes("refunded already")`))
	decided, err := v.Store.FindApproval(t.Context(), v.Tenant, asked.ID)
	require.NoError(t, err)
	require.Equal(t, wait.Rejected, decided.Status)
	require.Equal(t, "The order was refunded already.", decided.Decisions[0].Reason)
	v.blameless(t)
}

// Numbers are shown as they were written, of a run as of a call.
func TestARunIsShown(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/runs/"+v.Run.ID)
	v.do(t, until(`document.querySelectorAll(".said").length >= 4`),
		until(`document.querySelector(".transcript").innerText.includes("Where is my order?")`))
	v.open(t, "/runs/"+v.Run.ID+"?tab=calls")
	v.do(t, click("tbody a"), chromedp.WaitVisible("aside .json", chromedp.ByQuery),
		until(`document.querySelector("aside").innerText.includes("9007199254740993")`))
	v.open(t, "/runs/"+unknownRun)
	v.do(t, until(`document.querySelector("main").innerText.includes("is not here")`))
	v.blameless(t)
}

const unknownRun = "01975c2e-7d1a-7c3e-9f00-0000000000c1"

// look is how a page is seen.
type look struct {
	scheme string
	width  int64
}

// looks are those that every page is checked in: each scheme and each width, and with -prefix each with the other.
func looks() []look {
	all := []look{{"light", 1280}, {"dark", 320}}
	if *under != "" {
		all = append(all, look{"light", 320}, look{"dark", 1280})
	}
	return all
}

// No page has a fault of accessibility that axe finds, in light and dark, wide and narrow, and none is wider than the
// screen. Every page works under a prefix, behind a proxy that has another site at its root: it asks for nothing
// outside, and no link leads there.
//
//nolint:tparallel,paralleltest,contextcheck // One browser, one tab after another, with the context of the test.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, "/a/b"), browser(t)
	for _, a := range areas() {
		t.Run(a.name, func(t *testing.T) {
			v := visit(t, s, started)
			v.signIn(t)
			for _, page := range a.pages(s) {
				v.open(t, page)
				for _, l := range looks() {
					v.do(t, emulation.SetDeviceMetricsOverride(l.width, 800, 1, false), emulation.SetEmulatedMedia().
						WithFeatures([]*emulation.MediaFeature{
							{Name: "prefers-color-scheme", Value: l.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
						}), settled())
					v.accessible(t, l.scheme, page)
				}
				v.staysInside(t, page)
			}
			v.blameless(t)
		})
	}
	v := visit(t, s, started)
	v.do(t, chromedp.Navigate(v.url+"/login"), settled())
	v.accessible(t, "dark", "/login")
	v.blameless(t)
}

// staysInside fails where the page has a link of its server that is not under the prefix.
func (v *visitor) staysInside(t *testing.T, page string) {
	t.Helper()
	var outside []string
	v.do(t, chromedp.Evaluate(`[...document.querySelectorAll("a[href], form[action], img[src]")]
		.map((e) => e.href ?? e.src ?? e.action)
		.filter((at) => at.startsWith(location.origin) && !at.startsWith("`+v.url+`/"))`, &outside))
	require.Empty(t, outside, page)
}

func (v *visitor) accessible(t *testing.T, where ...string) {
	t.Helper()
	const edge = `var right = (e) => Math.floor(e.getBoundingClientRect().right);` // Without the room of a scroll bar.
	const run = `axe.run({
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"],
	}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html + " " + n.failureSummary)).concat(
			document.documentElement.scrollWidth > right(document.body) ? ["the page is wider than the screen: " +
				[...document.querySelectorAll("body *")].filter((e) => right(e) > right(document.body) + 1)
					.map((e) => e.outerHTML.slice(0, 160)).slice(0, 8).join("\n")] : []))`
	var found []string
	v.do(t, chromedp.Evaluate("if (!window.axe) {"+axe+"}", nil), chromedp.Evaluate(edge+run, &found,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	require.Empty(t, found, "%v", where)
}

// The address that signs in does so in a tab that has the page of signing in open, where it changes the fragment alone.
func TestSigningInWhereThePageIsOpen(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.do(t, chromedp.Navigate(v.url+"/login"), settled(), chromedp.Evaluate("location.hash = \"k="+code+"\"", nil),
		until(atHome), settled())
	v.do(t, until(`location.hash === ""`))
}

// A tab in which the person signed out shows nothing of the tenant any more, nor does the tab before.
// Who has to sign in for a page comes back to it, with its filters.
func TestSigningInComesBack(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.do(t, chromedp.Navigate(v.url+"/t/"+v.slug+"/calls?status=failed&tool=countStock"),
		until(`location.pathname.endsWith("/login")`), settled(), chromedp.Evaluate("location.hash = \"k="+code+"\"", nil),
		until(`location.pathname.endsWith("/calls")`), until(`location.search === "?status=failed&tool=countStock"`), settled())
}

func TestSigningOut(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.do(t, click(".out"), until(`location.pathname.endsWith("/login")`), settled())
	v.do(t, chromedp.Evaluate(`history.back()`, nil),
		until(`location.pathname.endsWith("/login") && !document.body.innerText.includes("countStock")`))
	answer, err := http.Get(v.url + "/v1/me")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
}
