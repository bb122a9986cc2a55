package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// Revisions of the protocol, one of each generation.
const (
	withSessions    = "2025-11-25"
	withoutSessions = "2026-07-28"
)

// mcpDesk serves the tools of a site to MCP clients.
type mcpDesk struct {
	*site
	served *httptest.Server
	key    string
	query  string        // Of the address that clients use.
	elicit time.Duration // How long people at clients are asked; the default when zero.
	after  time.Duration // How long calls are waited for before they are tasks; the default when zero.
}

// newMCPDesk is a site whose workers have functions, and an API that can be restarted.
func newMCPDesk(t *testing.T, functions *function.Registry) *mcpDesk {
	t.Helper()
	c := &mcpDesk{site: newSite(t)}
	c.key = c.db.Key(t, c.principal.Tenant, "*")
	c.start(worker.Config{Functions: functions})
	c.serve()
	return c
}

// serve starts an API that shares nothing with those before but the record.
func (c *mcpDesk) serve() {
	c.t.Helper()
	handler, err := serve.Handler(c.t.Context(), serve.HandlerConfig{
		Store: c.Store, Temporal: c.temporal, TaskQueue: c.queue, PayloadKeys: c.payloads,
		ElicitWait: c.elicit, TaskAfter: c.after, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(c.t, err)
	c.served = httptest.NewServer(handler)
	c.t.Cleanup(c.served.Close)
}

// bearer sends a key with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r) //nolint:wrapcheck // It is the transport's.
}

// connect connects a client of a revision, with the site's key or another.
func (c *mcpDesk) connect(revision string, options *mcp.ClientOptions, key ...string) *mcp.ClientSession {
	c.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(c.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: c.served.URL + "/mcp" + c.query, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer(append(key, c.key)[0])},
	}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = session.Close() })
	return session
}

// callMCP calls a tool.
func (c *mcpDesk) callMCP(session *mcp.ClientSession, params *mcp.CallToolParams) *mcp.CallToolResult {
	c.t.Helper()
	result, err := session.CallTool(c.t.Context(), params)
	require.NoError(c.t, err)
	return result
}

// shownText returns the first text of an answer.
func shownText(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	require.NotEmpty(t, r.Content)
	text, ok := r.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	return text.Text
}

// gate is a function that waits until it may go on, and counts how often it began.
type gate struct {
	mu    sync.Mutex
	began int
	begun chan struct{} // Receives when a call begins.
	goOn  chan struct{} // Closed to let calls go on.
	left  chan struct{} // Receives when a call was cancelled.
}

func newGate() *gate {
	return &gate{begun: make(chan struct{}, 10), goOn: make(chan struct{}), left: make(chan struct{}, 10)}
}

func (g *gate) wait(ctx context.Context, in noteIn) (noteOut, error) {
	g.mu.Lock()
	g.began++
	g.mu.Unlock()
	tool.AppendOutput(ctx, "looking for "+in.Name)
	g.begun <- struct{}{}
	select {
	case <-g.goOn:
		return noteOut{Name: "found " + in.Name}, nil
	case <-ctx.Done():
		g.left <- struct{}{}
		return noteOut{}, ctx.Err()
	}
}

func (g *gate) times() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.began
}

func (g *gate) functions(t *testing.T) *function.Registry {
	t.Helper()
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "look", "Looks.", g.wait))
	return functions
}

// lookTool is a tool of the gate, which is neither pure nor idempotent.
func lookTool() tool.Definition {
	d := functionTool("look", tool.Execution{TimeoutSeconds: 60})
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	d.OutputSchema = json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}`)
	return d
}

// Clients of both generations see the tools that their key may use, with schemas and hints, and call them
// durably.
func TestMCPClientsListAndCall(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	read := functionTool("read", tool.Execution{Pure: true})
	read.InputSchema = json.RawMessage(`{"properties":{"name":{"type":"string"}},"required":["name"]}`)
	read.OutputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	c.publish("read", read, tool.Policy{EgressClass: tool.EgressReadOnly})
	write := functionTool("readNew", tool.Execution{})
	c.publish("changeNote", write, tool.Policy{EgressClass: tool.EgressWrite})
	hidden := functionTool("read", tool.Execution{Pure: true})
	hidden.Interaction.Visibility = tool.VisibilityInternal
	c.publish("innerRead", hidden, tool.Policy{})
	people := functionTool("read", tool.Execution{Pure: true})
	people.Interaction.Audience = tool.AudienceUser
	c.publish("forPeople", people, tool.Policy{})
	c.publish("secretRead", read, tool.Policy{RequiredPermission: "secrets.read"})
	plain := c.db.Key(t, c.principal.Tenant, "tools.read", "runs.write")

	for _, revision := range []string{withSessions, withoutSessions} {
		session := c.connect(revision, nil, plain)
		require.Equal(t, "toolcrib", session.InitializeResult().ServerInfo.Name)
		list, err := session.ListTools(t.Context(), nil)
		require.NoError(t, err)
		names := make([]string, 0, len(list.Tools))
		for _, found := range list.Tools {
			names = append(names, found.Name)
		}
		require.Equal(t, []string{"changeNote", "read"}, names, "in order; others are absent")
		shown, err := json.Marshal(list.Tools[1])
		require.NoError(t, err)
		require.JSONEq(t, `{"name":"read","title":"read","description":"read",
			"inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},
			"outputSchema":{"type":"object","properties":{"name":{"type":"string"}}},
			"annotations":{"title":"read","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,
				"openWorldHint":true},
			"_meta":{"toolcrib/version":"1.0.0"}}`, string(shown))
		require.False(t, list.Tools[0].Annotations.ReadOnlyHint)
		require.True(t, *list.Tools[0].Annotations.DestructiveHint)

		result := c.callMCP(session, &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"name": "a"}})
		require.False(t, result.IsError, shownText(t, result))
		require.Equal(t, map[string]any{"name": "old a"}, result.StructuredContent)
		require.JSONEq(t, `{"name":"old a"}`, shownText(t, result))
		runID, ok := result.Meta["toolcrib/run-id"].(string)
		require.True(t, ok)
		run, err := c.FindRun(t.Context(), c.principal.Tenant, runID)
		require.NoError(t, err)
		require.Equal(t, agent.RunCompleted, run.Status)
		require.Equal(t, agent.RunKindToolCall, run.Kind)

		wrong := c.callMCP(session, &mcp.CallToolParams{Name: "read", Arguments: map[string]any{}})
		require.True(t, wrong.IsError)
		require.Contains(t, shownText(t, wrong), "name", "the model learns what to mend")
		require.Equal(t, "invalid", wrong.Meta["toolcrib/kind"])

		for _, absent := range []string{"innerRead", "forPeople", "secretRead", "nothing", "no tool/name"} {
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: absent})
			var refused *jsonrpc.Error
			require.ErrorAs(t, err, &refused)
			require.EqualValues(t, jsonrpc.CodeInvalidParams, refused.Code, err)
			require.Contains(t, refused.Message, "unknown tool")
		}
	}
}

// A list of many tools comes in pages.
func TestMCPListsInPages(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	want := make([]string, 0, 130)
	for i := range 130 {
		slug := "tool" + string(rune('A'+i/26)) + string(rune('a'+i%26))
		want = append(want, slug)
		c.publish(slug, functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	}
	session := c.connect(withSessions, nil)
	first, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, first.NextCursor)
	var all []string
	for found, err := range session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		all = append(all, found.Name)
	}
	require.Equal(t, want, all)
	_, err = session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "made up"})
	require.ErrorContains(t, err, "malformed cursor")
}

// A session belongs to the key that opened it: another key finds none.
func TestMCPSessionsBelongToTheirKey(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	mine := c.connect(withSessions, nil)
	other := c.db.Key(t, c.principal.Tenant, "*")
	stranger := c.db.Key(t, c.newTenant(), "*")
	for _, key := range []string{other, stranger} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			req, err := http.NewRequestWithContext(t.Context(), method, c.served.URL+"/mcp",
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+key)
			req.Header.Set("Mcp-Session-Id", mine.ID())
			req.Header.Set("Mcp-Protocol-Version", withSessions)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusNotFound, resp.StatusCode, method)
		}
	}
	_, err := mine.ListTools(t.Context(), nil)
	require.NoError(t, err, "the session goes on")
}

// A server stops in the middle of a call: the call goes on, and the same call with the same id, at another
// server, gets its one result.
func TestMCPCallOutlivesTheServer(t *testing.T) {
	t.Parallel()

	for _, revision := range []string{withSessions, withoutSessions} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()

			g := newGate()
			c := newMCPDesk(t, g.functions(t))
			c.publish("look", lookTool(), tool.Policy{})
			params := &mcp.CallToolParams{
				Name: "look", Arguments: map[string]any{"name": "keys"}, Meta: mcp.Meta{"toolcrib/call-id": "order-1"},
			}
			session := c.connect(revision, nil)
			failed := make(chan error, 1)
			go func() {
				_, err := session.CallTool(t.Context(), params)
				failed <- err
			}()
			<-g.begun
			c.served.CloseClientConnections()
			require.Error(t, <-failed)
			c.serve()
			again := c.connect(revision, nil)
			close(g.goOn)
			result := c.callMCP(again, params)
			require.False(t, result.IsError, shownText(t, result))
			require.Equal(t, map[string]any{"name": "found keys"}, result.StructuredContent)
			require.Equal(t, 1, g.times())

			other := *params
			other.Arguments = map[string]any{"name": "coins"}
			refused := c.callMCP(again, &other)
			require.True(t, refused.IsError)
			require.Equal(t, "conflict", refused.Meta["toolcrib/kind"])
		})
	}
}

// Temporal forgets a call whose run is there: the same call with the same id gets its one result.
func TestMCPCallThatTemporalForgot(t *testing.T) {
	t.Parallel()

	g := newGate()
	close(g.goOn)
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	session := c.connect(withSessions, nil)
	params := &mcp.CallToolParams{
		Name: "look", Arguments: map[string]any{"name": "keys"}, Meta: mcp.Meta{"toolcrib/call-id": "order-1"},
	}
	first := c.callMCP(session, params)
	require.False(t, first.IsError, shownText(t, first))
	runID, ok := first.Meta["toolcrib/run-id"].(string)
	require.True(t, ok)
	run, err := c.FindRun(t.Context(), c.principal.Tenant, runID)
	require.NoError(t, err)
	c.forget(run.WorkflowID)

	again := c.callMCP(session, params)
	require.False(t, again.IsError, shownText(t, again))
	require.Equal(t, runID, again.Meta["toolcrib/run-id"])
	require.Equal(t, first.StructuredContent, again.StructuredContent)
	other := *params
	other.Arguments = map[string]any{"name": "coins"}
	refused := c.callMCP(session, &other)
	require.True(t, refused.IsError)
	require.Equal(t, "conflict", refused.Meta["toolcrib/kind"])
	require.Equal(t, 1, g.times())
}

// forget has Temporal delete a workflow, as it does when its retention is over.
func (c *mcpDesk) forget(workflowID string) {
	c.t.Helper()
	execution := &commonpb.WorkflowExecution{WorkflowId: workflowID}
	_, err := c.temporal.WorkflowService().DeleteWorkflowExecution(
		c.t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: embedded.DefaultNamespace, WorkflowExecution: execution,
		})
	require.NoError(c.t, err)
	require.Eventually(c.t, func() bool {
		_, err := c.temporal.DescribeWorkflowExecution(c.t.Context(), workflowID, "")
		_, gone := errors.AsType[*serviceerror.NotFound](err)
		return gone
	}, time.Minute, 20*time.Millisecond)
}

// Output of a call is reported while it runs, to clients that ask for it.
func TestMCPReportsProgress(t *testing.T) {
	t.Parallel()

	for _, revision := range []string{withSessions, withoutSessions} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()

			g := newGate()
			c := newMCPDesk(t, g.functions(t))
			c.publish("look", lookTool(), tool.Policy{})
			reported := make(chan string, 10)
			session := c.connect(revision, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
					reported <- n.Params.Message
				},
			})
			params := &mcp.CallToolParams{Name: "look", Arguments: map[string]any{"name": "keys"}}
			params.SetProgressToken("p1")
			done := make(chan *mcp.CallToolResult, 1)
			go func() {
				result, err := session.CallTool(t.Context(), params)
				if err == nil {
					done <- result
				}
			}()
			require.Equal(t, "looking for keys", <-reported, "before the call ends")
			close(g.goOn)
			require.Equal(t, map[string]any{"name": "found keys"}, (<-done).StructuredContent)
		})
	}
}

// A client that gives a call up cancels its run.
func TestMCPCancelsTheRun(t *testing.T) {
	t.Parallel()

	for _, revision := range []string{withSessions, withoutSessions} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()

			g := newGate()
			c := newMCPDesk(t, g.functions(t))
			c.publish("look", lookTool(), tool.Policy{})
			session := c.connect(revision, nil)
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "look", Arguments: map[string]any{"name": "keys"}})
				failed <- err
			}()
			<-g.begun
			cancel()
			require.Error(t, <-failed)
			<-g.left
			runs, err := c.ListRuns(t.Context(), c.principal.Tenant, store.RunQuery{})
			require.NoError(t, err)
			require.Len(t, runs, 1)
			require.Eventually(t, func() bool {
				run, err := c.FindRun(t.Context(), c.principal.Tenant, runs[0].ID)
				return err == nil && run.Status == agent.RunCancelled
			}, 30*time.Second, 50*time.Millisecond)
		})
	}
}

// textBytes returns the size of the text of a result.
func textBytes(r *mcp.CallToolResult) (n int) {
	for _, block := range r.Content {
		if b, ok := block.(*mcp.TextContent); ok {
			n += len(b.Text)
		}
	}
	return n
}

// A result that is too large for a model is shown by its ends, and read as a resource by the key that made
// the call, and no other.
func TestMCPLargeResults(t *testing.T) {
	t.Parallel()

	const size = 400 << 10 // With its structured value, more than a history takes.
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "much", "Much.", func(context.Context, noteIn) (noteOut, error) {
		return noteOut{Name: strings.Repeat("much ", size/5)}, nil
	}, function.Pure()))
	c := newMCPDesk(t, functions)
	c.publish("much", functionTool("much", tool.Execution{Pure: true}), tool.Policy{})
	brief := functionTool("much", tool.Execution{Pure: true, InlineBytes: tool.MinInlineResult})
	c.publish("brief", brief, tool.Policy{})
	for _, revision := range []string{withSessions, withoutSessions} {
		session := c.connect(revision, nil)
		result := c.callMCP(session, &mcp.CallToolParams{Name: "much"})
		require.False(t, result.IsError)
		require.Contains(t, shownText(t, result), "too many to be shown")
		var link *mcp.ResourceLink
		for _, block := range result.Content {
			if b, ok := block.(*mcp.ResourceLink); ok {
				link = b
			}
		}
		require.Less(t, textBytes(result), 20<<10)
		require.Nil(t, result.StructuredContent, "no output schema asks for it")
		require.Less(t, textBytes(c.callMCP(session, &mcp.CallToolParams{Name: "brief"})), 2*tool.MinInlineResult)
		require.NotNil(t, link)
		read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
		require.NoError(t, err)
		require.Greater(t, len(read.Contents[0].Text), size)

		other := c.connect(revision, nil, c.db.Key(t, c.principal.Tenant, "*"))
		for _, uri := range []string{
			link.URI, "toolcrib://runs/" + newID(t), "file:///etc/passwd", "toolcrib://runs/../x",
		} {
			_, err = other.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			require.ErrorContains(t, err, "not found")
		}
	}
}

// A call that waits for an approval answers at once with where to give it, and the same call gets the
// result of the approved one.
func TestMCPApproval(t *testing.T) {
	t.Parallel()

	for _, revision := range []string{withSessions, withoutSessions} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()

			c := newMCPDesk(t, readers(t))
			o := &office{site: c.site}
			by := o.key("boss", wait.DecidePermission)
			d := functionTool("read", tool.Execution{Pure: true})
			d.InputSchema = json.RawMessage(`{"type":"object"}`)
			c.publish("read", d, tool.Policy{RequiresApproval: true})
			session := c.connect(revision, nil)
			params := &mcp.CallToolParams{
				Name: "read", Arguments: map[string]any{"name": "a"}, Meta: mcp.Meta{"toolcrib/call-id": "asked"},
			}
			held := c.callMCP(session, params)
			require.True(t, held.IsError)
			require.Contains(t, shownText(t, held), "waits for an approval")
			asked := o.waiting(1)[0]
			require.Equal(t, asked.ID, held.Meta["toolcrib/approval-id"])
			require.Contains(t, shownText(t, held), "toolcrib approvals approve "+asked.ID)
			state, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{
				URI: "toolcrib://runs/" + asked.RunID,
			})
			require.NoError(t, err)
			require.Contains(t, state.Contents[0].Text, "The call is ")

			approved := o.decide(wait.Verdict{Principal: by, ID: asked.ID, Approve: true, Seen: asked.Binding})
			require.NoError(t, o.tell(approved))
			result := c.callMCP(session, params)
			require.False(t, result.IsError, shownText(t, result))
			require.JSONEq(t, `{"name":"old a"}`, shownText(t, result))
		})
	}
}

// A client that follows its session learns when the list of its tools has changed, and not when that of
// others has.
func TestMCPListChanged(t *testing.T) {
	t.Parallel()

	c := newMCPDesk(t, readers(t))
	published := c.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	changed := make(chan struct{}, 10)
	session := c.connect(withSessions, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	require.True(t, session.InitializeResult().Capabilities.Tools.ListChanged)
	names := func() (out []string) {
		for found, err := range session.Tools(t.Context(), nil) {
			require.NoError(t, err)
			out = append(out, found.Name)
		}
		return out
	}
	require.Eventually(t, func() bool { // Once the stream is open.
		slug := "extra" + strings.ReplaceAll(newID(t), "-", "")[16:]
		c.publish(slug, functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}, 60*time.Second, time.Second)
	off := false
	_, err := c.SetOverride(t.Context(), tool.Override{
		Tenant: c.principal.Tenant, ToolID: published.ID, Enabled: &off, ChangedBy: "test",
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		<-changed
		return !strings.Contains(strings.Join(names(), " "), "read")
	}, 60*time.Second, time.Millisecond)
}
