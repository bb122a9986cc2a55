package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// mcpUpstream is an MCP server of the official SDK that records its requests.
// Its one tool leaves its first call without an answer.
type mcpUpstream struct {
	*httptest.Server
	reached chan struct{} // Closed when the first call is there.

	mu       sync.Mutex
	asked    map[string]int // Requests by the method of their message.
	sessions map[string]int // Calls by session.
	keys     map[string]int // Calls by idempotency key.
}

func newMCPUpstream(t *testing.T, stateless bool) *mcpUpstream {
	t.Helper()
	u := &mcpUpstream{
		reached: make(chan struct{}), asked: make(map[string]int), sessions: make(map[string]int), keys: make(map[string]int),
	}
	over := make(chan struct{})
	s := mcp.NewServer(&mcp.Implementation{Name: "upstream", Version: "1"}, nil)
	var first sync.Once
	s.AddTool(&mcp.Tool{Name: "effect", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			wait := false
			first.Do(func() { wait = true; close(u.reached) })
			if wait {
				<-over
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: stateless})
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		u.note(r, body)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(over)
		for open := range s.Sessions() {
			_ = open.Close()
		}
		u.CloseClientConnections()
		u.Close()
	})
	return u
}

func (u *mcpUpstream) note(r *http.Request, body []byte) {
	var m struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(body, &m)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked[m.Method]++
	if m.Method == "tools/call" {
		u.sessions[r.Header.Get("Mcp-Session-Id")]++
		u.keys[r.Header.Get("Idempotency-Key")]++
	}
}

// A worker is killed in the middle of a call of an MCP server. Another worker
// continues with the session of the run, and retries the call if that is
// allowed; if not, it is not retried, and ends unknown.
func TestMCPCallGoesOnWithAnotherWorker(t *testing.T) {
	t.Parallel()

	idempotent := tool.Execution{Idempotent: true, TimeoutSeconds: 20, MaxAttempts: 10, Lane: tool.LaneVisible}
	for name, tt := range map[string]struct {
		stateless bool
		x         tool.Execution
		status    tool.InvocationStatus
		calls     int
	}{
		"WithASession":    {false, idempotent, tool.StatusCompleted, 2},
		"WithoutSessions": {true, idempotent, tool.StatusCompleted, 2},
		"Once":            {false, tool.Execution{TimeoutSeconds: 20, MaxAttempts: 10}, tool.StatusUnknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			u := newMCPUpstream(t, tt.stateless)
			s := newSite(t)
			s.publish("effect", tool.Definition{
				Name: "Effect", Description: "Has an effect.", Implementation: tool.MCP, Execution: tt.x,
				Config:      json.RawMessage(fmt.Sprintf(`{"server_url": %q, "tool_name": "effect"}`, u.URL)),
				InputSchema: json.RawMessage(`{"type": "object"}`),
			}, tool.Policy{EgressClass: tool.EgressReadOnly})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})

			c := &canary{Server: u.Server}
			first := startChild(t, s.child(c, "", 0))
			run, w := s.run(a, "go")
			<-u.reached
			require.NoError(t, first.Process.Kill())
			requireKilled(t, first)
			startChild(t, s.child(c, "", 0))

			_, err := s.wait(w)
			require.NoError(t, err)
			ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, err)
			require.Equal(t, agent.RunCompleted, ended.Status)
			calls := s.invocations(run.ID)
			require.Len(t, calls, 1)
			require.Equal(t, tt.status, calls[0].Status, calls[0].Error)
			requireAnswered(t, s, run.ID)

			u.mu.Lock()
			defer u.mu.Unlock()
			require.Equal(t, tt.calls, u.asked["tools/call"])
			require.Len(t, u.sessions, 1, "all in one session")
			require.Len(t, u.keys, 1, "all under one key")
			if !tt.stateless {
				require.Equal(t, 1, u.asked["initialize"], "the session was begun once")
				require.NotContains(t, u.sessions, "")
			} else {
				require.Equal(t, 1, u.asked["server/discover"], "the server was asked once what it speaks")
			}
		})
	}
}
