package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

func namesOf(t *testing.T, session *mcp.ClientSession) (names []string) {
	t.Helper()
	for found, err := range session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		names = append(names, found.Name)
	}
	return names
}

// finds searches for tools, and returns their names and how many there are.
func (c *mcpDesk) finds(session *mcp.ClientSession, query string) (names []string, of int) {
	c.t.Helper()
	result := c.callMCP(session, &mcp.CallToolParams{Name: "searchTools", Arguments: map[string]any{"query": query}})
	require.False(c.t, result.IsError, shownText(c.t, result))
	var found struct {
		Tools []struct{ Name string }
		Of    int
	}
	require.NoError(c.t, json.Unmarshal([]byte(shownText(c.t, result)), &found))
	c.declared(session, "searchTools", result)
	for _, f := range found.Tools {
		names = append(names, f.Name)
	}
	return names, found.Of
}

// declared checks that a result is what its tool declares.
func (c *mcpDesk) declared(session *mcp.ClientSession, name string, result *mcp.CallToolResult) {
	c.t.Helper()
	list, err := session.ListTools(c.t.Context(), nil)
	require.NoError(c.t, err)
	at := slices.IndexFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == name })
	require.NotNil(c.t, list.Tools[at].OutputSchema, "%s declares its result", name)
	raw, err := json.Marshal(list.Tools[at].OutputSchema)
	require.NoError(c.t, err)
	declared, err := schema.New(1).Compile(raw)
	require.NoError(c.t, err)
	answer, err := json.Marshal(result.StructuredContent)
	require.NoError(c.t, err)
	require.NoError(c.t, declared.Validate(c.t.Context(), answer))
}

// A model finds, reads and calls the tools of its key by three tools, in the way of every call; what the key may
// not use is not found.
func TestMCPFindsTools(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	read := functionTool("read", tool.Execution{Pure: true})
	read.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Of a parcel."}},
		"required":["name"]}`)
	published := c.publish("readNote", read, tool.Policy{EgressClass: tool.EgressReadOnly})
	other := functionTool("readNew", tool.Execution{Pure: true})
	other.Description = "Weighs letters."
	c.publish("weighLetters", other, tool.Policy{})
	hidden := read
	hidden.Interaction.Visibility = tool.VisibilityInternal
	c.publish("innerNote", hidden, tool.Policy{})
	people := read
	people.Interaction.Audience = tool.AudienceUser
	c.publish("peoplesNote", people, tool.Policy{})
	c.publish("secretNote", read, tool.Policy{RequiredPermission: "secrets.read"})
	c.publish("searchTools", other, tool.Policy{}) // A tenant's own, by chance.
	plain := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write")
	knowing := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write", "secrets.read")
	caller := c.db.Key(t, c.principal.Tenant, "runs.write")
	c.query = "?catalog=search"

	for _, revision := range []string{withSessions, withoutSessions} {
		session := c.connect(revision, nil, plain)
		require.Equal(t, []string{"callTool", "describeTool", "searchTools"}, namesOf(t, session))
		names, of := c.finds(session, "a note")
		require.Equal(t, []string{"readNote"}, names)
		require.Equal(t, 3, of)
		names, _ = c.finds(session, "parcels")
		require.Equal(t, []string{"readNote"}, names, "by its schema")
		names, _ = c.finds(session, "letter")
		require.Contains(t, names, "weighLetters")
		names, _ = c.finds(c.connect(revision, nil, knowing), "note")
		require.ElementsMatch(t, []string{"readNote", "secretNote"}, names)

		described := c.callMCP(session, &mcp.CallToolParams{
			Name: "describeTool", Arguments: map[string]any{"name": "readNote"},
		})
		require.Contains(t, shownText(t, described), "Of a parcel.")
		c.declared(session, "describeTool", described)
		params := &mcp.CallToolParams{
			Name: "callTool", Arguments: map[string]any{"name": "readNote", "arguments": map[string]any{"name": "a"}},
			Meta: mcp.Meta{"toolcrib/call-id": "found-" + revision},
		}
		result := c.callMCP(session, params)
		require.False(t, result.IsError, shownText(t, result))
		require.JSONEq(t, `{"name":"old a"}`, shownText(t, result))
		again := c.callMCP(session, params)
		require.Equal(t, result.Meta["toolcrib/run-id"], again.Meta["toolcrib/run-id"], "it is made once")
		direct := c.callMCP(session, &mcp.CallToolParams{
			Name: "readNote", Arguments: map[string]any{"name": "a"}, Meta: mcp.Meta{"toolcrib/call-id": "found-" + revision},
		})
		require.Equal(t, result.Meta["toolcrib/run-id"], direct.Meta["toolcrib/run-id"], "it is that call")
		own := c.callMCP(session, &mcp.CallToolParams{Name: "callTool", Arguments: map[string]any{"name": "searchTools"}})
		require.False(t, own.IsError)

		for _, absent := range []string{"innerNote", "peoplesNote", "secretNote", "nothing", "callTool", "", "no/name"} {
			for _, by := range []string{"describeTool", "callTool"} {
				refused := c.callMCP(session, &mcp.CallToolParams{Name: by, Arguments: map[string]any{"name": absent}})
				require.True(t, refused.IsError, absent)
				require.Equal(t, "not_found", refused.Meta["toolcrib/kind"])
				require.Contains(t, shownText(t, refused), "searchTools")
			}
		}
		for _, wrong := range []string{
			`{}`, `{"query":""}`, `{"query":7}`, `{"query":"x","limit":0}`, `{"query":"x","limit":51}`,
			`{"query":"` + strings.Repeat("x", 401) + `"}`, `[]`,
		} {
			refused := c.callMCP(session, &mcp.CallToolParams{Name: "searchTools", Arguments: json.RawMessage(wrong)})
			require.True(t, refused.IsError, wrong)
			require.Equal(t, "invalid", refused.Meta["toolcrib/kind"])
		}
		_, err := c.connect(revision, nil, caller).CallTool(t.Context(), &mcp.CallToolParams{
			Name: "searchTools", Arguments: map[string]any{"query": "note"},
		})
		require.ErrorContains(t, err, "tools.read")
	}

	// What was found a moment ago and is switched off is absent at once.
	session := c.connect(withSessions, nil, plain)
	off := false
	_, err := c.SetOverride(t.Context(), tool.Override{
		Tenant: c.principal.Tenant, ToolID: published.ID, Enabled: &off, ChangedBy: "test",
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool { names, _ := c.finds(session, "note"); return len(names) == 0 },
		60*time.Second, 50*time.Millisecond)
}

// A key with many tools is offered three, unless its address asks for all; one with few is offered all.
func TestMCPListsManyToolsAsThree(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	many := tool.Policy{RequiredPermission: "many"}
	for i := range 201 {
		c.publish("tool"+strconv.Itoa(i), functionTool("read", tool.Execution{Pure: true}), many)
	}
	c.publish("single", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	few := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write")
	require.Equal(t, []string{"single"}, namesOf(t, c.connect(withSessions, nil, few)))
	_, err := c.connect(withSessions, nil, few).CallTool(t.Context(), &mcp.CallToolParams{Name: "searchTools"})
	require.ErrorContains(t, err, "unknown tool")

	session := c.connect(withSessions, nil)
	require.Equal(t, []string{"callTool", "describeTool", "searchTools"}, namesOf(t, session))
	names, of := c.finds(session, "tool 7")
	require.True(t, slices.Contains(names, "tool7"), names)
	require.Equal(t, 202, of)
	c.query = "?catalog=all"
	require.Len(t, namesOf(t, c.connect(withSessions, nil)), 202)

	req, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, c.served.URL+"/mcp?catalog=some", strings.NewReader("{}"))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
}
