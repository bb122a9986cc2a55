package console_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// payloads are texts that others try to run in the browsers of those who read them. A script that runs sets
// __hit, and a request that leaves goes to canary.invalid.
func payloads(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../markdown/testdata/hostile.json")
	require.NoError(t, err)
	var all []string
	require.NoError(t, json.Unmarshal(raw, &all))
	for i := range all { // PostgreSQL has no such character.
		all[i] = strings.ReplaceAll(all[i], "\x00", "")
	}
	require.GreaterOrEqual(t, len(all), 200)
	return all
}

// hostilePages are the addresses at which the texts of others are shown. Each area adds its own.
func (s *site) hostilePages() []string {
	run := "/runs/" + s.Run.ID
	call := s.Turn.Calls[0].InvocationID
	return []string{
		"/tools", "/tools?open=lookUp00", "/tools/lookUp00", "/tools/lookUp00?tab=input", "/agents",
		"/agents?open=supportDesk",
		"/runs", run, run + "?from=start", run + "?tab=timeline", run + "?tab=calls", run + "?tab=events", run + "?tab=plan",
		run + "?tab=calls&call=01975c2e-7d1a-7c3e-9200-000000000001", run + "?tab=calls&call=" + call, "/calls",
		"/calls?open=01975c2e-7d1a-7c3e-9200-000000000002", "", "/inbox", "/inbox?open=" + call, "/inbox/inputs",
		"/inbox/inputs?open=" + s.waits.input, "/inbox/calls", "/inbox/calls?open=" + s.waits.call, "/inbox/quarantines",
		"/inbox/quarantines?open=" + s.waits.quarantined, "/tools/lookUp00?tab=test", "/tools/lookUp00?tab=versions",
		"/tools/lookUp00?tab=explain", "/tools/lookUp00?tab=users", "/tools/lookUp00?tab=calls", "/tools/lookUp00/edit",
		"/agents/supportDesk", "/agents/supportDesk?tab=tools", "/agents/supportDesk?tab=versions",
		"/agents/supportDesk?tab=runs",
		"/tools/checkOrders?tab=graph", "/tools/checkOrders?tab=graph&show=table", "/tools/checkOrders/graph/edit?show=table",
		"/audit", "/usage", "/spaces", "/spaces/launch",
	}
}

// fillHostile puts the texts in every place that others write.
func (s *site) fillHostile(t *testing.T, all []string) {
	t.Helper()
	head, err := s.Store.FindRun(t.Context(), s.Tenant, s.Run.ID)
	require.NoError(t, err)
	whole := strings.Join(all, "\n\n")
	var tools []json.RawMessage
	for i := range 40 {
		var part []string
		for n := i; n < len(all); n += 40 {
			part = append(part, all[n])
		}
		text := strings.Join(part, "\n")
		definition, err := json.Marshal(map[string]any{
			"kind": "tool", "slug": "lookUp" + string(rune('0'+i/10)) + string(rune('0'+i%10)),
			"name":        text[:min(len(text), 90)],
			"description": text[:min(len(text), 1000)], "category": "orders", "implementation_type": "internal",
			"version": "1.1.0",
			"publish": false,
		})
		require.NoError(t, err)
		tools = append(tools, definition)
	}
	definition, err := json.Marshal(map[string]any{
		"kind": "agent", "slug": "supportDesk", "name": all[0], "model": "scripted/desk", "version": "1.3.0",
		"publish":     false,
		"description": whole[:900], "instructions": whole[:9000], "tools": []string{"searchOrders"},
	})
	require.NoError(t, err)
	s.post(t, "/v1/apply", v1.Apply{Definitions: append(tools, definition)})

	conn := s.Conn(t)
	for _, step := range []string{
		`insert into messages (id, tenant_id, run_id, parent_id, turn, role, content, calls)
			select ('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2,
				case n when 1 then $3 else ('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex(n - 1), 12, '0'))::uuid end, n + 2, 'assistant',
				json_build_array(json_build_object('type', 'text', 'text', p)),
				json_build_array(json_build_object('id', 'h' || n, 'name', left(p, 200), 'arguments', json_build_object('x', p)))
			from unnest($4::text[]) with ordinality as a (p, n)`,
		`insert into messages (id, tenant_id, run_id, parent_id, turn, role, content, call_id, is_error)
			select ('01975c2e-7d1a-7c3e-9100-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2,
				('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex(n), 12, '0'))::uuid, n + 2, 'tool',
				json_build_array(json_build_object('type', 'text', 'text', p), json_build_object('type', 'json', 'json',
					json_build_object(left(p, 200), p))), 'h' || n, $3::uuid is null
			from unnest($4::text[]) with ordinality as a (p, n)`,
		`insert into tool_invocations (id, tenant_id, run_id, turn, call_id, tool, mode, status, input, output, error_kind, error)
			select ('01975c2e-7d1a-7c3e-9200-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, n + 2, 'h' || n, left(p, 200), 'production',
				'failed', json_build_object(left(p, 200), p), json_build_object('content', json_build_array(
				json_build_object('type', 'text', 'text', p))), 'invalid', p
			from unnest($4::text[]) with ordinality as a (p, n) where $3::uuid is not null`,
		`insert into run_events (tenant_id, run_id, seq, type, data)
			select $1, $2, (select last_seq from runs where id = $2) + n, 'tool.progress', json_build_object('message', p)
			from unnest($4::text[]) with ordinality as a (p, n) where $3::uuid is not null`,
		`update runs set turns = cardinality($4::text[]) + 2, last_seq = last_seq + cardinality($4::text[]),
				error = array_to_string($4::text[], ' '), error_kind = 'invalid', output = array_to_string($4::text[], ' '),
				input = to_json(array_to_string($4::text[], ' ')), pause_reason = $4[1],
				head_message_id = ('01975c2e-7d1a-7c3e-9000-' || lpad(to_hex(cardinality($4::text[])), 12, '0'))::uuid
			where tenant_id = $1 and id = $2 and $3::uuid is not null`,
	} {
		_, err := conn.Exec(t.Context(), step, s.Tenant, s.Run.ID, head.HeadMessageID, all)
		require.NoError(t, err, step)
	}
	for _, step := range []string{
		`update approvals set message = left($2, 9000) where tenant_id = $1`,
		`update space_messages set text = left($2, 9000) where tenant_id = $1 and kind = 'text'`,
		`update space_messages set error = left($2, 2000), input = json_build_object('title', left($2, 2000))
			where tenant_id = $1 and kind = 'tool'`,
		`update spaces set name = left($2, 100), description = left($2, 900) where tenant_id = $1`,
	} {
		_, err = conn.Exec(t.Context(), step, s.Tenant, whole)
		require.NoError(t, err, step)
	}
}

// walked shows all of a page: what is folded, and what long lists have.
const walked = `(async () => {
	const pause = () => new Promise((r) => setTimeout(r, 30));
	for (const b of document.querySelectorAll("main .quiet")) if (b.textContent === "Earlier") { b.click(); await pause(); }
	document.querySelectorAll("main details").forEach((d) => (d.open = true));
	const box = document.querySelector(".virtual-box");
	let seen = "";
	if (box) {
		for (let i = 0, y = box.scrollHeight; y > -600 && i < 400; i++, y -= 350) {
			box.scrollTop = y;
			await pause();
			document.querySelectorAll("main .virtual-item details").forEach((d) => (d.open = true));
			seen += box.innerText;
		}
	}
	await new Promise((r) => setTimeout(r, 300));
	const faults = [];
	if (globalThis.__hit || {}.__hit) faults.push("a script ran");
	for (const e of document.querySelectorAll("body *")) {
		if (/^(iframe|img|image|object|embed|script|style|link|base|meta|video|audio|portal|frame|math)$/i.test(e.tagName) &&
			!e.src?.startsWith(location.origin)) faults.push(e.outerHTML.slice(0, 200));
		for (const a of e.attributes) if (/^on/.test(a.name) || /^\s*(javascript|data|vbscript):/i.test(a.value)) {
			if (a.name !== "title" && a.name !== "aria-label" && a.name !== "value") faults.push(a.name + "=" + a.value.slice(0, 200));
		}
	}
	for (const a of document.querySelectorAll("main a[href]")) {
		const to = new URL(a.href);
		if (to.origin === location.origin) continue;
		if (!["http:", "https:", "mailto:"].includes(to.protocol)) faults.push("a link to " + a.href);
		if (a.rel !== "noopener noreferrer nofollow ugc") faults.push("a link without its relation: " + a.href);
	}
	return [...new Set(faults)];
})()`

// What others wrote is shown as text wherever it is shown: no script runs, no dialog opens, and no request
// leaves.
func TestHostileTexts(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	s.fillHostile(t, payloads(t))
	v := visit(t, s, browser(t))
	chromedp.ListenTarget(v.ctx, func(event any) {
		if d, ok := event.(*page.EventJavascriptDialogOpening); ok {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.faults = append(v.faults, "a dialog: "+d.Message)
		}
	})
	v.signIn(t)
	for _, at := range s.hostilePages() {
		v.open(t, at)
		var faults []string
		v.do(t, chromedp.Evaluate(walked, &faults, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
			return p.WithAwaitPromise(true)
		}))
		require.Empty(t, faults, at)
		v.blameless(t)
	}
	v.open(t, "/runs/"+s.Run.ID+"?from=start")
	v.do(t, until(`document.querySelector(".virtual-box").innerText.includes("<script>globalThis.__hit=1</script>")`))
	v.blameless(t)
}
