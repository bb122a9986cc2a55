package console_test

import (
	"strings"
	"testing"
)

// The transcript of a run shows what a tool answered by the sections of the version that was called, with the digits as
// they were, and on demand as the model got it; what no section shows is folded.
func TestATranscriptDrawsResults(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.apply(t, strings.ReplaceAll(quote, "%SLUG%", "drawnQuote"), `{"kind":"agent","slug":"quoteDesk","name":"Desk of quotes",
		"model":"scripted/quote-desk","instructions":"Ask.","version":"1.0.0","publish":true,"tools":["drawnQuote"]}`)
	v.open(t, "/runs/new?agent=quoteDesk")
	v.do(t, typed("#message", "What does it cost?"),
		click(".new-run .primary"), until(`/\/runs\/[0-9a-f-]{36}$/.test(location.pathname)`),
		until(`document.querySelector(".said.tool .o-stats")?.innerText.includes("28")`),
		until(`document.querySelector(".said.tool svg.o-chart")`),
		until(`!document.querySelector(".said.tool .o-twin[open]")`),
		click(".said.tool .o-tools button"),
		until(`document.querySelector(".said.tool .json").innerText.includes("9223372036854775807")`))
	v.size(t, 320, 800, "dark")
	v.do(t, until(`document.querySelector("h1").parentElement.innerText.includes("completed")`))
	v.accessible(t, "a transcript with sections")
	v.blameless(t)
}
