package mcpserver

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
)

// slowTools is a list of tools that is read for as long as it may take.
type slowTools struct {
	Tools
	began, ended chan struct{}
}

func (s *slowTools) List(
	ctx context.Context, _ tool.Principal, _ tool.Mode, _ resolver.Filter, _ resolver.Page,
) ([]resolver.Item, string, error) {
	s.began <- struct{}{}
	<-ctx.Done()
	s.ended <- struct{}{}
	return nil, "", ctx.Err()
}

// A client that hangs up ends what it asked for, and its request has ended only then: places of requests are
// places of what works on them.
func TestHangingUpEndsWhatIsNoCall(t *testing.T) {
	t.Parallel()

	tools := &slowTools{began: make(chan struct{}, 1), ended: make(chan struct{}, 1)}
	server, err := New(Config{
		Tools: tools, Runs: struct{ Runs }{}, Record: struct{ Record }{}, Wakes: struct{ runs.Wakes }{},
	})
	require.NoError(t, err)
	served := make(chan struct{}, 10)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.Serve(w, r, Caller{
			Principal: tool.Principal{Tenant: "t", Subject: "s"}, Check: func(context.Context) error { return nil },
		})
		served <- struct{}{}
	}))
	defer front.Close()
	post := func(ctx context.Context, session, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, front.URL+"/mcp", strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{
			"Authorization": {"Bearer k"}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session},
		}
		return http.DefaultClient.Do(req)
	}
	resp, err := post(t.Context(), "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	session := resp.Header.Get("Mcp-Session-Id")
	require.NotEmpty(t, session)
	<-served

	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		if resp, err := post(ctx, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}()
	<-tools.began
	hangUp()
	select {
	case <-tools.ended:
	case <-time.After(shortTimeout / 2):
		require.Fail(t, "the list is still being read")
	}
	<-served
}

// The work on a request ends before the request does, and none begins after it.
func TestARequestEndsWithItsHandlers(t *testing.T) {
	t.Parallel()

	h := &handlers{}
	require.True(t, h.begin())
	ended := make(chan struct{})
	go func() {
		h.end()
		close(ended)
	}()
	require.Eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.over
	}, time.Second, time.Millisecond)
	require.False(t, h.begin())
	select {
	case <-ended:
		require.Fail(t, "it works on")
	default:
	}
	h.done()
	<-ended
}

// The state of a question names its call, and the answer is one to that call alone.
func TestStatesNameTheirCall(t *testing.T) {
	t.Parallel()

	const unnamed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, c := range []struct {
		callID string
		state  *requestState
		want   string // The client's id of the call.
		ok     bool
	}{
		{"a", nil, "a", true},
		{"", nil, "", true},
		{"a", &requestState{Name: "a"}, "a", true},
		{"", &requestState{Name: "a"}, "a", true},
		{"b", &requestState{Name: "a"}, "", false},
		{"a", &requestState{Call: unnamed}, "", false},
		{"", &requestState{Call: unnamed}, "", true},
		{"a", &requestState{}, "a", true},
		{"", &requestState{}, "", false},
	} {
		w := waiting{callID: c.callID}
		err := w.resumes(c.state)
		if !c.ok {
			require.Equal(t, tool.Invalid, tool.KindOf(err), c)
			require.ErrorContains(t, err, "requestState")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, w.callID)
	}
	for st, ok := range map[requestState]bool{
		{Name: "a"}: true, {Call: unnamed}: true, {}: true,
		{Name: "a b"}: false, {Call: "first"}: false, {Name: "a", Call: unnamed}: false,
	} {
		require.Equal(t, ok, st.names(), st)
	}
}
