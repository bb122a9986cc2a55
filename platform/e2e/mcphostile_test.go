package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// A client ends no call but its own: neither another key, nor another session of the same key, cancels a request by
// its id.
func TestMCPClientsCancelNothingOfOthers(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	session := c.connect(withSessions, nil)
	result := make(chan *mcp.CallToolResult, 1)
	failed := make(chan error, 1)
	go func() {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "look", Arguments: map[string]any{"name": "a"}})
		failed <- err
		result <- r
	}()
	<-g.begun
	other, stranger := c.db.Key(t, c.principal.Tenant, "*"), c.db.Key(t, c.newTenant(), "*")
	for _, from := range []struct {
		key, session string
		status       int
	}{
		{other, c.connect(withSessions, nil, other).ID(), http.StatusAccepted},
		{c.key, c.connect(withSessions, nil).ID(), http.StatusAccepted},
		{other, session.ID(), http.StatusNotFound},
		{stranger, session.ID(), http.StatusNotFound},
	} {
		for id := range 10 {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.served.URL+"/mcp", strings.NewReader(body))
			require.NoError(t, err)
			for name, value := range map[string]string{
				"Authorization": "Bearer " + from.key, "Mcp-Session-Id": from.session, "Mcp-Protocol-Version": withSessions,
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			} {
				req.Header.Set(name, value)
			}
			resp, err := http.DefaultTransport.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, from.status, resp.StatusCode)
		}
	}
	close(g.goOn)
	require.NoError(t, <-failed)
	require.Equal(t, map[string]any{"name": "found a"}, (<-result).StructuredContent)
	require.Empty(t, g.left, "nothing was cancelled")
	require.Equal(t, 1, g.times())
}
