package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
)

func (s *site) fillAccount(*testing.T) {}

func (s *site) accountPages() []string {
	return []string{"/account", "/runs?paused=true", "/tools?switched_off=true"}
}

// A person sees what they may do and which browsers they are signed in with, and ends the session of another one,
// whose pages show nothing more.
func TestAPersonEndsASession(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	one, two := visit(t, s, browser(t)), visit(t, s, browser(t))
	one.signIn(t)
	two.signIn(t)
	two.do(t, until(isLive))
	one.do(t, click(".foot .me"), until(`document.querySelector("h1")?.innerText === "Account"`),
		settled(), until(`document.querySelectorAll("section[aria-label='Your browsers'] tbody tr").length === 2`),
		until(`document.querySelectorAll("section[aria-label='Your browsers'] .badge").length === 1`),
		until(`document.querySelector("section[aria-label='Your browsers']").innerText.includes("Chrome on Linux")`),
		until(`document.querySelector("section[aria-label='What you may do']").innerText.includes("tools.write")`))
	one.do(t, button("End…"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), button("End"),
		until(`document.querySelectorAll("section[aria-label='Your browsers'] tbody tr").length === 1`))
	two.do(t, until(`location.pathname.endsWith("/login")`), until(`!document.body.innerText.includes("refundOrder")`))
	one.do(t, until(isLive))
	left, err := s.Store.ListWebSessions(t.Context(), s.Tenant, store.SessionQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, left, 1)

	// Those who manage keys see the browsers of each.
	two.signIn(t)
	key, _ := strings.CutPrefix(s.keySubject(t), "key:")
	one.open(t, "/access?show=all&open="+key)
	one.do(t, until(`document.querySelectorAll("aside .signed-in li").length === 2`),
		click(`aside .signed-in button`),
		chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), button("End"),
		until(`document.querySelectorAll("aside .signed-in li").length === 1`))
	two.do(t, until(`location.pathname.endsWith("/login")`))
	one.blameless(t)
}
