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
		"/spaces/missing",
	}
}

// Two people talk in a space, each in a tab: what one says is seen by the other without a reload, a call is drawn by
// the name of its tool, and older messages are read on demand.
//
//nolint:contextcheck // The context of the browser.
func TestPeopleTalkInASpace(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	one, two := visit(t, s, started), visit(t, s, started)
	one.signIn(t)
	for _, v := range []*visitor{one, two} {
		v.open(t, "/spaces/launch")
		v.do(t, until(`document.querySelector(".messages").innerText.includes("Step 69 is done.")`),
			// One call is drawn by its name, with its numbers as they are; the other as any call is, and takes a result.
			until(`document.querySelectorAll(".chart rect").length === 3`),
			until(`document.querySelector(".chart").textContent.includes("9007199254740993")`),
			until(`document.querySelector(".messages").innerText.includes("Result of pickSeat")`))
	}
	two.do(t, chromedp.SendKeys("#say", "Who orders the cake?"+kb.Enter, chromedp.ByQuery),
		until(`document.querySelector("#say").value === ""`))
	for _, v := range []*visitor{one, two} {
		v.do(t, until(`document.querySelector(".messages").innerText.includes("Who orders the cake?")`))
	}
	two.do(t, until(`document.querySelectorAll(".messages article").length < 40`))
	two.do(t, chromedp.Evaluate(`document.querySelector(".older button").click()`, nil), until(`!document.querySelector(".older")`),
		until(`(document.querySelector(".messages").scrollTop = 0) === 0 && document.querySelector(".messages").innerText.includes("Step 00 is done.")`))

	two.open(t, "/spaces/launch?tab=members")
	two.do(t, chromedp.SendKeys(`.add-member select`, "Person", chromedp.ByQuery),
		chromedp.SendKeys(`.add-member input`, "user:bob"+kb.Enter, chromedp.ByQuery),
		until(`document.querySelector(".members").innerText.includes("user:bob")`),
		chromedp.Click(`[aria-label="Remove user:bob…"]`, chromedp.ByQuery), chromedp.Click(`.members .danger`, chromedp.ByQuery),
		until(`!document.querySelector(".members").innerText.includes("user:bob")`))

	two.open(t, "/spaces?new=1")
	two.do(t, chromedp.SendKeys(`[role=dialog] input`, "Summer party", chromedp.ByQuery),
		until(`document.querySelectorAll("[role=dialog] input")[1].value === "summer-party"`),
		chromedp.Click(`[role=dialog] button[type=submit]`, chromedp.ByQuery),
		until(`location.pathname.endsWith("/spaces/summer-party")`), settled())
	one.blameless(t)
	two.blameless(t)
}
