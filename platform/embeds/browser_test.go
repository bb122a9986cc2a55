package embeds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/browsertest"
	"github.com/toolcrib/toolcrib/platform/console"
	"github.com/toolcrib/toolcrib/platform/embeds"
	"github.com/toolcrib/toolcrib/platform/inputpage"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

// around is the page of another site with a frame. It gives the frame a token when it is asked, unless it is silent,
// and keeps what the frame says.
const around = `<!DOCTYPE html><title>shop</title><body>%[1]s
<iframe id="tool" src=%[2]q width="900" height="300"></iframe>
<script>
  const server = new URL(%[2]q).origin, token = %[3]q, said = [];
  let silent = %[4]t, strangers = 0;
  const give = () => document.getElementById("tool").contentWindow.postMessage({ type: "toolcrib:token", token }, server);
  addEventListener("message", (event) => {
    if (event.data === "attacked") { strangers++; return; }
    if (event.origin !== server) return;
    said.push(event.data);
    if (event.data.type === "toolcrib:token-request" && !silent) give();
    if (event.data.type === "toolcrib:resize") document.getElementById("tool").height = event.data.height;
  });
</script>`

// attack is a page of a third site, within the page around: it gives the frame beside it a token of its own.
const attack = `<!DOCTYPE html><script>
  const heard = [];
  addEventListener("message", (event) => heard.push(event.data));
  for (const to of [parent.frames[0], parent.frames[1]]) {
    if (to !== window) to.postMessage({ type: "toolcrib:token", token: %q }, "*");
  }
  parent.postMessage("attacked", "*");
</script>`

// others are sites that frame ours.
type others struct {
	*desk
	t       *testing.T
	server  string // Ours.
	shop    string // Is allowed to frame tools.
	foreign string // Is not.
	token   string
	run     func(...chromedp.Action) error // In a tab.

	mu    sync.Mutex
	pages map[string]string // Of both sites, by path.
	asked []*http.Request   // Of ours.
}

func newOthers(t *testing.T) *others {
	t.Helper()
	o := &others{desk: newDesk(), t: t, pages: map[string]string{}}
	site := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o.mu.Lock()
			defer o.mu.Unlock()
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(o.pages[r.URL.Path]))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	o.shop, o.foreign = site(), site()
	require.NoError(t, toolembed.CheckOrigin(o.shop))
	o.origins = []string{o.shop}
	s := o.service(t)
	framed := embeds.NewPages(s)
	asks, err := inputpage.New(inputpage.Config{Calls: noCalls{}, Runs: noRuns{}})
	require.NoError(t, err)
	shell, err := console.Handler(console.Options{})
	require.NoError(t, err)
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.asked = append(o.asked, r)
		o.mu.Unlock()
		switch {
		case strings.HasPrefix(r.URL.Path, toolembed.Path):
			framed.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, input.Path):
			asks.ServeHTTP(w, r)
		default:
			shell.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(ours.Close)
	o.server, o.token = ours.URL, o.desk.token(t, s, "customer-7")
	tab := browsertest.Start(t)
	o.run = func(actions ...chromedp.Action) error { return chromedp.Run(tab, actions...) }
	return o
}

type (
	noCalls struct{ inputpage.Calls }
	noRuns  struct{ inputpage.Runs }
)

// open opens the page of a site with a frame of an address.
func (o *others) open(site, frame string, silent bool, before string) {
	o.t.Helper()
	o.mu.Lock()
	o.pages["/"] = fmt.Sprintf(around, before, frame, o.token, silent)
	o.mu.Unlock()
	require.NoError(o.t, o.run(chromedp.Navigate(site+"/")))
}

// frame returns the frame with the tool, and whether the browser refused to show it.
func (o *others) frame() (id cdp.FrameID, refused bool) {
	o.t.Helper()
	require.NoError(o.t, o.run(chromedp.ActionFunc(func(ctx context.Context) error {
		tree, err := page.GetFrameTree().Do(ctx)
		if err != nil {
			return err
		}
		for _, child := range tree.ChildFrames {
			if f := child.Frame; strings.HasPrefix(f.URL+f.UnreachableURL, o.server) || f.UnreachableURL != "" {
				id, refused = f.ID, f.UnreachableURL != ""
			}
		}
		return nil
	})))
	return id, refused
}

// in evaluates an expression in the frame.
func (o *others) in(expression string, into any) {
	o.t.Helper()
	id, refused := o.frame()
	require.False(o.t, refused)
	require.NoError(o.t, o.run(chromedp.ActionFunc(func(ctx context.Context) error {
		world, err := page.CreateIsolatedWorld(id).Do(ctx)
		if err != nil {
			return err
		}
		got, failed, err := runtime.Evaluate(expression).WithContextID(world).WithReturnByValue(true).
			WithAwaitPromise(true).Do(ctx)
		if err == nil && failed != nil {
			err = failed
		}
		if err == nil && into != nil {
			err = json.Unmarshal(got.Value, into)
		}
		return err
	})))
}

// shows waits until the frame shows a text.
func (o *others) shows(text string) {
	o.t.Helper()
	var now string
	require.Eventually(o.t, func() bool {
		o.in(`document.body.innerText`, &now)
		return strings.Contains(now, text)
	}, 20*time.Second, 50*time.Millisecond, text)
}

// outside evaluates an expression in the page around.
func (o *others) outside(expression string, into any) {
	o.t.Helper()
	require.NoError(o.t, o.run(chromedp.Evaluate(expression, into)))
}

// enter fills in a field of the frame.
func (o *others) enter(name, text string) {
	o.t.Helper()
	o.in(fmt.Sprintf(`document.querySelector('[name=%q]').value = %q`, name, text), nil)
}

const push = `document.querySelector("form").requestSubmit()`

// The console, the pages of requests and the pages of tools cannot be framed by sites that the tenant does not allow;
// the console and requests by none.
func TestWhoMayFrame(t *testing.T) {
	t.Parallel()

	o := newOthers(t)
	for _, c := range []struct {
		name, site, path string
		refused          bool
	}{
		{"the console", o.foreign, "/login", true},
		{"the console, at an allowed origin", o.shop, "/login", true},
		{"a request", o.foreign, input.Path + "abc", true},
		{"a request, at an allowed origin", o.shop, input.Path + "abc", true},
		{"a tool", o.foreign, "/embed/acme/trackOrder", true},
		{"a tool of another tenant", o.shop, "/embed/other/trackOrder", true},
		{"a tool, at an allowed origin", o.shop, "/embed/acme/trackOrder", false},
	} {
		o.open(c.site, o.server+c.path, false, "")
		require.Eventually(t, func() bool { // The frame is loaded after the page.
			o.mu.Lock()
			defer o.mu.Unlock()
			return len(o.asked) > 0 && strings.HasPrefix(o.asked[len(o.asked)-1].URL.Path, c.path)
		}, 20*time.Second, 20*time.Millisecond, c.name)
		require.Eventually(t, func() bool {
			_, refused := o.frame()
			return refused == c.refused
		}, 20*time.Second, 20*time.Millisecond, c.name)
		if !c.refused {
			o.shows("Track")
		}
	}
	o.change(func() { o.origins = nil }) // It is allowed no longer.
	o.open(o.shop, o.server+"/embed/acme/trackOrder", false, "")
	require.Eventually(t, func() bool {
		_, refused := o.frame()
		return refused
	}, 20*time.Second, 20*time.Millisecond)
}

// A person before a page of another site fills in the form in the frame, without what operators set, and sees the
// result, which the page around gets too. No cookie and no address has the token.
func TestAToolInAFrame(t *testing.T) {
	t.Parallel()

	o := newOthers(t)
	o.open(o.shop, o.server+"/embed/acme/trackOrder", false, "")
	o.shows("Track <i>")
	var dom string
	o.in(`document.documentElement.outerHTML.replace(/<script>[^]*<.script>/, "")`, &dom)
	require.Contains(t, dom, `name="f.order"`)
	for _, absent := range []string{"f.model", "Model of operators", "f.verbose", "dditional", "route"} {
		require.NotContains(t, dom, absent)
	}
	o.accessible()

	o.in(push, nil)
	o.shows("This is needed.")
	require.Empty(t, o.made())
	o.enter("f.order", "9223372036854775807")
	o.enter("f.note", "<img src=x onerror=alert(1)>")
	o.in(`document.querySelector('[name="f.why"]').click()`, nil)
	o.in(push, nil)
	o.shows("Done.")
	o.shows("<img src=x onerror=alert(1)>")
	o.accessible()
	require.Len(t, o.made(), 1)
	require.JSONEq(t, `{"order":9223372036854775807,"why":"late","note":"<img src=x onerror=alert(1)>"}`,
		string(o.made()[0].Node.Arguments))
	require.True(t, strings.HasSuffix(o.made()[0].Principal.Subject, ":customer-7"))

	var said []struct{ Type, Status, Output string }
	require.Eventually(t, func() bool {
		o.outside(`said.filter((m) => m.type === "toolcrib:result")`, &said)
		return len(said) == 1
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, "completed", said[0].Status)
	require.Contains(t, said[0].Output, "9223372036854775807")
	require.Eventually(t, func() bool { // The page around knows how high the frame is.
		var fits bool
		o.in(`document.documentElement.scrollHeight <= innerHeight`, &fits)
		return fits
	}, 20*time.Second, 50*time.Millisecond)
	var cookie string
	o.in(`document.cookie`, &cookie)
	require.Empty(t, cookie)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.asked {
		require.NotContains(t, r.URL.String(), "tce_")
		require.NotContains(t, r.Referer(), "tce_")
		require.Empty(t, r.Cookies())
	}
}

// A tool that changes something asks twice, and one that needs an approval says that it waits.
func TestTwoStepsInAFrame(t *testing.T) {
	t.Parallel()

	o := newOthers(t)
	o.tool.EgressClass, o.end, o.status = tool.EgressWrite, agent.CallEnd{Status: agent.RunRunning}, tool.StatusPending
	o.open(o.shop, o.server+"/embed/acme/trackOrder", false, "")
	o.shows("Track <i>")
	o.enter("f.order", "12")
	o.in(push, nil)
	o.shows("Confirm what you send")
	o.accessible()
	const confirm = `[...document.querySelectorAll("button")].find((b) => b.textContent === %q)`
	var disabled bool
	o.in(fmt.Sprintf(confirm+`.click()`, "Back"), nil)
	o.shows("Order <b>")
	require.Empty(t, o.made())
	o.in(push, nil)
	o.shows("Confirm what you send")
	require.Eventually(t, func() bool { // A double click does not do.
		o.in(fmt.Sprintf(confirm+`.disabled`, "Confirm"), &disabled)
		return !disabled
	}, 20*time.Second, 20*time.Millisecond)
	o.in(fmt.Sprintf(confirm+`.click()`, "Confirm"), nil)
	o.shows("waits for an approval")
	require.Len(t, o.made(), 1)
	o.change(func() { o.end = agent.CallEnd{Status: agent.RunCompleted} })
	o.shows("Done.")
	require.Len(t, o.made(), 1)
}

// A message of another site than the one around gives the frame no token, and the frame answers it nothing.
func TestForeignMessages(t *testing.T) {
	t.Parallel()

	o := newOthers(t)
	thief := o.desk.token(t, o.service(t), "thief")
	o.pages["/attack"] = fmt.Sprintf(attack, thief)
	o.open(o.shop, o.server+"/embed/acme/trackOrder", true, "")
	o.shows("One moment.")
	// The attacker comes when the frame listens, beside it.
	o.outside(`document.body.prepend(Object.assign(document.createElement("iframe"), { src: "`+o.foreign+`/attack" })); 1`, nil)
	var strangers int
	require.Eventually(t, func() bool {
		o.outside(`strangers`, &strangers)
		return strangers > 0
	}, 20*time.Second, 50*time.Millisecond)
	var text string
	o.in(`new Promise((done) => setTimeout(() => done(document.body.innerText), 0))`, &text)
	require.Contains(t, text, "One moment.")
	require.NotContains(t, text, "Track")
	o.mu.Lock()
	for _, r := range o.asked {
		require.NotEqual(t, http.MethodPost, r.Method, "no token was used")
	}
	o.mu.Unlock()

	// Nor does a message of the page around that is none of ours.
	for _, message := range []string{`null`, `"toolcrib:token"`, `{ type: "toolcrib:token" }`, `{ type: "x", token }`} {
		o.outside(`document.getElementById("tool").contentWindow.postMessage(`+message+`, server); 1`, nil)
	}
	o.outside(`give(); 1`, nil)
	require.Eventually(t, func() bool {
		o.in(`document.body.innerText`, &text)
		return strings.Contains(text, "Track")
	}, 20*time.Second, 50*time.Millisecond)
	o.in(`document.querySelector('[name="f.order"]').value = "3"; `+push, nil)
	require.Eventually(t, func() bool { return len(o.made()) == 1 }, 20*time.Second, 50*time.Millisecond)
	require.True(t, strings.HasSuffix(o.made()[0].Principal.Subject, ":customer-7"))
}

// Where the token has expired, the frame asks the page around for another one.
func TestAnotherToken(t *testing.T) {
	t.Parallel()

	o := newOthers(t)
	o.open(o.shop, o.server+"/embed/acme/trackOrder", false, "")
	o.shows("Track <i>")
	o.change(func() { o.grants = map[string]toolembed.Grant{} })
	o.outside(`silent = true; 1`, nil)
	o.enter("f.order", "3")
	o.in(push, nil)
	var asked int
	require.Eventually(t, func() bool {
		o.outside(`said.filter((m) => m.type === "toolcrib:token-request").length`, &asked)
		return asked > 1
	}, 20*time.Second, 50*time.Millisecond)
	require.Empty(t, o.made())
	another := o.desk.token(t, o.service(t), "customer-7")
	o.outside(fmt.Sprintf(`document.getElementById("tool").contentWindow.postMessage(
		{ type: "toolcrib:token", token: %q }, server); 1`, another), nil)
	o.shows("Done.")
	require.Len(t, o.made(), 1)
}

// accessible finds faults of accessibility in the frame.
func (o *others) accessible() {
	o.t.Helper()
	axe, err := os.ReadFile("../console/testdata/axe.min.js")
	require.NoError(o.t, err)
	var found []string
	o.in(string(axe)+`; axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
		resultTypes: ["violations"] }).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html)))`, &found)
	require.Empty(o.t, found)
}

// The example of a page around works, as it is in the documentation.
func TestTheExampleOfAPage(t *testing.T) {
	t.Parallel()

	o := newOthers(t)
	example, err := os.ReadFile("../../examples/embed/page.html")
	require.NoError(t, err)
	o.pages["/"] = string(example)
	o.pages["/embed-token"] = fmt.Sprintf(`{"token":%q,"url":%q}`, o.token, o.server+"/embed/acme/trackOrder")
	require.NoError(t, o.run(chromedp.Navigate(o.shop+"/")))
	require.Eventually(t, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.asked) > 1
	}, 20*time.Second, 20*time.Millisecond)
	o.shows("Track <i>")
	o.enter("f.order", "4711")
	o.in(push, nil)
	o.shows("Done.")
	var text string
	require.Eventually(t, func() bool {
		o.outside(`document.getElementById("answer").textContent`, &text)
		return text == `completed: {"order":4711}`
	}, 20*time.Second, 50*time.Millisecond)
}
