package console_test

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
)

// fillStream makes nothing: what others make is seen at a glance.
func (s *site) fillStream(*testing.T) {}

func (s *site) streamPages() []string { return []string{""} }

// isLive says that a tab follows what happens.
const isLive = `document.querySelector(".foot .live .status")?.classList.contains("live")`

// counts waits until a tab shows how much waits for a person.
func counts(n int64) chromedp.Action {
	return until(fmt.Sprintf(`parseInt(document.querySelector("nav .count")?.innerText) === %d`, n))
}

// waiting returns how much waits for a person.
func (s *site) waiting(t *testing.T) int64 {
	t.Helper()
	found, err := s.Store.Overview(t.Context(), s.Tenant, time.Now())
	require.NoError(t, err)
	w := found.Waiting
	return w.Approvals + w.Calls + w.Inputs + w.Quarantined
}

// asks makes a request for approval.
func (s *site) asks(t *testing.T, turn int) {
	t.Helper()
	waits := s.NewTurn(t, s.Run, turn)
	e := s.EntryOf(s.Run, waits, "effect-"+uuid.NewString())
	s.Fixture.Turn = waits
	s.Ask(t, s.Request(t, e))
}

// streaming waits until so many streams are open at the server.
func (s *site) streaming(n int64) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for s.streams.Load() != n {
			if err := until("true").Do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// All tabs of a browser share one stream. What happens is seen in each without a reload, also after the tab that
// holds the stream is closed, and after the network was away.
func TestTabsShareAStream(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	one, two := visit(t, s, started), visit(t, s, started)
	one.signIn(t)
	waits := s.waiting(t)
	one.do(t, until(isLive), counts(waits))
	two.open(t, "/runs")
	two.do(t, until(isLive), counts(waits), s.streaming(1))
	s.asks(t, 3)
	two.do(t, counts(waits+1))
	one.do(t, counts(waits+1))
	require.EqualValues(t, 1, s.streams.Load(), "one connection for both tabs")

	one.blameless(t)
	one.do(t, chromedp.ActionFunc(func(context.Context) error { return chromedp.Cancel(one.ctx) })) //nolint:contextcheck // The tab's.
	s.asks(t, 4)
	two.do(t, counts(waits+2), until(isLive), s.streaming(1))

	two.blameless(t) // What follows are failures of requests.
	two.do(t, offline(true), chromedp.ActionFunc(func(context.Context) error { s.cut(); return nil }),
		until("!("+isLive+")"))
	s.asks(t, 5)
	s.asks(t, 6)
	two.do(t, offline(false), counts(waits+4), until(isLive))
}

func offline(is bool) chromedp.Action {
	return network.EmulateNetworkConditions(is, 0, -1, -1)
}

// As many tabs as one likes load: they hold one connection, and browsers open six.
func TestTenTabsLoad(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	first := visit(t, s, started)
	first.signIn(t)
	tabs := []*visitor{first}
	for range 9 {
		v := visit(t, s, started)
		v.open(t, "/inbox")
		tabs = append(tabs, v)
	}
	for _, v := range tabs {
		v.do(t, until(isLive))
		v.blameless(t)
	}
	require.EqualValues(t, 1, s.streams.Load())
}

// What models write is seen in as many tabs as one likes, each with another run, by one connection; it goes on where it
// was after that broke, and when the tab that holds it is closed.
func TestTenTabsFollowRuns(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	first := visit(t, s, started)
	first.signIn(t)
	var tabs []*visitor
	var runs []string
	for range 10 {
		v, run := visit(t, s, started), s.NewRun(t)
		v.open(t, "/runs/"+run.ID)
		v.do(t, until(isLive))
		tabs, runs = append(tabs, v), append(runs, run.ID)
	}
	write := func(text string) {
		t.Helper()
		for i, run := range runs {
			require.NoError(t, s.Store.AppendOutput(t.Context(), agent.Output{
				Tenant: s.Tenant, RunID: run, Turn: 1, Attempt: 1, Text: fmt.Sprintf("%s %d. ", text, i),
			}))
		}
	}
	reads := func(texts ...string) {
		t.Helper()
		for i, v := range tabs {
			parts := make([]string, len(texts))
			for j, text := range texts {
				parts[j] = fmt.Sprintf("%s %d.", text, i)
			}
			want := strings.Join(parts, " ")
			v.do(t, until(fmt.Sprintf(`document.querySelector(".open-text")?.innerText.trim() === %q`, want)))
		}
	}
	write("Part")
	reads("Part")
	require.EqualValues(t, 1, s.streams.Load(), "one connection for all tabs")
	for _, v := range tabs {
		v.blameless(t)
	}

	first.do(t, chromedp.ActionFunc(func(context.Context) error { return chromedp.Cancel(first.ctx) })) //nolint:contextcheck // The tab's.
	write("More")
	reads("Part", "More")
	s.cut()
	write("Last")
	reads("Part", "More", "Last")
	require.EqualValues(t, 1, s.streams.Load())
}

// Tabs say what they show while the stream of the one that leads is being opened: it has that too.
func TestASlowStreamHasAllTopics(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	first := visit(t, s, started)
	first.signIn(t)
	first.do(t, until(isLive))
	var tabs []*visitor
	for range 2 {
		run := s.NewRun(t)
		v := visit(t, s, started)
		v.open(t, "/runs/"+run.ID)
		v.do(t, until(isLive))
		tabs = append(tabs, v)
		require.NoError(t, s.Store.AppendOutput(t.Context(), agent.Output{
			Tenant: s.Tenant, RunID: run.ID, Turn: 1, Attempt: 1, Text: "Part.",
		}))
		v.do(t, until(`document.querySelector(".open-text")?.innerText.trim() === "Part."`))
	}
	s.delay.Store(int64(time.Second))
	first.do(t, chromedp.ActionFunc(func(context.Context) error { return chromedp.Cancel(first.ctx) })) //nolint:contextcheck // The tab's.
	for _, v := range tabs {
		v.do(t, until(isLive))
	}
	for _, v := range tabs {
		var at string
		v.do(t, chromedp.Location(&at))
		require.NoError(t, s.Store.AppendOutput(t.Context(), agent.Output{
			Tenant: s.Tenant, RunID: path.Base(at), Turn: 1, Attempt: 1, Text: " More.",
		}))
		v.do(t, until(`document.querySelector(".open-text")?.innerText.trim() === "Part. More."`))
	}
}

// Where it is paused, nothing is asked for, and what is new is counted.
func TestPausing(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	v := visit(t, s, browser(t))
	v.signIn(t)
	waits := s.waiting(t)
	v.open(t, "/inbox")
	v.do(t, until(isLive), counts(waits), click(".foot .live"),
		until(`document.querySelector(".foot .live").innerText === "Paused"`))
	var asked atomic.Int64
	chromedp.ListenTarget(v.ctx, func(event any) {
		if _, ok := event.(*network.EventRequestWillBeSent); ok {
			asked.Add(1)
		}
	})
	s.asks(t, 3)
	v.do(t, until(`document.querySelector(".foot .live").innerText.includes("new")`), counts(waits))
	require.Zero(t, asked.Load(), "nothing is asked for")
	v.do(t, click(".foot .live"), counts(waits+1),
		until(`document.querySelector(".foot .live").innerText === "Live"`))
	v.blameless(t)
}

// The palette finds everything by name or id, goes anywhere, and does what can be done from anywhere.
func TestThePalette(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	find := func(text, first string) {
		t.Helper()
		v.do(t, until(`document.querySelector(".find") && !document.querySelector(".backdrop")`), // Of the palette before, which takes clicks until it is gone.
			chromedp.Evaluate(`document.querySelector(".find").click()`, nil), chromedp.WaitVisible(`[role=combobox]`, chromedp.ByQuery),
			typed(`[role=combobox]`, text),
			until(`document.querySelector("[role=option][aria-selected=true]")?.innerText.includes("`+first+`")`))
		v.accessible(t, "palette", text)
		v.do(t, press(kb.Enter), until(`!document.querySelector("[role=combobox]")`))
	}
	find("order refund", "refundOrder")
	v.do(t, until(`location.pathname.endsWith("/tools/refundOrder")`), settled())
	find("supportD", "supportDesk")
	v.do(t, until(`location.search.includes("open=supportDesk")`),
		until(`document.activeElement.closest("main") && document.querySelector("aside h3")`), settled(),
		press(kb.Escape), until(`!document.querySelector("aside")`))
	find(v.Run.ID, v.Run.ID)
	v.do(t, until(`location.pathname.endsWith("/runs/`+v.Run.ID+`")`), settled())
	find("orders-api", "orders-api")
	v.do(t, until(`location.pathname.endsWith("/credentials") && document.querySelector("aside h2")?.innerText === "orders-api"`),
		settled())
	find("lunch friday", "Lunch on Friday")
	v.do(t, until(`location.pathname.endsWith("/sessions/`+v.session.ID+`")`), settled())
	find("how we vote", "How we vote")
	v.do(t, until(`location.pathname.endsWith("/published") && location.search.includes("`+v.view.ID+`")`), settled())
	find("overv", "Overview")
	v.do(t, until(`location.pathname.endsWith("/t/`+v.slug+`")`), settled())
	find("dark", "Switch to dark")
	v.do(t, until(`document.documentElement.dataset.theme === "dark"`))
	find("pause", "Pause live")
	v.do(t, until(`document.querySelector(".foot .live").innerText.startsWith("Paused")`))
	v.do(t, click(".find"), chromedp.WaitVisible(`[role=combobox]`, chromedp.ByQuery),
		until(`document.querySelector("[role=option]").innerText.includes("Recent")`))
	v.blameless(t)
}

// An operator sees at a glance what waits, and where nothing is yet, how to begin.
func TestTheOverview(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	v := visit(t, s, started)
	v.signIn(t)
	v.do(t, until(isLive), press("g", "o"), until(`document.querySelector("h1")?.innerText === "Overview"`), settled(),
		until(`/\d\s+approvals/.test(document.querySelector(".cards").innerText)`),
		until(`document.querySelectorAll(".chart svg g").length === 24`))
	v.do(t, click(".tally a"), until(`location.pathname.endsWith("/inbox")`), settled())

	// What is counted leads to the list of that.
	_, err := s.Store.ChangePause(t.Context(), agent.PauseChange{
		Tenant: s.Tenant, RunID: s.Run.ID, Pause: true, By: "user:ada", Lease: time.Minute,
	})
	require.NoError(t, err)
	v.open(t, "")
	v.do(t, click(`.tally a[href$="/runs?paused=true"]`),
		until(`document.querySelector("h1")?.innerText === "Runs"`), settled(),
		until(`document.querySelectorAll("tbody tr").length === 1 && document.querySelector("tbody a").href.includes("`+s.Run.ID+`")`))

	empty := s.Database.Tenant(t)
	key := s.Key(t, empty, "*")
	found, err := s.Store.FindTenant(t.Context(), empty)
	require.NoError(t, err)
	v.do(t, chromedp.Navigate(v.url+"/login"), settled(), typed("#key", key+kb.Enter),
		until(atHome+` && location.pathname.includes("`+found.Slug+`")`), settled(),
		until(`document.querySelectorAll(".first li").length === 3`))
	v.accessible(t, "first steps")
	v.blameless(t)
}
