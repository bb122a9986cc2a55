package console_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

var figures = flag.Bool("figures", false, "measure pages of a tenant with 100,000 tools, and print the figures")

const (
	manyTools  = 100_000
	manyFields = 300
	rounds     = 5 // Of which the median is printed.
)

// watched records, in each new page, when rows first appear, the largest paint, shifts of the layout, long
// tasks, and how long each key took up to the paint that it led to.
const watched = `
window.seen = {rows: 0, paint: 0, shift: 0, task: 0, keys: []};
const watch = (type, fn, more) => new PerformanceObserver((list) => list.getEntries().forEach(fn))
	.observe({type, buffered: true, ...more});
watch("largest-contentful-paint", (e) => { seen.paint = e.startTime; });
watch("layout-shift", (e) => { if (!e.hadRecentInput) seen.shift += e.value; });
watch("longtask", (e) => { seen.task = Math.max(seen.task, e.duration); });
watch("event", (e) => { if (e.name === "keydown" || e.name === "input") seen.keys.push(e.duration); }, {durationThreshold: 16});
document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
	if (!seen.rows && document.querySelector("tbody tr, .said")) seen.rows = performance.now();
}).observe(document.documentElement, {childList: true, subtree: true}));`

// measuring is a tab whose pages are watched.
type measuring struct {
	*visitor
	t *testing.T
}

// number evaluates an expression of the page.
func (m *measuring) number(expression string) float64 {
	m.t.Helper()
	var n float64
	m.do(m.t, chromedp.Evaluate(expression, &n))
	return n
}

// median takes a figure several times.
func (m *measuring) median(take func() float64) float64 {
	m.t.Helper()
	var all []float64
	for range rounds {
		all = append(all, take())
	}
	slices.Sort(all)
	return all[rounds/2]
}

func (m *measuring) print(name string, value float64, unit, bar string) {
	_, _ = fmt.Fprintf(os.Stdout, "%-62s %9.1f %-4s (bar %s)\n", name, value, unit, bar)
}

// TestFigures prints what pages take, with -figures. It fails only where they do not work.
func TestFigures(t *testing.T) { //nolint:paralleltest // It is alone.
	if !*figures {
		t.Skip("only with -figures")
	}
	s := newSite(t, "")
	run, big := s.longRun(t), s.bigCall(t)
	s.manyTools(t)
	v := visit(t, s, browser(t))
	m := &measuring{v, t}
	v.do(t, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(watched).Do(ctx)
		return err
	}))
	v.signIn(t)
	m.list()
	m.longRun(run)
	m.bigOutput(big)
	m.form()
	m.follows()
	m.idle()
}

// manyTools makes tools, beside which there are others of the site.
func (s *site) manyTools(t *testing.T) {
	t.Helper()
	for _, sql := range []string{
		`insert into tool_registry (id, tenant_id, slug, name, description, category, implementation_type, status, version)
			select gen_random_uuid(), '` + string(s.Tenant) + `', 'many' || n, 'Many ' || n, 'Looks up article ' || n || '.',
				'stock' || n % 40, case n % 3 when 0 then 'http' when 1 then 'mcp' else 'function' end, 'draft', '1.0.0'
			from generate_series(1, ` + strconv.Itoa(manyTools) + `) n`,
		"vacuum analyze tool_registry",
	} {
		_, err := s.Conn(t).Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	fields := make([]string, manyFields)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"field%03d":{"type":"string","title":"Field %d"}`, i, i)
	}
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{json.RawMessage(`{"kind":"tool","slug":"wideForm",
		"name":"Wide form","description":"Takes many fields.","implementation_type":"internal","version":"1.0.0","publish":true,
		"input_schema":{"type":"object","properties":{` + strings.Join(fields, ",") + `}}}`)}})
}

// bigCall is a call whose result has 10 MB.
func (s *site) bigCall(t *testing.T) string {
	t.Helper()
	id := uuid.NewString()
	_, err := s.Conn(t).Exec(t.Context(), `insert into tool_invocations (id, tenant_id, run_id, turn, call_id, tool, mode,
			status, input, output, created_at, started_at, completed_at)
		select $3, $1, $2, 1, 'big', 'searchOrders', 'production', 'completed', '{}',
			json_build_object('structured', json_build_object('text', repeat('0123456789', 1000000))), now(), now(), now()`,
		s.Tenant, s.Run.ID, id)
	require.NoError(t, err)
	return id
}

func (m *measuring) list() {
	t := m.t
	rows := until(`seen.rows && document.querySelectorAll("tbody tr").length >= 50`)
	for _, state := range []struct {
		name, bar string
		cold      bool
	}{
		{"tools of 100,000, cold cache: first rows", "500", true},
		{"tools of 100,000, warm cache: first rows", "250", false},
	} {
		var paint, shift float64
		took := m.median(func() float64 {
			if state.cold {
				m.do(t, network.ClearBrowserCache())
			}
			m.open(t, "/tools")
			m.do(t, rows)
			paint, shift = m.number("seen.paint"), m.number("seen.shift")
			return m.number("seen.rows")
		})
		m.print(state.name, took, "ms", state.bar)
		m.print("    largest paint of the last of them", paint, "ms", state.bar)
		m.print("    shift of the layout", shift, "", "0.02")
	}
	m.print("tools: nodes of the page", m.number(`document.querySelectorAll("*").length`), "", "2500")
	for _, typed := range []struct {
		how   string
		first int
		pause time.Duration // Between keys.
	}{{"as a fast person types it", 9, 120 * time.Millisecond}, {"in a burst", 8, 0}} {
		digit := 0
		m.print("tools: a filter "+typed.how+", last key to rows", m.median(func() float64 {
			digit++
			return m.filters(fmt.Sprintf("many%d%d", typed.first, digit), typed.pause)
		}), "ms", "100")
	}
	m.print("runs after tools, from the click to rows", m.median(func() float64 {
		m.open(t, "/tools")
		m.do(t, chromedp.Evaluate(`window.took = 0; (() => { const began = performance.now();
			new MutationObserver((_, o) => { if (location.pathname.endsWith("/runs") && document.querySelector("tbody tr"))
				{ took = performance.now() - began; o.disconnect(); } }).observe(document.body, {childList: true, subtree: true});
			[...document.querySelectorAll("nav a")].find((a) => a.getAttribute("href").endsWith("/runs")).click(); })()`, nil),
			until(`took > 0`))
		return m.number("took")
	}), "ms", "100")
}

// filters types what the list of tools is filtered by, and returns how long it is from the last key until the rows are
// there.
func (m *measuring) filters(text string, pause time.Duration) float64 {
	t := m.t
	m.do(t, chromedp.Evaluate(`window.began = 0; window.took = 0;
		document.querySelector("input[type=search]").focus();
		new MutationObserver((_, o) => { const all = [...document.querySelectorAll("tbody tr")];
			if (all.length && all.every((r) => r.innerText.includes("`+text+`"))) { took = performance.now() - began; o.disconnect(); } })
			.observe(document.body, {childList: true, subtree: true, characterData: true});
		document.querySelector("input[type=search]").addEventListener("keydown", () => { began = performance.now(); });
		document.querySelector("input[type=search]").select()`, nil))
	for _, key := range text {
		m.do(t, chromedp.KeyEvent(string(key)), chromedp.Sleep(pause))
	}
	m.do(t, until(`took > 0`))
	return m.number("took")
}

func (m *measuring) longRun(run agent.Run) {
	m.print("a run of 20,000 events: first rows", m.median(func() float64 {
		m.open(m.t, "/runs/"+run.ID)
		m.do(m.t, until("seen.rows"))
		return m.number("seen.rows")
	}), "ms", "600")
	m.print("    transferred", m.number(
		`performance.getEntriesByType("resource").reduce((sum, r) => sum + r.transferSize, 0) / 1024`), "KB", "1024")
	m.print("    heap", m.number(`performance.memory.usedJSHeapSize / 1024 / 1024`), "MB", "80")
}

func (m *measuring) bigOutput(call string) {
	m.print("a result of 10 MB in the drawer: first of it", m.median(func() float64 {
		m.open(m.t, "/calls")
		m.do(m.t, until(`document.querySelector('tbody a[href*="`+call+`"]')`), chromedp.Evaluate(`window.took = 0; seen.task = 0;
			(() => { const began = performance.now();
			new MutationObserver((_, o) => { if (/[KM]iB/.test(document.querySelector("aside")?.innerText ?? ""))
				{ took = performance.now() - began; o.disconnect(); } }).observe(document.body, {childList: true, subtree: true, characterData: true});
			document.querySelector('tbody a[href*="`+call+`"]').click(); })()`, nil), until(`took > 0`))
		return m.number("took")
	}), "ms", "200")
	m.print("    longest task", m.number("seen.task"), "ms", "100")
	m.do(m.t, chromedp.Evaluate(`seen.task = 0`, nil), click(`aside .notice .button`),
		until(`document.querySelector("aside").innerText.includes("more characters")`), chromedp.Sleep(200*time.Millisecond))
	m.print("    longest task while all of it is loaded", m.number("seen.task"), "ms", "100")
}

func (m *measuring) form() {
	m.open(m.t, "/tools/wideForm?tab=test")
	m.do(m.t, until(fmt.Sprintf(`document.querySelectorAll("main input, main textarea").length >= %d`, manyFields)))
	m.do(m.t, chromedp.Evaluate(`[...document.querySelectorAll("main input, main textarea")].filter((x) => x.type !== "checkbox")[150].focus();
		seen.keys = []`, nil))
	for range 40 {
		m.do(m.t, press("x"), chromedp.Sleep(30*time.Millisecond))
	}
	var keys []float64
	m.do(m.t, chromedp.Evaluate("seen.keys", &keys))
	slices.Sort(keys)
	slowest := 16.0 // What is shorter is not reported.
	if len(keys) > 0 {
		slowest = keys[len(keys)*95/100]
	}
	m.print("a form of 300 fields: a key to its paint, 95 of 100", slowest, "ms", "50")
}

// follows takes how long it is from a committed event of a run to what is seen of it.
func (m *measuring) follows() {
	t := m.t
	run := m.NewRun(t)
	m.open(t, "/runs/"+run.ID)
	m.do(t, until(`document.querySelector(".status.live")`))
	m.Fixture.Run = run
	turn := 0
	m.print("an event: from its commit to the page", m.median(func() float64 {
		turn++
		m.do(t, chromedp.Evaluate(`window.shown = 0; (() => { const had = document.querySelectorAll(".said").length;
			new MutationObserver((_, o) => { if (document.querySelectorAll(".said").length > had) { shown = Date.now(); o.disconnect(); } })
				.observe(document.body, {childList: true, subtree: true}); })()`, nil))
		m.NewTurn(t, run, turn)
		committed := time.Now()
		m.do(t, until("shown > 0"))
		return m.number("shown") - float64(committed.UnixMilli())
	}), "ms", "300")
}

// idle counts what a page asks for while nothing happens.
func (m *measuring) idle() {
	m.open(m.t, "/tools")
	m.do(m.t, chromedp.Sleep(2*time.Second), chromedp.Evaluate(`performance.clearResourceTimings()`, nil),
		chromedp.Sleep(20*time.Second))
	m.print("requests of an idle page in 20 s", m.number(`performance.getEntriesByType("resource").length`), "", "0")
}
