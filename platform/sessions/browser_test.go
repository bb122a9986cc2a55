package sessions_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/browsertest"
	"github.com/toolcrib/toolcrib/toolsession"
)

// The form of a session, what is wrong with it, and what came of it can be read and used by all, light and dark, on any
// screen; the heading is above the fields, and the button below them.
func TestPagesOfSessionsAreAccessible(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.version.Snapshot.Interaction.OutputSections = json.RawMessage(`[{"key":"choice","label":"You took","type":"summary"}]`)
	h, path := d.link(t)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	started := browsertest.Start(t)
	const apart = `(() => {
		const parts = [...document.querySelectorAll("h1, main > p, h2, fieldset, .field, button")].map((e) => e.getBoundingClientRect());
		return parts.every((p, i) => i === 0 || p.top >= parts[i - 1].bottom);
	})()`
	browsertest.Accessible(started, t, server.URL+path, browsertest.Until(apart))
	browsertest.Accessible(started, t, server.URL+path, browsertest.Click("button"),
		browsertest.Until(`document.querySelector("[role=alert]")`), browsertest.Until(apart))
	resp, _ := ask(t, h, http.MethodPost, path, url.Values{"once": {"a"}, "f.choice": {`"soup"`}, "f.seats": {"2"}})
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	browsertest.Accessible(started, t, server.URL+resp.Header.Get("Location"))
	browsertest.Accessible(started, t, server.URL+toolsession.Path+"none")
}
