package console_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// signInWith signs in with a key, beside the tenants that the browser is signed in to, and returns the tenant.
func (v *visitor) signInWith(t *testing.T, key string) string {
	t.Helper()
	var slug string
	v.do(t, chromedp.Navigate(v.url+"/login"), settled(), typed("#key", key+kb.Enter),
		until(atHome), settled(),
		chromedp.Evaluate(`location.pathname.split("/").filter((x) => x).at(-1)`, &slug))
	return slug
}

// theirs are ids of another tenant, by the pages that name something of the kind.
func theirs(t *testing.T, s *site) map[string][]string {
	t.Helper()
	other := storetest.NewFixture(t, s.Database)
	asked := other.Ask(t, other.Request(t, other.EntryOf(other.Run, other.Turn, "effect-theirs")))
	other.Turn = other.NewTurn(t, other.Run, 2)
	offered := other.Offered(t, nil)
	key, err := other.Store.Authenticate(t.Context(), other.Key(t, other.Tenant, "runs.read"))
	require.NoError(t, err)
	call := other.Turn.Calls[0].InvocationID
	return map[string][]string{
		other.Run.ID: {
			"/runs/ID", "/runs/ID?tab=timeline", "/runs/ID?tab=calls", "/runs/ID?tab=events", "/runs/ID?tab=files",
			"/runs/ID?tab=plan", "/runs/ID?tab=graph",
		},
		other.Tool.ID: {
			"/tools/ID", "/tools/ID?tab=test", "/tools/ID?tab=versions", "/tools/ID?tab=explain", "/tools/ID?tab=users",
			"/tools/ID/edit", "/tools/ID/graph/edit", "/tools?open=ID",
		},
		other.Agent.ID: {"/agents/ID", "/agents/ID?tab=tools", "/agents?open=ID"},
		asked.ID:       {"/inbox?open=ID"},
		offered.ID:     {"/inbox/calls?open=ID", "/inbox/inputs?open=ID"},
		call:           {"/calls?open=ID"},
		key.ID:         {"/access?open=ID"},
		string(other.Tenant): {
			"/spaces/ID", "/sessions/ID", "/pipelines/ID", "/mcp-servers/ID", "/credentials?open=ID", "/webhooks?open=ID",
			"/schedules?open=ID", "/published?open=ID", "/audit?open=ID", "/profiles?open=ID",
		},
	}
}

// ago are times as pages show them.
var ago = regexp.MustCompile(`(in )?\d+ (sec|s|min|hr|days?)\b\.?( \d+ s)?( ago)?|\bnow\b`)

// What is of another tenant looks as what does not exist: on each page that can name it, and in the answers to all that
// those pages ask.
func TestWhatIsForeignLooksAbsent(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	foreign := theirs(t, s)
	v := visit(t, s, browser(t))
	v.signIn(t)
	var mu sync.Mutex
	asked := map[string]bool{}
	chromedp.ListenTarget(v.ctx, func(event any) {
		e, ok := event.(*network.EventRequestWillBeSent)
		if !ok || e.Request.Method != http.MethodGet || !strings.Contains(e.Request.URL, "/v1/") {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		asked[e.Request.URL] = true
	})
	const shown = `(document.querySelector("main aside") ?? document.querySelector("main")).innerText`
	seen := 0
	for id, pages := range foreign {
		absent := id[:len(id)-3] + "fff"
		if strings.HasSuffix(id, "fff") {
			absent = id[:len(id)-3] + "000"
		}
		look := func(page, id string) string {
			v.open(t, strings.ReplaceAll(page, "ID", id))
			text := v.says(t, shown, "is not here")
			text = ago.ReplaceAllString(text, "T")
			return strings.ReplaceAll(strings.ReplaceAll(text, id, "ID"), id[len(id)-12:], "END")
		}
		for _, page := range pages {
			first := look(page, id)
			require.Equal(t, look(page, absent), first, page)
			if !strings.Contains(page, "open=") {
				require.Contains(t, first, "is not here", page)
			}
			seen++
		}
		mu.Lock()
		var all []string
		for at := range asked {
			if strings.Contains(at, id) && !strings.Contains(at, "/v1/stream") {
				all = append(all, at)
			}
		}
		mu.Unlock()
		slices.Sort(all)
		for _, at := range all {
			of, than := v.fetch(t, at, s.slug), v.fetch(t, strings.ReplaceAll(at, id, absent), s.slug)
			require.Equal(t, strings.ReplaceAll(than, absent, "ID"), strings.ReplaceAll(of, id, "ID"), at)
			seen++
		}
	}
	require.Greater(t, seen, 40)

	// So does the tenant itself, to a browser that is not signed in to it.
	found, err := s.Store.FindTenant(t.Context(), s.Database.Tenant(t))
	require.NoError(t, err)
	for _, slug := range []string{found.Slug, "no-such-tenant"} {
		v.do(t, chromedp.Navigate(v.url+"/t/"+slug+"/runs"), until(`location.pathname.endsWith("/login")`), settled())
	}
	require.Equal(t, v.fetch(t, s.url+"/v1/runs", "no-such-tenant"), v.fetch(t, s.url+"/v1/runs", found.Slug))
}

// says returns a text of the page: once it has some words, and for a list that never has them, after a while.
func (v *visitor) says(t *testing.T, expression, words string) string {
	t.Helper()
	var text string
	for range 40 {
		v.do(t, until(`!document.querySelector(".loading, [aria-busy=true]")`), chromedp.Evaluate(expression, &text))
		if strings.Contains(text, words) {
			break
		}
		v.do(t, chromedp.Sleep(50*time.Millisecond))
	}
	return text
}

// fetch asks with the session of the browser, and returns the status and the answer without its trace.
func (v *visitor) fetch(t *testing.T, at, tenant string) string {
	t.Helper()
	raw, err := json.Marshal([]string{at, tenant})
	require.NoError(t, err)
	var out string
	v.do(t, chromedp.Evaluate(`(async (at, tenant) => {
		const answer = await fetch(at, { headers: { "X-Toolcrib-Tenant": tenant, Accept: "application/json" } });
		return answer.status + " " + (await answer.text()).replace(/"trace_id":"[^"]*"/, "");
	})(...`+string(raw)+`)`, &out, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return out
}

// Each tab stays in its tenant: another tab that goes to another one changes nothing of what it shows, and of where
// it writes to.
func TestTabsKeepTheirTenants(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	one, two := visit(t, s, started), visit(t, s, started)
	one.signIn(t)
	two.open(t, "/runs/"+s.Run.ID)
	other := s.Database.Tenant(t)
	slug := one.signInWith(t, s.Key(t, other, "*"))
	require.NotEqual(t, s.slug, slug)
	two.do(t, settled(), until(`location.pathname.includes("/t/`+s.slug+`/")`),
		click(`//button[text()="Pause…"]`), chromedp.WaitVisible("#control", chromedp.ByQuery),
		typed("#control", "Of this tenant."),
		click(`[role=alertdialog] button[type=submit]`),
		until(`document.querySelector("main").innerText.includes("Of this tenant.")`))
	paused, err := s.Store.FindRun(t.Context(), s.Tenant, s.Run.ID)
	require.NoError(t, err)
	require.NotNil(t, paused.Paused)
	two.do(t, press("g", "t"), until(`document.querySelector("h1")?.innerText === "Tools"`), settled(),
		until(`document.querySelector("main").innerText.includes("countStock")`))
	one.do(t, until(`!document.querySelector("main").innerText.includes("countStock")`))

	// The tab that goes from one to the other shows nothing of the one before.
	one.do(t, chromedp.Navigate(one.url+"/t"), settled(), until(`document.querySelectorAll(".choices a").length === 2`),
		click(`//a[contains(@href,"/t/`+s.slug+`")]`), until(`document.title === "Overview · Toolcrib"`),
		settled(), press("g", "t"), until(`document.querySelector("main").innerText.includes("countStock")`),
		click(".tenant"), until(`document.querySelectorAll(".choices a").length === 2`),
		click(`//a[contains(@href,"/t/`+slug+`")]`), until(`document.title === "Overview · Toolcrib"`),
		settled(), press("g", "t"), until(`location.pathname === "`+s.prefix+`/t/`+slug+`/tools"`), settled(),
		until(`!document.body.innerText.includes("countStock")`))
	one.blameless(t)
	two.blameless(t)
}

// Signing out ends all tabs of a browser: none shows anything more, and going back shows nothing.
func TestAllTabsSignOut(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	one, two := visit(t, s, started), visit(t, s, started)
	one.signIn(t)
	one.open(t, "/tools/countStock")
	two.open(t, "/tools/refundOrder?tab=versions")
	two.do(t, until(`Object.keys(sessionStorage).length > 0`))
	one.do(t, chromedp.Evaluate(`localStorage.setItem("kept", "here")`, nil)) // The pages leave it: Clear-Site-Data does not.
	one.do(t, click(".out"), until(`location.pathname.endsWith("/login")`), settled())
	two.do(t, until(`location.pathname.endsWith("/login")`), settled())
	for _, v := range []*visitor{one, two} {
		v.do(t, until(`localStorage.getItem("kept") === null`), until(`Object.keys(sessionStorage).every((k) => !k.startsWith("toolcrib.recent"))`),
			chromedp.Evaluate(`history.back()`, nil),
			until(`location.href === "about:blank" || location.pathname.endsWith("/login") && document.querySelector("#key")`),
			until(`!/refundOrder|countStock/.test(document.documentElement.innerHTML)`))
	}
	sessions, err := s.Store.ListWebSessions(t.Context(), s.Tenant, store.SessionQuery{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, sessions)
}

// Where a browser signs in again to a tenant, its other tabs show what the new session sees.
func TestTabsFollowAnotherSession(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	one, two := visit(t, s, started), visit(t, s, started)
	one.signIn(t)
	two.open(t, "/tools")
	two.do(t, until(`document.querySelector("main").innerText.includes("countStock")`))
	one.signInWith(t, s.Key(t, s.Tenant, "runs.read"))
	two.do(t, until(`!document.body.innerText.includes("countStock")`), until(`document.querySelector(".nav-off")`))
}
