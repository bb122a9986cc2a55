package models_test

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/tool"
)

// Sixteen loops with one key do not hammer a provider that limits one of them:
// the others wait, over both of its APIs, and are answered. Another tenant's own
// key is another matter.
func TestRateLimitIsShared(t *testing.T) {
	t.Parallel()

	var limited atomic.Int64
	var until atomic.Pointer[time.Time]
	server := modeltest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		first := time.Now().Add(time.Second)
		switch {
		case r.Header.Get("Authorization") == "Bearer own-of-b":
		case until.CompareAndSwap(nil, &first), time.Now().Before(*until.Load()):
			limited.Add(1)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"completed","output":[],"usage":{"input_tokens":3},
			"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`)
	})
	m := open(t, "", "OPENAI_BASE_URL="+server.URL, "OPENAI_API_KEY=operators",
		"TOOLCRIB_SECRET_B__MODEL_OPENAI=own-of-b")["openai"]
	err := ask(t, m, "a")
	require.Equal(t, tool.RateLimited, tool.KindOf(err))
	require.Equal(t, time.Second, tool.AsError(err).RetryAfter)

	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			req := &agent.ModelRequest{Model: "m", Turn: 1, Tenant: "a"}
			if i%2 == 0 {
				req.Options = json.RawMessage(`{"api":"responses"}`)
			}
			resp, err := m.Generate(t.Context(), req)
			if err != nil {
				t.Errorf("request %d: %v", i, err)
				return
			}
			if resp.Waited < time.Second/2 {
				t.Errorf("request %d waited for %s", i, resp.Waited)
			}
		})
	}
	require.NoError(t, ask(t, m, "b"))
	all.Wait()
	require.EqualValues(t, 1, limited.Load(), "nobody came too early")

	// One that would wait for longer than it may fails at once, and nothing is sent.
	later := time.Now().Add(time.Minute)
	until.Store(&later)
	require.Error(t, ask(t, m, "a"))
	sent := len(server.Requests())
	_, err = m.Generate(t.Context(), &agent.ModelRequest{Model: "m", Tenant: "a", Patience: time.Millisecond})
	e := tool.AsError(err)
	require.Equal(t, tool.RateLimited, e.Kind, err)
	require.Greater(t, e.RetryAfter, time.Second/2)
	require.False(t, e.Sent)
	require.ErrorContains(t, err, "nothing was sent")
	require.Len(t, server.Requests(), sent)
}

// Limits that an operator configures hold for each key.
func TestConfiguredRateLimits(t *testing.T) {
	t.Parallel()

	url, keys := chat(t)
	for _, limits := range []string{"_REQUESTS_PER_MINUTE=1", "_TOKENS_PER_MINUTE=2"} {
		all := open(t, "", "TOOLCRIB_MODEL_LOCAL_BASE_URL="+url, "TOOLCRIB_MODEL_LOCAL"+limits,
			"ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=k", "TOOLCRIB_MODEL_ANTHROPIC"+limits)
		for _, name := range []string{"local", "anthropic"} {
			before := len(keys())
			require.NoError(t, ask(t, all[name], "a"))
			require.Equal(t, tool.RateLimited, tool.KindOf(ask(t, all[name], "b")), name)
			require.Len(t, keys(), before+1)
		}
	}
}
