package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// offer makes a toolset and a key for it, whose address is that of the clients from now on.
func (c *mcpDesk) offer(slug string, tools ...toolset.Tool) toolset.Toolset {
	c.t.Helper()
	made, err := c.CreateToolset(c.t.Context(), toolset.Toolset{Tenant: c.principal.Tenant, Slug: slug, Tools: tools})
	require.NoError(c.t, err)
	_, c.key, err = c.CreateKey(c.t.Context(), store.Key{
		Tenant: c.principal.Tenant, Name: slug, Toolset: slug, Permissions: []string{"tools.read", "runs.write"},
	})
	require.NoError(c.t, err)
	c.query = "/" + slug
	return made
}

// unknown returns the refusal of a call of a tool that the client does not have, without its name.
func unknown(t *testing.T, session *mcp.ClientSession, name string) string {
	t.Helper()
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"name": "a"}})
	var refused *jsonrpc.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, int64(jsonrpc.CodeInvalidParams), refused.Code)
	return strings.ReplaceAll(refused.Message, name, "NAME")
}

// The clients of a toolset see its tools, at the versions that it allows, by every way there is to see and call
// tools, and no others.
func TestAToolsetIsAllThatItsClientsSee(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	read := c.publish("readNote", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	read.Definition = functionTool("readNew", tool.Execution{Pure: true})
	c.release(read, "2.0.0")
	c.publish("readLetter", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	c.publish("later", functionTool("readNew", tool.Execution{Pure: true}), tool.Policy{})
	pure := functionTool("read", tool.Execution{Pure: true})
	c.publish("secretNote", pure, tool.Policy{RequiredPermission: "secrets.read"})
	global := c.publishIn(c.db.Platform.Registry(), "", "platformRead", pure, tool.Policy{})
	c.offer("notes", toolset.Tool{Name: "readNote", Version: "^1"}, toolset.Tool{Name: "later", Version: "^9"},
		toolset.Tool{Name: "secretNote"}, toolset.Tool{Name: global.ID})

	for _, revision := range []string{withSessions, withoutSessions} {
		session := c.connect(revision, nil)
		require.Equal(t, []string{"platformRead", "readNote"}, namesOf(t, session), "a set permits nothing")
		result := c.callMCP(session, &mcp.CallToolParams{Name: "readNote", Arguments: map[string]any{"name": "a"}})
		require.Equal(t, map[string]any{"name": "old a"}, result.StructuredContent, "version 1.0.0 runs")
		runID, _ := result.Meta["toolcrib/run-id"].(string)
		calls := c.invocations(runID)
		require.Len(t, calls, 1)
		require.Equal(t, "1.0.0", calls[0].Version)
		require.Equal(t, "readNote", calls[0].Slug)
		none := unknown(t, session, "noSuchTool")
		for _, name := range []string{"readLetter", "later", "secretNote", "searchTools"} {
			require.Equal(t, none, unknown(t, session, name), name)
		}

		c.query = "/notes?catalog=search"
		thin := c.connect(revision, nil)
		c.query = "/notes"
		require.Equal(t, []string{"callTool", "describeTool", "searchTools"}, namesOf(t, thin))
		names, of := c.finds(thin, "read")
		require.ElementsMatch(t, []string{"platformRead", "readNote"}, names)
		require.Equal(t, 2, of)
		for _, by := range []string{"describeTool", "callTool"} {
			said := map[string]string{}
			for _, name := range []string{"noSuchTool", "readLetter", "later", "secretNote"} {
				absent := c.callMCP(thin, &mcp.CallToolParams{Name: by, Arguments: map[string]any{"name": name}})
				require.True(t, absent.IsError)
				said[strings.ReplaceAll(shownText(t, absent), name, "NAME")] = name
			}
			require.Len(t, said, 1, "the same words for all: %v", said)
		}
		found := c.callMCP(thin, &mcp.CallToolParams{
			Name: "callTool", Arguments: map[string]any{"name": "readNote", "arguments": map[string]any{"name": "b"}},
		})
		require.Equal(t, map[string]any{"name": "old b"}, found.StructuredContent)
	}

	// A tool of the tenant that takes the name of one of the set is not in the set.
	session := c.connect(withoutSessions, nil)
	c.publish("platformRead", functionTool("readNew", tool.Execution{Pure: true}), tool.Policy{})
	require.Equal(t, []string{"readNote"}, namesOf(t, session))
	require.Equal(t, unknown(t, session, "noSuchTool"), unknown(t, session, "platformRead"))
}

// A session belongs to the address that it was opened at, and its client learns of changes of its toolset.
func TestAToolsetChangesUnderItsSessions(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	all := c.key
	for _, slug := range []string{"one", "two", "three"} {
		c.publish(slug, functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	}
	made := c.offer("numbers", toolset.Tool{Name: "one"})
	changed := make(chan struct{}, 10)
	session := c.connect(withSessions, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	require.Equal(t, []string{"one"}, namesOf(t, session))
	replace := func(tools ...toolset.Tool) {
		made.Tools = tools
		saved, err := c.SaveToolset(t.Context(), made)
		require.NoError(t, err)
		made = saved
	}
	next := []toolset.Tool{{Name: "two"}}
	require.Eventually(t, func() bool { // Once the stream is open.
		replace(next...)
		if len(next) == 1 {
			next = append(next, toolset.Tool{Name: "three"})
		} else {
			next = next[:1]
		}
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}, 60*time.Second, time.Second)
	replace(toolset.Tool{Name: "two"})
	require.Equal(t, []string{"two"}, namesOf(t, session), "at once")
	unknown(t, session, "one")

	// The same session, by the same key of the API, at other addresses.
	_, err := c.CreateToolset(t.Context(), toolset.Toolset{Tenant: c.principal.Tenant, Slug: "others"})
	require.NoError(t, err)
	c.key = all
	free := c.connect(withSessions, nil)
	for path, status := range map[string]int{
		"/mcp/numbers": http.StatusOK, "/mcp": http.StatusNotFound, "/mcp/others": http.StatusNotFound,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.served.URL+path,
			strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`))
		require.NoError(t, err)
		for name, value := range map[string]string{
			"Authorization": "Bearer " + all, "Content-Type": "application/json",
			"Accept":         "application/json, text/event-stream",
			"Mcp-Session-Id": free.ID(), "Mcp-Protocol-Version": withSessions,
		} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode, path)
	}

	// Disabled, it does not exist; deleted, its key is gone.
	made.Status = toolset.Disabled
	made, err = c.SaveToolset(t.Context(), made)
	require.NoError(t, err)
	_, err = free.ListTools(t.Context(), nil)
	require.ErrorContains(t, err, "not found")
	_, err = c.DeleteToolset(t.Context(), c.principal.Tenant, made.ID, made.Revision)
	require.NoError(t, err)
	_, err = session.ListTools(t.Context(), nil)
	require.ErrorContains(t, err, "Unauthorized")
}

// A call by a client of a toolset is joined by its id, and is the key's own.
func TestAToolsetsCallsAreMadeOnce(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	look := lookTool()
	c.publish("look", look, tool.Policy{})
	c.offer("desk", toolset.Tool{Name: "look", Version: "~1.0"})
	close(g.goOn)
	session := c.connect(withoutSessions, nil)
	params := func() *mcp.CallToolParams {
		return &mcp.CallToolParams{
			Name: "look", Arguments: map[string]any{"name": "a"}, Meta: mcp.Meta{"toolcrib/call-id": "order-1"},
		}
	}
	first, second := c.callMCP(session, params()), c.callMCP(session, params())
	require.Equal(t, first.Meta["toolcrib/run-id"], second.Meta["toolcrib/run-id"])
	require.Equal(t, 1, g.times())
	runID, _ := first.Meta["toolcrib/run-id"].(string)
	read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "toolcrib://runs/" + runID})
	require.NoError(t, err)
	raw, err := json.Marshal(read)
	require.NoError(t, err)
	require.Contains(t, string(raw), "found a")
}
