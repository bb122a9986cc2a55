package console_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

func (s *site) runsPages() []string {
	run := "/runs/" + s.Run.ID
	return []string{
		run, run + "?from=start", run + "?tab=timeline", run + "?tab=timeline&scale=seen", run + "?fork=1",
		run + "?tab=calls&call=" + s.Turn.Calls[0].InvocationID, run + "?tab=events", run + "?tab=files", "/runs?mode=debug",
		"/runs?since=2026-01-01&until=2026-01-02", "/runs/new", "/runs/new?agent=supportDesk&mode=debug", "/calls",
		"/calls?status=failed&kind=timeout", "/calls?open=" + s.Turn.Calls[0].InvocationID, "/tools/searchOrders?tab=calls",
	}
}

func (s *site) fillRuns(*testing.T) {}

const (
	longTurns  = 3000
	longEvents = 20_000
)

// longRun is a run with many messages, calls and events.
func (s *site) longRun(t *testing.T) agent.Run {
	t.Helper()
	run := s.NewRun(t)
	stored, err := s.Store.FindRun(t.Context(), s.Tenant, run.ID)
	require.NoError(t, err)
	conn := s.Conn(t)
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`insert into messages (id, tenant_id, run_id, parent_id, turn, role, content, calls, input_tokens, output_tokens)
			select ('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2,
				case n when 1 then $3 else ('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex(n - 1), 12, '0'))::uuid end, n, 'assistant',
				json_build_array(json_build_object('type', 'text', 'text', 'This is **turn ' || n || '** of the run.')),
				json_build_array(json_build_object('id', 'call_' || n, 'name', 'searchOrders', 'arguments', json_build_object('q', n))),
				100, 20
			from generate_series(1, $4::int) n`, []any{s.Tenant, run.ID, stored.HeadMessageID, longTurns}},
		{`insert into messages (id, tenant_id, run_id, parent_id, turn, role, content, call_id)
			select ('01975c2e-7d1a-7c3e-9100-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2,
				('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex(n), 12, '0'))::uuid, n, 'tool',
				json_build_array(json_build_object('type', 'text', 'text', 'Order ' || n || ' is in the warehouse.')), 'call_' || n
			from generate_series(1, $3::int) n`, []any{s.Tenant, run.ID, longTurns}},
		{`insert into tool_invocations (id, tenant_id, run_id, turn, call_id, tool, mode, status, input, output, created_at,
				started_at, completed_at)
			select ('01975c2e-7d1a-7c3e-9200-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, n, 'call_' || n, 'searchOrders',
				'production', 'completed', json_build_object('q', n), json_build_object('structured', json_build_object('order', n)),
				now() + n * interval '2 seconds', now() + n * interval '2 seconds', now() + (n * 2 + 1) * interval '1 second'
			from generate_series(1, $3::int) n`, []any{s.Tenant, run.ID, longTurns}},
		{`insert into run_events (tenant_id, run_id, seq, type, data)
			select $1, $2, n, 'tool.warning', json_build_object('tool', 'searchOrders', 'reason', 'omitted', 'message', 'step ' || n)
			from generate_series($3::bigint + 1, $4::bigint) n`, []any{s.Tenant, run.ID, stored.LastSeq, longEvents}},
		{`update runs set last_seq = $3, turns = $4::int,
				head_message_id = ('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex($4::int), 12, '0'))::uuid
			where tenant_id = $1 and id = $2`, []any{s.Tenant, run.ID, longEvents, longTurns}},
	} {
		_, err := conn.Exec(t.Context(), step.sql, step.args...)
		require.NoError(t, err, step.sql)
	}
	return run
}

// light requires that a page has few nodes, and that little was read for it.
func (v *visitor) light(t *testing.T) {
	t.Helper()
	var nodes, bytes int
	v.do(t, chromedp.Evaluate(`document.querySelectorAll("*").length`, &nodes), chromedp.Evaluate(
		`performance.getEntriesByType("resource").reduce((sum, r) => sum + r.transferSize, 0)`, &bytes))
	require.LessOrEqual(t, nodes, 2500)
	require.Positive(t, bytes)
	require.LessOrEqual(t, bytes, 1<<20)
}

// A run of any length is shown by what is seen of it: the newest first, and the rest on demand.
func TestALongRun(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	run := s.longRun(t)
	v := visit(t, s, browser(t))
	v.signIn(t)
	at := "/runs/" + run.ID
	shows := func(text string) chromedp.Action {
		return until(`document.querySelector(".virtual-box")?.textContent.includes(` + strconv.Quote(text) + `)`)
	}
	const box = `document.querySelector(".virtual-box")`

	v.open(t, at)
	v.do(t, shows("turn 3000 of the run"), until(box+`.scrollTop + `+box+`.clientHeight > `+box+`.scrollHeight - 60`))
	v.light(t)
	v.do(t, until(`document.querySelector(".said strong") && [...document.querySelectorAll(".markdown strong")].length > 0`))

	// What is added before what one reads does not move it.
	var before, after float64
	const place = `(() => {
		const b = document.querySelector(".virtual-box").getBoundingClientRect();
		const at = [...document.querySelectorAll(".said")].find((x) => x.innerText.includes("Order 2976 is"));
		return at ? at.getBoundingClientRect().top - b.top : -1e6;
	})()`
	v.do(t, chromedp.Evaluate(box+`.scrollTop = 500`, nil), shows("Order 2976 is"), chromedp.Sleep(0),
		chromedp.Evaluate(place, &before), chromedp.Evaluate(box+`.scrollTop -= 200`, nil),
		until(`document.querySelector(".virtual-head").innerText.includes("260 messages")`), until(place+` > -1e5`),
		chromedp.Evaluate(place, &after))
	require.InDelta(t, before+200, after, 120)
	v.light(t)

	v.open(t, at+"?from=start")
	v.do(t, shows("Where is my order?"), shows("turn 1 of the run"))
	v.light(t)

	v.open(t, at+"?tab=events")
	v.do(t, shows("step 20000"))
	v.light(t)
	v.do(t, chromedp.Evaluate(box+`.scrollTop = 0`, nil), until(`/^19[0-7]\d\d to 20000/.test(document.querySelector(".virtual-head").innerText)`))
	v.open(t, at+"?tab=events&from=start")
	v.do(t, shows("step 10"), until(box+`.scrollTop === 0`))
	v.light(t)

	v.open(t, at+"?tab=timeline")
	v.do(t, shows("searchOrders"), until(`document.querySelectorAll(".wf").length > 5 && document.querySelectorAll(".wf").length < 80`))
	v.light(t)
	v.do(t, click("a.wf"), chromedp.WaitVisible("aside .account li", chromedp.ByQuery),
		until(`location.search.includes("call=")`))
	var first string
	v.do(t, chromedp.Location(&first), click(`//aside//button[text()="Next"]`),
		until(`location.href !== `+strconv.Quote(first)+` && document.querySelector("aside .account li")`))
	v.open(t, at+"?tab=calls")
	v.do(t, until(`document.querySelectorAll("tbody tr").length === 50`))
	v.light(t)
	v.blameless(t)
}

// What happens while a page is open appears on it.
func TestARunIsFollowed(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	run := v.NewRun(t)
	v.open(t, "/runs/"+run.ID)
	v.do(t, until(`document.querySelectorAll(".said").length === 1`), until(`document.querySelector(".status.live")`))
	v.Fixture.Run, v.Fixture.Turn = run, v.NewTurn(t, run, 1)
	v.do(t, until(`document.querySelectorAll(".said").length === 2 && document.body.innerText.includes("Let me look.")`))
	v.Answer(t, v.Turn)
	v.do(t, until(`document.querySelectorAll(".said").length >= 2`))
	v.blameless(t)
}

// A person starts a run from its page, and its answer appears there.
func TestAPersonStartsARun(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{json.RawMessage(`{"kind":"agent","slug":"runsDesk",
		"name":"Desk of runs","model":"scripted/runs-desk","instructions":"Answer.","version":"1.0.0","publish":true,"tools":[]}`)}})
	v.open(t, "/runs/new?agent=runsDesk")
	v.do(t, typed("#message", "Where is **parcel 7**?"),
		click(".new-run .primary"), until(`/\/runs\/[0-9a-f-]{36}$/.test(location.pathname)`),
		until(`document.querySelector(".said.user .markdown strong")?.innerText === "parcel 7"`),
		until(`document.querySelector(".said.assistant .markdown strong")?.innerText === "at the door"`),
		until(`document.querySelector("h1").parentElement.innerText.includes("completed")`))
	var at string
	v.do(t, chromedp.Evaluate(`location.pathname.split("/").pop()`, &at))
	status, answer := v.request(t, http.MethodGet, "/v1/runs/"+at, "")
	require.Equal(t, http.StatusOK, status, string(answer))
	var found v1.Run
	require.NoError(t, json.Unmarshal(answer, &found))
	require.JSONEq(t, `"Where is **parcel 7**?"`, string(found.Input))
	v.blameless(t)
}

// A person pauses a run, and the page has their reason.
func TestAPersonPausesARun(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/runs/"+v.Run.ID)
	v.do(t, click(`//button[text()="Pause…"]`), chromedp.WaitVisible("#control", chromedp.ByQuery),
		typed("#control", "The stock is counted."),
		click(`[role=alertdialog] button[type=submit]`),
		until(`document.querySelector("main").innerText.includes("The stock is counted.")`))
	paused, err := v.Store.FindRun(t.Context(), v.Tenant, v.Run.ID)
	require.NoError(t, err)
	require.NotNil(t, paused.Paused)
	require.Equal(t, "The stock is counted.", paused.Paused.Reason)
	v.blameless(t)
}
