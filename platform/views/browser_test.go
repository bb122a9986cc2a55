package views_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/browsertest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// Pages of views can be read by all, with sections of each type and without, light and dark, on any screen.
func TestPagesOfViewsAreAccessible(t *testing.T) {
	t.Parallel()

	started := browsertest.Start(t)
	d := newDesk(t)
	d.version.Snapshot.Name, d.version.Snapshot.Description = "Get an order", "Finds an order."
	d.version.Snapshot.InputSchema = json.RawMessage(`{"type":"object","properties":{"order_id":{"type":"string"}}}`)
	d.version.Snapshot.Interaction.OutputSections = json.RawMessage(`[{"key":"a","type":"summary"},{"key":"b","type":"table"},
		{"key":"c","type":"chart"},{"key":"d","type":"radar"},{"key":"e","type":"ranking"},{"key":"f","type":"custom"}]`)
	long := "A name that is long enough that it does not fit into the width of a small screen"
	d.end.Result = &tool.Result{Structured: json.RawMessage(`{"a":{"open":3,"late":1},
		"b":[{"sku":"A-1","name":"` + long + `","price":1.50,"stock":9007199254740993,"place":"Shelf 12"}],
		"c":[{"day":"Mon","sold":3,"sent":1,"back":0},{"day":"Tue","sold":-2,"sent":4,"back":1}],
		"d":[{"axis":"speed","one":3,"two":5},{"axis":"price","one":5,"two":1},{"axis":"range","one":1,"two":2}],
		"e":{"North":40,"` + long + `":10},"f":{"nodes":["` + long + `"]},"note":"` + long + `"}`)}
	h, drawn := d.site(t, view.Result)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	browsertest.Accessible(started, t, server.URL+drawn, chromedp.Evaluate(
		`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil))
	browsertest.Accessible(started, t, server.URL+view.Path+"none")

	d.version.Snapshot.Interaction.OutputSections = nil
	browsertest.Accessible(started, t, server.URL+drawn)
	h, described := d.site(t, view.Tool)
	other := httptest.NewServer(h)
	t.Cleanup(other.Close)
	browsertest.Accessible(started, t, other.URL+described)
	var shown int
	require.NoError(t, chromedp.Run(started, chromedp.Navigate(server.URL+drawn),
		chromedp.Evaluate(`document.querySelectorAll("script").length`, &shown)))
	require.Zero(t, shown)
}
