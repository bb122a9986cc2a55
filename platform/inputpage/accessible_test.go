package inputpage_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/browsertest"
)

// A request, and what is wrong with an answer, can be read and answered by all, light and dark, on any screen.
func TestPagesOfRequestsAreAccessible(t *testing.T) {
	t.Parallel()

	started, s := browsertest.Start(t), newSite(t, ask)
	browsertest.Accessible(started, t, s.url+s.link)
	browsertest.Accessible(started, t, s.url+s.link, chromedp.Click("button[type=submit]", chromedp.ByQuery),
		browsertest.Until(`document.querySelector("[role=alert]")`))
	browsertest.Accessible(started, t, s.url+input.Path+"none")
}
