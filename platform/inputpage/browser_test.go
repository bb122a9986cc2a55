package inputpage_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/browsertest"
)

const hero = `{"title":"Hero","choose":{"options":[{"id":"bold","label":"Bold"},{"id":"calm","label":"Calm"}]}}`

// A person answers each kind of request in a browser, by mouse and by keyboard, with JavaScript
// and without it.
func TestPeopleAnswerInABrowser(t *testing.T) { //nolint:tparallel // One browser, one tab after another.
	t.Parallel()

	started := browsertest.Start(t)
	for name, tt := range map[string]struct { //nolint:paralleltest // As above.
		ask, want       string
		mouse, keyboard chromedp.Tasks
	}{
		"Questions": {
			ask: ask, want: `{"city":"Oslo","nights":2}`,
			mouse: chromedp.Tasks{
				click("#f-city"), typed("#f-city", "Oslo"),
				click("#f-nights"), typed("#f-nights", "2"), click("button"),
			},
			keyboard: keys(kb.Tab, "Oslo", kb.Tab, "2", kb.Enter),
		},
		"Choice": {
			ask: hero, want: `{"choice":"calm"}`,
			mouse:    chromedp.Tasks{click(`label[for="o-calm"]`), click("button")},
			keyboard: keys(kb.Tab, " ", kb.ArrowDown, kb.Tab, kb.Enter),
		},
		"Choices": {
			ask:      `{"title":"Hero","choose":{"chooseMode":"multiple",` + hero[len(`{"title":"Hero","choose":{`):],
			want:     `{"choice":["bold","calm"]}`,
			mouse:    chromedp.Tasks{click("#o-bold"), click("#o-calm"), click("button")},
			keyboard: keys(kb.Tab, " ", kb.Tab, " ", kb.Tab, kb.Enter),
		},
		"Approval": {
			ask: `{"title":"Publish?","approve":{}}`, want: `{"approved":false,"notes":"wait"}`,
			mouse: chromedp.Tasks{
				click("#no"), typed("#f-notes", "wait"), click("button"),
			},
			keyboard: keys(kb.Tab, " ", kb.ArrowDown, kb.Tab, "wait", kb.Tab, kb.Enter),
		},
	} {
		for _, script := range []bool{false, true} {
			for by, act := range map[string]chromedp.Tasks{"Mouse": tt.mouse, "Keyboard": tt.keyboard} {
				t.Run(name+map[bool]string{true: "WithScript", false: "WithoutScript"}[script]+by, func(t *testing.T) {
					s := newSite(t, tt.ask) //nolint:contextcheck // The site has the context of the test.
					tab, cancel := chromedp.NewContext(started)
					defer cancel()
					tab, cancel = context.WithTimeout(tab, 30*time.Second)
					defer cancel()
					var text string
					require.NoError(t, chromedp.Run(tab,
						emulation.SetScriptExecutionDisabled(!script), chromedp.Navigate(s.url+s.link), page.BringToFront(),
						act, shows("the answer has arrived"), bodyText(&text)))
					require.Contains(t, text, "Thank you")
					require.Len(t, s.taken, 1)
					require.JSONEq(t, `{"kind":"input_request","view_id":"`+s.call.ID+`","answer":`+tt.want+`}`,
						string(s.taken[0].Result))

					// Going back and reloading send nothing again.
					require.NoError(t, chromedp.Run(tab, chromedp.Reload(), shows("the answer has arrived")))
					require.Len(t, s.taken, 1)
				})
			}
		}
	}
}

// A browser that prefetches, previews or prints a page answers nothing; what is wrong with an
// answer is shown where it is, and what was typed is kept.
func TestBrowsersAnswerNothingOfTheirOwn(t *testing.T) {
	t.Parallel()

	started := browsertest.Start(t)
	s := newSite(t, ask)
	for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodOptions} {
		_, _ = s.send(method, s.link+"?city=Oslo", nil)
	}
	at, opener := s.url+s.link, newSite(t, ask)
	tab, cancel := chromedp.NewContext(started)
	defer cancel()
	var text, kept string
	require.NoError(t, chromedp.Run(tab,
		chromedp.Navigate("data:text/html,<link rel=prefetch href='"+at+"'><iframe src='"+at+"'></iframe>"),
		chromedp.Navigate(opener.url+opener.link), typed("#f-nights", "many"), click("button"),
		shows("an answer is needed"), bodyText(&text),
		chromedp.Value("#f-nights", &kept, chromedp.ByQuery)))
	require.Contains(t, text, "a number is expected")
	require.Equal(t, "many", kept)
	require.Empty(t, s.taken)
	require.Empty(t, opener.taken)
}

func click(selector string) chromedp.Action { return chromedp.Click(selector, chromedp.ByQuery) }

func typed(selector, text string) chromedp.Action {
	return chromedp.SendKeys(selector, text, chromedp.ByQuery)
}

func keys(all ...string) chromedp.Tasks {
	var tasks chromedp.Tasks
	for _, k := range all {
		tasks = append(tasks, chromedp.KeyEvent(k))
	}
	return tasks
}

// shows waits until the page says something. It needs no script of the page's.
func shows(text string) chromedp.Action {
	return chromedp.WaitVisible(`//main[contains(., "`+text+`")]`, chromedp.BySearch)
}

func bodyText(into *string) chromedp.Action {
	return chromedp.TextContent("main", into, chromedp.ByQuery)
}
