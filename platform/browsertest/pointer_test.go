package browsertest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/browsertest"
)

// page has a button, and everything else of the window is another one. A script then moves, covers, disables or
// replaces the first.
const page = `<!DOCTYPE html><meta charset="utf-8"><title>-</title>
	<style>button { position: absolute } #other { inset: 0; width: 100% }
		#it { left: 9px; top: 9px; width: 90px; height: 30px }
		#cover { position: absolute; inset: 0 }</style>
	<button id="other">Other</button><button id="it">It</button><script>
	const pressed = { it: 0, other: 0 };
	document.addEventListener("click", (e) => { if (e.target.id in pressed) pressed[e.target.id]++; });
	const it = document.querySelector("#it");
	%SCRIPT%</script>`

// shown serves a page with a script in a tab of its own.
func shown(t *testing.T, script string) context.Context {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Replace(page, "%SCRIPT%", script, 1)))
	}))
	t.Cleanup(server.Close)
	tab := browsertest.Start(t)
	require.NoError(t, chromedp.Run(tab, chromedp.Navigate(server.URL)))
	return tab
}

// A press reaches what it is meant for once, and nothing else, whatever the page does in the meantime.
func TestClicksHit(t *testing.T) {
	t.Parallel()

	for name, script := range map[string]string{
		"stands still": ``,
		"moves for a while": `let left = 20; const move = setInterval(() => {
			it.style.left = 9 + 40 * left + "px"; if (--left === 0) clearInterval(move); }, 10)`,
		"moves away while it is pressed": `it.addEventListener("pointerdown",
			() => { it.style.left = "400px"; }, { once: true })`,
		"moves away before it is pressed": `let asked = 0; const where = document.elementFromPoint.bind(document);
			document.elementFromPoint = (x, y) => {
				const e = where(x, y);
				if (asked++ === 0) it.style.left = "400px";
				return e;
			}`,
		"is covered": `const cover = document.body.appendChild(document.createElement("div")); cover.id = "cover";
			setTimeout(() => cover.remove(), 200)`,
		"is disabled":     `it.disabled = true; setTimeout(() => { it.disabled = false; }, 200)`,
		"is hidden":       `it.style.visibility = "hidden"; setTimeout(() => { it.style.visibility = ""; }, 200)`,
		"comes later":     `it.remove(); setTimeout(() => document.body.append(it), 200)`,
		"is out of sight": `it.style.top = "5000px"`,
		"is in a label":   `const l = document.createElement("label"); it.replaceWith(l); l.append(it)`,
		"is replaced often": `let n = 20; const again = setInterval(() => {
			document.querySelector("#it").replaceWith(it.cloneNode(true)); if (--n === 0) clearInterval(again); }, 10)`,
	} {
		for _, selector := range []string{"#it", `//button[text()="It"]`} {
			t.Run(name+" "+selector, func(t *testing.T) {
				t.Parallel()

				var pressed map[string]int
				require.NoError(t, chromedp.Run(shown(t, script),
					browsertest.Click(selector), chromedp.Evaluate(`pressed`, &pressed)))
				require.Equal(t, map[string]int{"it": 1, "other": 0}, pressed)
			})
		}
	}
}

// What is missing, covered or disabled for good fails, and the error names it.
func TestClicksFail(t *testing.T) {
	t.Parallel()

	for name, script := range map[string]string{
		"missing":  `it.remove()`,
		"disabled": `it.disabled = true`,
		"covered":  `document.body.appendChild(document.createElement("div")).id = "cover"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tab := shown(t, script)
			ctx, cancel := context.WithTimeout(tab, time.Second)
			defer cancel()
			err := chromedp.Run(ctx, browsertest.Click("#it"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "clicking #it")
			var pressed map[string]int
			require.NoError(t, chromedp.Run(tab, chromedp.Evaluate(`pressed`, &pressed)))
			require.Equal(t, map[string]int{"it": 0, "other": 0}, pressed)
		})
	}
}

// Keys go to an input that comes later, and to none before.
func TestTyping(t *testing.T) {
	t.Parallel()

	tab := shown(t, `document.body.insertAdjacentHTML("beforeend", "<input id=first>");
		document.querySelector("#first").focus();
		setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<input id=second>"), 200)`)
	var texts []string
	require.NoError(t, chromedp.Run(tab, browsertest.Type("#second", "pears"),
		chromedp.Evaluate(`[...document.querySelectorAll("input")].map((e) => e.value)`, &texts)))
	require.Equal(t, []string{"", "pears"}, texts)
}
