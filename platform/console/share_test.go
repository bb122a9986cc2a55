package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// fillShare makes spaces: one in which people and an agent have spoken, and one that is archived.
func (s *site) fillShare(t *testing.T) {
	t.Helper()
	self := s.keySubject(t)
	made, err := s.Store.CreateSpace(t.Context(), space.Space{
		Tenant: s.Tenant, Slug: "launch", Name: "Launch in May", MaxHops: 4, CreatedBy: self,
		Description: "What is left to do before the launch.",
	}, space.Member{Kind: space.Person, Name: self}, space.Member{Kind: space.Person, Name: "user:ana"},
		space.Member{Kind: space.Agent, Name: s.Agent.Slug})
	require.NoError(t, err)
	for i := range 70 {
		by := self
		if i%3 == 0 {
			by = "user:ana"
		}
		_, err = s.Store.PostMessage(t.Context(), space.Post{
			SpaceID: made.ID, From: space.Member{Kind: space.Person, Name: by},
			Principal: tool.Principal{Tenant: s.Tenant, Subject: by}, Text: fmt.Sprintf("Step %02d is done.", i),
		})
		require.NoError(t, err)
	}
	// Calls of an agent, as the record of calls posts them.
	const call = `insert into space_messages (tenant_id, id, space_id, seq, changed_seq, kind, from_kind, from_name, subject,
			tool, version, call_id, input, status)
		select s.tenant_id, gen_random_uuid(), s.id, s.last_seq + 1, s.last_seq + 1, 'tool', 'agent', $2, 'user:ana', $3, '1.0.0',
			'call_1', $4, $5
		from spaces s where s.id = $1`
	conn := s.Conn(t)
	for _, c := range [][]any{
		{"displayChart", `{"title":"Sold","points":[3,1,9007199254740993]}`, "complete"},
		{"pickSeat", `{"rows":[1,2]}`, "requires_action"},
	} {
		_, err = conn.Exec(t.Context(), call, append([]any{made.ID, s.Agent.Slug}, c...)...)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "update spaces set last_seq = last_seq + 1 where id = $1", made.ID)
		require.NoError(t, err)
	}
	_, err = s.Store.CreateSpace(t.Context(), space.Space{Tenant: s.Tenant, Slug: "quiet", Name: "Quiet"})
	require.NoError(t, err)
	s.fillSessions(t)
}

// fillSessions makes a session that guests and a key have submitted to, and a published view.
func (s *site) fillSessions(t *testing.T) {
	t.Helper()
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{json.RawMessage(`{"kind":"tool","slug":"voteLunch",
		"name":"Vote for lunch","description":"Counts a vote.","implementation_type":"internal","version":"1.0.0",
		"publish":true,"collaborative":true,"aggregate":"group:input.choice","input_schema":{"type":"object",
		"properties":{"choice":{"type":"string","title":"Choice"},"day":{"type":"string","title":"Day"}}}}`)}})
	s.askIn(t, http.MethodPut, "/v1/tenants/"+s.slug+"/publishing", v1.Publishing{Enabled: true}, nil)
	s.askIn(t, http.MethodPost, "/v1/tool-sessions", v1.NewToolSession{
		Tool: "voteLunch", Title: "Lunch on Friday", Config: json.RawMessage(`{"day":"friday"}`), EntityIDs: []string{"team-7"},
	}, &s.session)
	const submission = `insert into tool_session_submissions
			(tenant_id, id, session_id, subject, guest, by_link, input, nonce, status, output, ended_at)
		select tenant_id, gen_random_uuid(), id, 'session:' || id, $2::text, $2::text <> '', $3::text::json,
			$2::text || $3::text, 'completed', '{"counted":true}', now()
		from tool_sessions where id = $1`
	for _, b := range [][2]string{{"Ana", "soup"}, {"Bob", "soup"}, {"", "cake"}} {
		_, err := s.Conn(t).Exec(t.Context(), submission, s.session.ID, b[0], `{"choice":"`+b[1]+`"}`)
		require.NoError(t, err)
	}
	s.askIn(t, http.MethodPost, "/v1/views", v1.NewView{
		Kind: view.Tool, Tool: "voteLunch", Title: "How we vote", Description: "What the vote takes.",
	}, &s.view)
}

// keySubject is whom the key of the site acts for.
func (s *site) keySubject(t *testing.T) string {
	t.Helper()
	var who v1.Me
	s.askIn(t, http.MethodGet, "/v1/me", nil, &who)
	return who.Subject
}

// askIn asks the API with the key of the site.
func (s *site) askIn(t *testing.T, method, path string, body, into any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(raw))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Less(t, answer.StatusCode, 300, "%s %s: %s", method, path, said)
	if into != nil {
		require.NoError(t, json.Unmarshal(said, into))
	}
}

func (s *site) sharePages() []string {
	return []string{
		"/spaces", "/spaces?archived=true", "/spaces?new=1", "/spaces/launch", "/spaces/launch?tab=members", "/spaces/quiet",
		"/spaces/missing", "/tools/voteLunch?tab=sessions", "/tools/voteLunch?tab=sessions&launch=1",
		"/tools/voteLunch?tab=sessions&status=cancelled", "/sessions/" + s.session.ID, "/sessions/missing",
		"/published", "/published?new=1", "/published?open=" + s.view.ID,
	}
}

// Two people talk in a space, each in a tab: what one says is seen by the other without a reload, a call is drawn by
// the name of its tool, and older messages are read on demand.
func TestPeopleTalkInASpace(t *testing.T) {
	t.Parallel()

	// A tab behind another one draws nothing: each has a browser of its own.
	s := newSite(t, "")
	one, two := visit(t, s, browser(t)), visit(t, s, browser(t))
	one.signIn(t)
	two.signIn(t)
	for _, v := range []*visitor{one, two} {
		v.open(t, "/spaces/launch")
		v.do(t, until(`document.querySelector(".messages").innerText.includes("Step 69 is done.")`),
			// One call is drawn by its name, with its numbers as they are; the other as any call is, and takes a result.
			until(`document.querySelectorAll(".small-chart rect").length === 3`),
			until(`document.querySelector(".small-chart").textContent.includes("9007199254740993")`),
			until(`document.querySelector(".messages").innerText.includes("Result of pickSeat")`))
	}
	two.do(t, typed("#say", "Who orders the cake?"+kb.Enter),
		until(`document.querySelector("#say").value === ""`))
	for _, v := range []*visitor{one, two} {
		v.do(t, until(`document.querySelector(".messages").innerText.includes("Who orders the cake?")`))
	}
	two.do(t, until(`document.querySelectorAll(".messages article").length < 40`),
		until(`(document.querySelector(".messages .virtual-box").scrollTop = 0) === 0 &&
			document.querySelector(".messages").innerText.includes("Step 00 is done.")`))

	two.open(t, "/spaces/launch?tab=members")
	two.do(t, typed(`.add-member select`, "Person"),
		typed(`.add-member input`, "user:bob"+kb.Enter),
		until(`document.querySelector(".members").innerText.includes("user:bob")`),
		click(`[aria-label="Remove user:bob…"]`), click(`.members .danger`),
		until(`!document.querySelector(".members").innerText.includes("user:bob")`))

	two.open(t, "/spaces?new=1")
	two.do(t, typed(`[role=dialog] input`, "Summer party"),
		until(`document.querySelectorAll("[role=dialog] input")[1].value === "summer-party"`),
		click(`[role=dialog] button[type=submit]`),
		until(`location.pathname.endsWith("/spaces/summer-party")`), settled())
	one.blameless(t)
	two.blameless(t)
}

// An agent draws a chart in a space and asks there: the chart is drawn with its numbers, a person answers the question
// in the form beside it, and the run goes on with the answer.
func TestAPersonAnswersInASpace(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.apply(t, `{"kind":"tool","slug":"displayChart","name":"Chart","description":"Displays a chart.","visible":true,
			"implementation_type":"internal","version":"1.0.0","publish":true,"intent":"render",
			"input_schema":{"type":"object","properties":{"title":{"type":"string"},"points":{"type":"array","items":{"type":"integer"}}}}}`,
		`{"kind":"tool","slug":"spaceAsk","description":"Asks a person.","implementation_type":"input","visible":true,
			"version":"1.0.0","publish":true}`,
		`{"kind":"agent","slug":"spaceDesk","instructions":"Ask.","model":"scripted/space-desk","spaces":["*"],
			"version":"1.0.0","publish":true,"tools":["displayChart","spaceAsk"]}`)
	v.askIn(t, http.MethodPost, "/v1/spaces", v1.NewSpace{Slug: "booking", Members: []string{"agent:spaceDesk"}}, nil)
	var run v1.Run
	v.askIn(t, http.MethodPost, "/v1/runs", v1.NewRun{Agent: "spaceDesk", Input: json.RawMessage(`"A seat, please."`)}, &run)
	v.open(t, "/spaces/booking")
	v.do(t, until(`document.querySelectorAll(".small-chart rect").length === 3`),
		until(`document.querySelector(".small-chart").textContent.includes("9007199254740993")`),
		until(`document.querySelector(".answer").innerText.includes("A seat for the customer")`))
	v.enter(t, "Which seat?", "12 <b>A</b>")
	v.do(t, click(".answer button[type=submit]"), until(`!document.querySelector(".answer")`))
	v.open(t, "/runs/"+run.ID)
	v.do(t, until(`document.querySelector(".transcript").innerText.includes("The seat is noted.")`),
		until(`document.querySelector(".transcript").innerText.includes("12 <b>A</b>")`))
	v.blameless(t)
}

// A session is started with an input that is the same for each submission, gets a link that is shown once, and is
// ended;
// what was submitted meanwhile appears by itself.
func TestASessionIsRunFromItsPage(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	v := visit(t, s, started)
	v.signIn(t)
	v.open(t, "/tools/voteLunch")
	v.click(t, ".tabs a", "Sessions")
	v.do(t, until(`document.querySelector("table").innerText.includes("Lunch on Friday")`))
	v.click(t, "button", "Start a session…")
	v.do(t, until(`document.querySelectorAll(".launcher fieldset input").length === 2`),
		typed(`.launcher .pair input`, "Lunch on Monday"),
		click(`.launcher fieldset label:nth-child(2) input`),
		until(`document.querySelector(".launcher .f-form input")`),
		typed(`.launcher .f-form input`, "monday"))
	v.click(t, ".launcher button", "Start it")
	v.do(t, until(`location.pathname.includes("/sessions/") && document.querySelector("h1").innerText.includes("Lunch on Monday")`),
		until(`document.querySelector("main").innerText.includes("monday")`), settled())

	v.open(t, "/sessions/"+s.session.ID)
	v.do(t, until(`[...document.querySelectorAll(".votes li")].map((l) => l.innerText.replace(/\s+/g, " ").trim()).join() === "soup 2,cake 1"`),
		until(`document.querySelector("table").innerText.includes("by the link")`))
	_, err := s.Conn(t).Exec(t.Context(), `insert into tool_session_submissions
			(tenant_id, id, session_id, subject, guest, by_link, input, nonce, status, output, ended_at)
		select tenant_id, gen_random_uuid(), id, 'session:' || id, 'Cem', true, '{"choice":"<b>pie</b>"}', 'n', 'completed', '{}', now()
		from tool_sessions where id = $1`, s.session.ID)
	require.NoError(t, err)
	v.do(t, until(`document.querySelector("table").innerText.includes("Cem")`),
		until(`document.querySelector(".votes").innerText.includes("<b>pie</b>")`))

	for _, width := range []int64{320, 480, 700, 910, 1280} { // No button is upon a heading.
		v.size(t, width, 800, "light")
		v.do(t, until(`(() => {
			const boxes = (what) => [...document.querySelectorAll(what)].map((e) => e.getBoundingClientRect());
			const buttons = boxes("main button, main .button");
			return boxes("main h1, main h2, main h3").every((h) => buttons.every((b) =>
				b.bottom + 4 <= h.top || b.top >= h.bottom || b.right <= h.left || b.left >= h.right));
		})()`))
		v.look(t, fmt.Sprintf("session-%d", width))
	}
	v.click(t, "button", "Make a link…")
	v.click(t, "[role=dialog] button", "Make the link")
	v.do(t, until(`document.querySelector(".link-once code")?.innerText.includes("/s/tcs_")`),
		until(`document.querySelector("main").innerText.includes("Another link…")`))
	v.click(t, ".link-once button", "I have copied it")
	v.do(t, until(`!document.body.innerHTML.includes("tcs_")`))
	v.click(t, "button", "Complete…")
	v.click(t, "[role=alertdialog] button", "Complete it")
	v.do(t, until(`document.querySelector("h1").innerText.includes("completed")`), until(`!document.querySelector("details.submit")`))
	v.blameless(t)
}

// A view is published, gets another link, and is revoked; a link is shown once.
func TestViewsArePublished(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	v := visit(t, s, started)
	v.signIn(t)
	v.open(t, "/published?new=1")
	v.do(t, chromedp.WaitVisible(`[role=dialog] select`, chromedp.ByQuery), typed(`[role=dialog] select`, "What a tool"),
		until(`document.querySelector("[role=dialog]").innerText.includes("Tool")`),
		typed(`[role=dialog] input`, "voteLunch"))
	v.click(t, "[role=dialog] button", "Publish")
	v.do(t, until(`document.querySelector(".link-once code")?.innerText.includes("/v/tcv_")`))
	var first string
	v.do(t, chromedp.Text(".link-once code", &first, chromedp.ByQuery), until(`document.querySelectorAll("tbody tr").length === 2`))
	v.open(t, "/published?open="+s.view.ID)
	v.do(t, until(`!document.body.innerHTML.includes("tcv_")`))
	v.click(t, ".drawer button", "Another link…")
	v.click(t, "[role=dialog] button", "Make the link")
	v.do(t, until(`document.querySelector(".link-once code")?.innerText.includes("/v/tcv_")`))
	v.click(t, ".drawer button", "Revoke…")
	v.click(t, "[role=alertdialog] button", "Revoke it")
	v.do(t, until(`document.querySelector(".drawer .status").innerText === "revoked"`))
	v.blameless(t)
}

// What is no call has no result to publish: the server refuses it, in place.
func TestARunThatIsNoCallIsNotPublished(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	v := visit(t, s, started)
	v.signIn(t)
	v.open(t, "/published?run="+s.Run.ID)
	v.do(t, until(`document.querySelector("[role=dialog] input").value === "`+s.Run.ID+`"`))
	v.click(t, "[role=dialog] button", "Publish") // It is the run of an agent.
	v.do(t, until(`document.querySelector("[role=dialog] [role=alert]").innerText !== ""`))
	v.blameless(t)
}
