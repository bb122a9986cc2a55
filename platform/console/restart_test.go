package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
)

// shownEvents are the numbers of the events that a list has, from its first to its last, and whether one stood there
// twice or out of order.
const shownEvents = `(async () => {
	const box = document.querySelector(".virtual-box"), numbers = [];
	let broken = false;
	const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
	const edge = () => document.querySelector(".virtual-head").innerText.startsWith("1 to ");
	for (let i = 0; i < 200 && !(box.scrollTop === 0 && edge()); i++) { box.scrollTop = 0; await drawn(); }
	for (let i = 0; i < 500; i++) {
		const now = [...box.querySelectorAll(".event .seq")].map((e) => Number(e.innerText));
		broken ||= now.some((n, i) => i > 0 && n <= now[i - 1]);
		for (const n of now) if (!numbers.includes(n)) numbers.push(n);
		if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) break;
		box.scrollTop += box.clientHeight / 2;
		await drawn();
	}
	return { numbers, broken };
})()`

// events are the numbers of all events of a run, as programs read them.
func (s *site) events(t *testing.T, run string) []int64 {
	t.Helper()
	var numbers []int64
	const most = 100
	for after := int64(0); ; after = numbers[len(numbers)-1] {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			fmt.Sprintf("%s/v1/runs/%s/events?after=%d&limit=%d", s.url, run, after, most), nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.key)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		var found struct {
			Items []struct {
				Seq int64 `json:"seq"`
			} `json:"items"`
		}
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&found))
		require.NoError(t, answer.Body.Close())
		for _, e := range found.Items {
			numbers = append(numbers, e.Seq)
		}
		if len(found.Items) < most {
			return numbers
		}
	}
}

// A run that makes hundreds of events while the network is away and the server is replaced by another is shown as it
// is recorded, with no gap and nothing twice, in each of ten tabs, by one connection.
func TestARunGoesOnAfterARestart(t *testing.T) {
	t.Parallel()

	s, started := newSite(t, ""), browser(t)
	text, list := visit(t, s, started), visit(t, s, started)
	text.signIn(t)
	run := s.NewRun(t)
	s.Fixture.Run = run
	turn := 0
	step := func(n int) {
		t.Helper()
		for range n {
			turn++
			for part := range 4 {
				require.NoError(t, s.Store.AppendOutput(t.Context(), agent.Output{
					Tenant: s.Tenant, RunID: run.ID, Turn: turn, Attempt: 1, Text: fmt.Sprintf("part %d of turn %d. ", part, turn),
				}))
			}
			s.Answer(t, s.NewTurn(t, run, turn))
		}
	}
	write := func(parts ...string) {
		t.Helper()
		for _, part := range parts {
			require.NoError(t, s.Store.AppendOutput(t.Context(), agent.Output{
				Tenant: s.Tenant, RunID: run.ID, Turn: turn + 1, Attempt: 1, Text: part + " ",
			}))
		}
	}
	reads := func(want string) chromedp.Action {
		return until(fmt.Sprintf(`document.querySelector(".open-text")?.innerText.trim() === %q`, want))
	}
	text.open(t, "/runs/"+run.ID)
	list.open(t, "/runs/"+run.ID+"?tab=events")
	tabs := []*visitor{text, list}
	for range 8 {
		v := visit(t, s, started)
		v.open(t, "/inbox")
		tabs = append(tabs, v)
	}
	for _, v := range tabs {
		v.do(t, until(isLive))
		v.blameless(t) // What follows are failures of requests.
	}

	step(8)
	write("one", "two")
	text.do(t, reads("one two"))
	for _, v := range tabs {
		v.do(t, offline(true))
	}
	s.cut()
	write("three", "four")
	s.restart()
	time.Sleep(5 * time.Second) // As a person who goes through a tunnel: tabs try again meanwhile.
	write("five")
	for _, v := range tabs {
		v.do(t, offline(false))
	}
	write("six")
	text.do(t, until(isLive), reads("one two three four five six"))

	for _, v := range tabs {
		v.do(t, offline(true))
	}
	step(8)
	s.restart()
	step(4)
	for _, v := range tabs {
		v.do(t, offline(false))
	}
	step(12)
	s.restart() // While all are there.
	step(2)

	recorded := s.events(t, run.ID)
	last := recorded[len(recorded)-1]
	require.Greater(t, last, int64(200), "the numbers of output are among them")
	var shown struct {
		Numbers []int64
		Broken  bool
	}
	list.do(t, until(`document.querySelector(".virtual-head")?.innerText.includes(" to `+strconv.FormatInt(last, 10)+`")`),
		page.BringToFront(), // Else nothing is drawn.
		chromedp.Evaluate(shownEvents, &shown, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
			return p.WithAwaitPromise(true)
		}))
	require.False(t, shown.Broken, "an event stands there twice, or out of order")
	require.Equal(t, recorded, shown.Numbers)

	text.do(t, until(`!document.querySelector(".open-text")`))
	for _, v := range tabs {
		v.do(t, until(isLive))
	}
	text.do(t, s.streaming(1))
}
