package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/mcpbridge"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
)

// restarting is the address of a server that goes away and comes back as another process does: without the
// sessions of the one before.
type restarting struct {
	*httptest.Server
	desk    *mcpDesk
	handler atomic.Pointer[http.Handler]
}

func newRestarting(c *mcpDesk) *restarting {
	c.t.Helper()
	r := &restarting{desk: c}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if h := r.handler.Load(); h != nil {
			(*h).ServeHTTP(w, req)
			return
		}
		panic(http.ErrAbortHandler) // The server is stopped.
	}))
	c.t.Cleanup(r.Close)
	r.start()
	return r
}

func (r *restarting) start() {
	r.desk.t.Helper()
	handler, err := serve.Handler(r.desk.t.Context(), serve.HandlerConfig{
		Store: r.desk.Store, Temporal: r.desk.temporal, TaskQueue: r.desk.queue, PayloadKeys: r.desk.payloads,
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(r.desk.t, err)
	r.handler.Store(&handler)
}

func (r *restarting) stop() {
	r.handler.Store(nil)
	r.CloseClientConnections()
}

// bridged connects a client over a bridge with a key.
func (r *restarting) bridged(key string, options *mcp.ClientOptions) *mcp.ClientSession {
	t := r.desk.t
	t.Helper()
	server, err := client.New(client.Config{Server: r.URL, Key: key})
	require.NoError(t, err)
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpbridge.Run(t.Context(), mcpbridge.Config{Server: server.MCP(""), In: in, Out: out})
		_ = out.Close()
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "local", Version: "1"}, options).Connect(
		t.Context(), &mcp.IOTransport{Reader: ours, Writer: theirs}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		_ = theirs.Close()
		require.NoError(t, <-ended, "the end of its input is the end of the bridge")
		server.Close()
	})
	return session
}

// A local client lists, calls, is asked, and cancels over the bridge as it does over HTTP.
func TestMCPBridge(t *testing.T) {
	t.Parallel()

	c, _, secret := confirmDesk(t)
	p := says("accept", map[string]any{"confirm": true})
	session := newRestarting(c).bridged(secret, p.client())
	require.Equal(t, "toolcrib", session.InitializeResult().ServerInfo.Name)
	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 1)
	result := c.callMCP(session, readCall())
	require.False(t, result.IsError, shownText(t, result))
	require.JSONEq(t, `{"name":"old a"}`, shownText(t, result))
	require.Len(t, p.asked, 1)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"})
	require.ErrorContains(t, err, "unknown tool")
}

// The server goes away in the middle of a call and comes back: the bridge opens a new session, the call is
// made once, and its client gets the result.
func TestMCPBridgeOutlivesTheServer(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	front := newRestarting(c)
	changed := make(chan struct{}, 10)
	session := front.bridged(c.key, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	done := make(chan *mcp.CallToolResult, 1)
	go func() {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "look", Arguments: map[string]any{"name": "keys"},
		})
		if err == nil {
			done <- result
		}
		close(done)
	}()
	<-g.begun
	front.stop()
	front.start()
	<-changed
	close(g.goOn)
	result := <-done
	require.NotNil(t, result)
	require.False(t, result.IsError, shownText(t, result))
	require.Equal(t, map[string]any{"name": "found keys"}, result.StructuredContent)
	require.Equal(t, 1, g.times())

	front.stop()
	time.AfterFunc(500*time.Millisecond, front.start)
	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err, "a request waits for the server")
	require.Len(t, list.Tools, 1)
}

// The connection of a call breaks and its server stays, which still works on it in the session: the call is made
// once, and its client gets the result.
func TestMCPBridgeOutlivesABrokenConnection(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	front := newRestarting(c)
	session := front.bridged(c.key, nil)
	done := make(chan *mcp.CallToolResult, 1)
	failed := make(chan error, 1)
	go func() {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "look", Arguments: map[string]any{"name": "keys"},
		})
		failed <- err
		done <- result
	}()
	<-g.begun
	front.CloseClientConnections()
	time.AfterFunc(500*time.Millisecond, func() { close(g.goOn) }) // It was sent again by then.
	require.NoError(t, <-failed)
	result := <-done
	require.False(t, result.IsError, shownText(t, result))
	require.Equal(t, map[string]any{"name": "found keys"}, result.StructuredContent)
	require.Equal(t, 1, g.times())
}

// A client that gives a call up cancels its run, over the bridge too.
func TestMCPBridgeCancels(t *testing.T) {
	t.Parallel()

	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	session := newRestarting(c).bridged(c.key, nil)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "look", Arguments: json.RawMessage(`{"name":"keys"}`)})
		failed <- err
	}()
	<-g.begun
	cancel()
	require.Error(t, <-failed)
	<-g.left
}
