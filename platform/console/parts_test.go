package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/console"
)

var help = click(`[aria-label="Help and shortcuts"]`)

const (
	helps   = `document.querySelector("[role=dialog] h2")?.innerText === "Shortcuts"`
	updated = `document.body.innerText.includes("The console was updated")`
)

// blocked has requests to addresses fail in the tab, as those to a server that is away.
func blocked(patterns ...string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return network.SetBlockedURLs(append([]string{}, patterns...)).Do(ctx)
	})
}

// A part of the pages that is opened while the network or the server is away is there when they are.
func TestPartsWaitForTheServer(t *testing.T) {
	t.Parallel()

	for name, away := range map[string]func(is bool) chromedp.Action{
		"Network": func(is bool) chromedp.Action {
			return chromedp.Tasks{offline(is), until(fmt.Sprintf("navigator.onLine === %t", !is))}
		},
		"Server": func(is bool) chromedp.Action {
			if is {
				return chromedp.Tasks{
					blocked("*"), click("tbody a"),
					until(`document.querySelector("aside")?.innerText.includes("cannot be reached")`),
				}
			}
			return blocked()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			v := visit(t, newSite(t, ""), browser(t))
			v.signIn(t)
			v.open(t, "/inbox")
			v.do(t, until(isLive))
			v.blameless(t)                                         // What follows are failures of requests.
			v.do(t, away(true), help, chromedp.Sleep(time.Second), // It tries meanwhile.
				until("!("+updated+") && !("+helps+")"), away(false), until(helps))
		})
	}
}

// Where a part cannot be loaded into a page any more, it says so in its place, and the rest of the page stays.
func TestAPartThatFailed(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/inbox")
	v.do(t, until(isLive), blocked("*/help.js"), help,
		until(`document.querySelector(".unloaded")?.innerText.includes("This part could not be loaded")`),
		until(`document.querySelector("h1")?.innerText === "Inbox"`))
	v.accessible(t, "a part that could not be loaded")
	v.do(t, blocked(), button("Load the page again"), until(`!document.querySelector(".unloaded")`),
		chromedp.WaitVisible("h1", chromedp.ByQuery), settled(), help, until(helps))
}

// A page of a build that is served no more says so where it needs another part, and loads the new build where a person
// goes to another page.
func TestAnotherBuildIsServed(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	built := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(os.DirFS("dist"), ".", func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(os.DirFS("dist"), at)
		built[at] = &fstest.MapFile{Data: raw}
		return err
	}))
	built["BUILD.json"] = &fstest.MapFile{Data: []byte(`{"source":"","hash":"0123456789abcdef"}`)}
	another, err := console.NewHandler(console.Options{Prefix: s.prefix, Development: true}, built)
	require.NoError(t, err)
	v := visit(t, s, browser(t))
	v.signIn(t)
	v.open(t, "/inbox")
	v.do(t, until(isLive))
	v.blameless(t) // What follows are failures of requests.
	s.another.Store(&another)
	const served = `document.querySelector("script[type=module]").src.includes("0123456789abcdef")`
	v.do(t, help, until(updated), button("Load the page again"),
		until(served), chromedp.WaitVisible("h1", chromedp.ByQuery), settled(), help, until(helps))

	v.do(t, chromedp.Navigate(v.url+"/t/"+v.slug+"/inbox"), chromedp.WaitVisible("h1", chromedp.ByQuery), settled())
	s.another.Store(nil)
	v.do(t, click(`nav a[href$="/runs"]`),
		until(`document.querySelector("h1")?.innerText === "Runs"`), until("!("+served+")"))
}

// What was read stays where it cannot be read again for a while, with what is typed beside it; a notice names it.
func TestWhatWasReadStays(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	v := visit(t, s, browser(t))
	v.signIn(t)
	var pending v1.Page[v1.Approval]
	require.NoError(t, json.Unmarshal(s.change(t, http.MethodGet, "/v1/approvals?status=pending", ""), &pending))
	v.open(t, "/inbox?status=pending&open="+pending.Items[0].ID)
	rows := func(n int) chromedp.Action {
		return until(fmt.Sprintf(`document.querySelectorAll("tbody tr").length === %d`, n))
	}
	reject := click(`//aside//button[text()="Reject…"]`)
	v.do(t, until(isLive), rows(len(pending.Items)), reject,
		typed(`[role=alertdialog] textarea`, "Half a sentence"))
	const (
		typed = `document.querySelector("[role=alertdialog] textarea")?.value === "Half a sentence"`
		old   = `!!document.querySelector(".notice.old")`
	)
	v.blameless(t) // What follows are failures of requests.
	v.do(t, blocked("*/v1/approvals*"))
	s.asks(t, 3)
	v.do(t, until(old), until(typed), rows(len(pending.Items)), blocked())
	s.asks(t, 4)
	v.do(t, until("!("+old+")"), rows(len(pending.Items)+2), until(typed))

	v.do(t, click(`//*[@role="alertdialog"]//button[text()="Back"]`), blocked("*/v1/approvals*"))
	s.asks(t, 5)
	v.do(t, until(old))
	v.accessible(t, "what could not be read again")
	again := button("Read it again")
	v.do(t, again, until(`document.querySelector(".notice.old button")?.disabled`),
		until(`!document.querySelector(".notice.old button")?.disabled`), rows(len(pending.Items)+2), until(old),
		blocked(), again, until("!("+old+")"), rows(len(pending.Items)+3))
}
