package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// opened sends a request for a page, as anyone with its link.
func (c *mcpDesk) opened(address string) (status int, page string) {
	c.t.Helper()
	path := address[strings.Index(address, view.Path):]
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.served.URL+path, nil)
	require.NoError(c.t, err)
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp.StatusCode, string(body)
}

// A client publishes the result of its own call; the page shows it to everyone with the link, after a restart too,
// until the tool is disabled or the view revoked. Clients of both generations are offered the two tools while the
// tenant publishes.
func TestMCPPublishesViews(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	d := functionTool("read", tool.Execution{Pure: true})
	d.InputSchema = json.RawMessage(`{"type":"object"}`)
	c.publish("read", d, tool.Policy{})
	names := func(session *mcp.ClientSession) []string {
		list, err := session.ListTools(t.Context(), nil)
		require.NoError(t, err)
		var out []string
		for _, shown := range list.Tools {
			out = append(out, shown.Name)
		}
		return slices.Sorted(slices.Values(out))
	}
	session, alone := c.connect(withSessions, nil), c.connect(withoutSessions, nil)
	require.Equal(t, []string{"read"}, names(session))
	_, err := c.SetPublishing(t.Context(), c.principal.Tenant, true)
	require.NoError(t, err)
	for _, s := range []*mcp.ClientSession{session, alone} {
		require.Equal(t, []string{"publish_view", "read", "submit_view_response"}, names(s))
	}

	var links []string
	for _, s := range []*mcp.ClientSession{session, alone} {
		result := c.callMCP(s, readCall())
		require.False(t, result.IsError)
		result = c.callMCP(s, &mcp.CallToolParams{Name: "publish_view", Arguments: map[string]any{
			"kind": "result", "run_id": result.Meta["toolcrib/run-id"], "title": "What it read",
		}})
		require.False(t, result.IsError, shownText(t, result))
		made, ok := result.StructuredContent.(map[string]any)
		require.True(t, ok)
		link, ok := made["url"].(string)
		require.True(t, ok)
		links = append(links, link)
	}
	c.serve()
	for _, link := range links {
		status, page := c.opened(link)
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, page, "What it read")
		require.Contains(t, page, "old a")
	}
	other := c.connect(withoutSessions, nil, c.db.Key(t, c.principal.Tenant, "runs.write", "tools.read", "views.write"))
	theirs := c.callMCP(session, readCall())
	result := c.callMCP(other, &mcp.CallToolParams{Name: "publish_view", Arguments: map[string]any{
		"kind": "result", "run_id": theirs.Meta["toolcrib/run-id"],
	}})
	require.True(t, result.IsError)
	require.Contains(t, shownText(t, result), "run not found", "another key's call")

	token, _ := view.ReadToken(links[0][strings.Index(links[0], view.Path)+len(view.Path):])
	_, err = c.RevokeView(t.Context(), c.principal.Tenant, token.ID, "user:ada")
	require.NoError(t, err)
	gone, page := c.opened(links[0])
	require.Equal(t, http.StatusNotFound, gone)
	_, unknown := c.opened(view.Path + "none")
	require.Equal(t, unknown, page)
	status, _ := c.opened(links[1])
	require.Equal(t, http.StatusOK, status)
	_, err = c.SetPublishing(t.Context(), c.principal.Tenant, false)
	require.NoError(t, err)
	status, _ = c.opened(links[1])
	require.Equal(t, http.StatusOK, status, "the link is the access control")
}
