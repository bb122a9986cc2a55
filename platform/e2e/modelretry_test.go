package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/openai"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// modelKey is the key of the provider in these tests. It is in no event, record
// or history.
const modelKey = "sk-e2e-0123456789abcdefghijklmnop"

// provider is a model provider on loopback that fails as a test says, and
// answers after that.
type provider struct {
	*httptest.Server
	mu sync.Mutex
	// Of each request: whether it asked for an event stream.
	streamed []bool
	fail     func(n int, w http.ResponseWriter, r *http.Request) (done bool) // n counts requests from 1.
}

func newProvider(t *testing.T, fail func(n int, w http.ResponseWriter, r *http.Request) bool) *provider {
	t.Helper()
	p := &provider{fail: fail}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP implements [http.Handler].
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Stream bool `json:"stream"`
	}
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &asked)
	p.mu.Lock()
	p.streamed = append(p.streamed, asked.Stream)
	n := len(p.streamed)
	p.mu.Unlock()
	if p.fail(n, w, r) {
		return
	}
	if asked.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(
			w,
			`data: {"choices":[{"index":0,"delta":{"content":"All is well."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n",
		)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(
		w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"All is well."},"finish_reason":"stop"}]}`,
	)
}

func (p *provider) asked() []bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]bool(nil), p.streamed...)
}

// models are those behind p, whose streams may be silent for a moment.
func (p *provider) models(t *testing.T) map[string]agent.Model {
	t.Helper()
	m, err := openai.New(remote.Config{
		Provider: "acme", BaseURL: p.URL, IdleTimeout: 200 * time.Millisecond,
		Keys: remote.Keys{
			Ref: "model-acme", Variable: "ACME_KEY", Lookup: func(string) (string, bool) { return modelKey, true },
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return map[string]agent.Model{"acme": m}
}

// once fails the first request.
func once(fail http.HandlerFunc) func(int, http.ResponseWriter, *http.Request) bool {
	return func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			fail(w, r)
		}
		return n == 1
	}
}

func begun(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"All is"}}]}`+"\n\n")
	_ = http.NewResponseController(w).Flush()
}

// However a provider fails, the attempt is an event with its cause and when the
// next one is due, the Temporal UI shows the same, and the run goes on.
func TestFailingProviderIsVisible(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		fail  http.HandlerFunc
		kind  tool.Kind
		cause string
		wait  time.Duration // At least, before the next attempt.
	}{
		"Status500": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":{"message":"failed for Bearer `+modelKey+`"}}`)
		}, tool.Unavailable, "500", 900 * time.Millisecond},
		"Status429": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
		}, tool.RateLimited, "429", 1900 * time.Millisecond},
		"Reset": {func(w http.ResponseWriter, _ *http.Request) {
			begun(w)
			panic(http.ErrAbortHandler)
		}, tool.Unavailable, "the connection broke", 900 * time.Millisecond},
		"Silence": {func(w http.ResponseWriter, r *http.Request) {
			begun(w)
			<-r.Context().Done() // The client gives it up.
		}, tool.Timeout, "its stream was idle: no byte in 200ms", 900 * time.Millisecond},
		"Garbage": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: <html>"+modelKey+"</html>\n\n")
		}, tool.Unavailable, "its answer is malformed", 900 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newProvider(t, once(tt.fail))
			s := newSite(t)
			s.start(worker.Config{Models: p.models(t)})
			run := s.record(s.publishAgent(agent.Definition{Instructions: "Help.", Model: "acme/large"}), "hi")
			require.NoError(t, s.FollowRun(t.Context(), s.principal.Tenant, run.ID, time.Minute))
			w := s.begin(run)
			out, err := s.wait(w)
			require.NoError(t, err)
			require.Equal(t, "All is well.", out.Answer)
			require.Equal(t, []bool{true, true}, p.asked(), "somebody listens")

			page, err := s.ReadStream(t.Context(), s.principal.Tenant, run.ID, 0, 100)
			require.NoError(t, err)
			var retries []agent.ModelRetry
			for _, e := range page.Events {
				require.NotContains(t, string(e.Data), modelKey)
				if e.Type != agent.EventModelRetrying {
					continue
				}
				var retry agent.ModelRetry
				require.NoError(t, json.Unmarshal(e.Data, &retry))
				// The event is written after the time was chosen: later, on a busy machine.
				require.GreaterOrEqual(t, retry.RetryAt.Sub(e.At), tt.wait/2)
				retries = append(retries, retry)
			}
			require.Len(t, retries, 1)
			require.Equal(t, tt.kind, retries[0].Kind)
			require.Contains(t, retries[0].Cause, tt.cause)
			require.Equal(t, []int{1, 1, wire.ModelAttempts}, []int{retries[0].Turn, retries[0].Attempt, retries[0].MaxAttempts})
			require.Equal(t, "acme/large", retries[0].Model)
			kept, err := s.ModelRetries(t.Context(), s.principal.Tenant, run.ID, 0)
			require.NoError(t, err)
			require.Equal(t, retries, kept)

			history := historyOf(t.Context(), t, s.temporal, run.WorkflowID, w.GetRunID())
			first := firstAdvance(t, history)
			require.Equal(t, wire.HandoverQuestion, first.Handover)
			require.Contains(t, first.Cause, tt.cause)
			require.Contains(t, first.Cause, "(attempt 1 of 10; the next in ")
			require.Equal(t, []string{wire.AdvanceActivity, wire.ModelTurnActivity}, activityTypes(history))
			text, err := json.Marshal(history)
			require.NoError(t, err)
			require.NotContains(t, string(text), modelKey)
		})
	}
}

// While a provider is down, Temporal shows the attempt and why it failed, and
// the events report when the next one is due. The run has no follower, so no
// stream is requested.
func TestPendingModelAttempt(t *testing.T) {
	t.Parallel()

	looked := make(chan struct{})
	p := newProvider(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		select {
		case <-looked:
			return false
		default:
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
	})
	s := newSite(t)
	s.start(worker.Config{Models: p.models(t)})
	run, w := s.run(s.publishAgent(agent.Definition{Instructions: "Help.", Model: "acme/large"}), "hi")
	var retries []agent.ModelRetry
	require.Eventually(t, func() bool {
		described, err := s.temporal.DescribeWorkflowExecution(t.Context(), run.WorkflowID, w.GetRunID())
		if err != nil || len(described.GetPendingActivities()) == 0 {
			return false
		}
		pending := described.GetPendingActivities()[0]
		shown := strings.Contains(pending.GetLastFailure().GetMessage(), "of 10; the next in ")
		retries, err = s.ModelRetries(t.Context(), s.principal.Tenant, run.ID, 0)
		return err == nil && pending.GetAttempt() >= 3 && len(retries) >= 2 &&
			shown && pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
	}, time.Minute, 20*time.Millisecond)
	close(looked)
	_, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, []int{retries[0].Attempt, retries[1].Attempt})
	require.Contains(t, retries[1].Cause, "502")
	require.InDelta(t, 2, retries[1].RetryAt.Sub(retries[0].RetryAt).Seconds(), 1.5, "the second wait is twice the first")
	for _, streamed := range p.asked() {
		require.False(t, streamed, "nobody follows")
	}
}

// An attempt whose worker stops is an event too, and the turn goes on elsewhere.
func TestStoppedWorkerInAModelTurn(t *testing.T) {
	t.Parallel()

	asking := make(chan struct{})
	var asked atomic.Int64
	model := agent.ModelFunc(func(ctx context.Context, _ *agent.ModelRequest) (*agent.ModelResponse, error) {
		if asked.Add(1) == 1 {
			close(asking)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return &agent.ModelResponse{Text: "done"}, nil
	})
	s := newSite(t)
	cfg := worker.Config{Store: s.Store, Models: map[string]agent.Model{"slow": model}}
	plugin, err := worker.New(t.Context(), cfg)
	require.NoError(t, err)
	c, err := dial(server.Address(), plugin)
	require.NoError(t, err)
	defer c.Close()
	w := sdkworker.New(c, s.queue, sdkworker.Options{DisableRegistrationAliasing: true})
	require.NoError(t, w.Start())
	run, started := s.run(s.publishAgent(agent.Definition{Instructions: "Help.", Model: "slow/one"}), "hi")
	<-asking
	w.Stop()
	require.NoError(t, plugin.Close())
	s.start(cfg)
	_, err = s.wait(started)
	require.NoError(t, err)
	retries, err := s.ModelRetries(t.Context(), s.principal.Tenant, run.ID, 0)
	require.NoError(t, err)
	require.Len(t, retries, 1)
	require.Equal(t, tool.Unavailable, retries[0].Kind)
	require.Equal(t, "the attempt was interrupted", retries[0].Cause)
}
