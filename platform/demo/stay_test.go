package demo_test

import (
	"bytes"
	"context"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/browsertest"
	"github.com/toolcrib/toolcrib/platform/demo"
	"github.com/toolcrib/toolcrib/platform/sandbox"
)

// terminal keeps what a person reads.
type terminal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *terminal) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *terminal) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// A demo that stays leaves a refund and a question to a person, who follows what it prints: signs a browser in,
// approves and answers in the inbox, and sees both runs end, and the graph.
func TestStay(t *testing.T) {
	t.Parallel()

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out terminal
	ended, at, data := make(chan error, 1), root(t), t.TempDir()
	go func() {
		ended <- demo.Run(ctx, demo.Config{
			Root: at, DataDir: data, Throwaway: true, Stay: true, Out: &out, Environ: []string{},
			Sandbox: sandbox.Command(),
		})
	}()
	require.Eventually(t, func() bool {
		select {
		case err := <-ended:
			require.NoError(t, err, "%s", &out)
			return true
		default:
			return regexp.MustCompile(`It stays up`).MatchString(out.String())
		}
	}, 3*time.Minute, 100*time.Millisecond)
	printed := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(out.String())
		require.Len(t, found, 2, "%s in %s", pattern, &out)
		return found[1]
	}
	inbox := printed(`your inbox +(http\S+)`)
	tab := browsertest.Start(t)
	do := func(steps ...chromedp.Action) {
		t.Helper()
		limited, cancel := context.WithTimeout(tab, 2*time.Minute)
		defer cancel()
		if err := chromedp.Run(limited, steps...); err != nil {
			var body string
			_ = chromedp.Run(tab, chromedp.Evaluate(`location.href + document.body.innerText`, &body))
			require.NoError(t, err, "%s", body)
		}
	}
	has := func(in, text string) chromedp.Action {
		return browsertest.Until(`document.querySelector("` + in + `")?.innerText.includes("` + text + `")`)
	}
	press := func(in, says string) chromedp.Action {
		button := `[...document.querySelectorAll("` + in + `")].find((b) => b.innerText.startsWith("` + says + `") && !b.disabled)`
		return chromedp.Tasks{browsertest.Until(button), chromedp.Evaluate(button+`.click()`, nil)}
	}

	do(chromedp.Navigate(printed(`console +(http\S+)`)), browsertest.Until(`location.pathname.startsWith("/t/demo")`),
		has("nav", "Inbox"))
	do(chromedp.Navigate(printed(`the graph +(http\S+)`)), browsertest.Until(`document.querySelectorAll("main svg .completed").length`))

	// The refund, and then the three calls that the run makes once it has read a page from outside.
	for _, waits := range []string{"refundOrder", "getOrder", "checkStock", "quoteShipping"} {
		do(chromedp.Navigate(inbox), has("tbody", waits), press("tbody a", ""), press("aside button", "Approve"),
			press("[role=alertdialog] button", "Approve"), has("aside", "completed"),
			browsertest.Until(`!document.querySelector("aside").innerText.includes("answered no")`))
	}
	do(chromedp.Navigate(inbox+"/inputs"), press("tbody a", ""),
		chromedp.WaitVisible("aside .f-form", chromedp.ByQuery), chromedp.Evaluate(
			`document.querySelector("aside .f-form [type=radio]").click()`, nil), press("aside button", "Answer"),
		has("aside", "resolved"))
	for _, run := range regexp.MustCompile(`run (\S+)\n`).FindAllStringSubmatch(out.String(), -1) {
		do(chromedp.Navigate(regexp.MustCompile(`/inbox$`).ReplaceAllString(inbox, "/runs/"+run[1])),
			has("main h1", "completed"))
	}
	stop()
	require.NoError(t, <-ended, "%s", &out)
}
