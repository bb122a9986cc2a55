package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// front serves the API of a site.
type front struct {
	*site
	url, key string
}

func newFront(t *testing.T, s *site) *front {
	t.Helper()
	resolve := resolver.New(s.Store, resolver.Options{})
	handler, err := api.New(api.Config{
		Store: s.Store, Resolver: resolve, Registry: registry.New(s.Store, registry.Options{Resolver: resolve}),
		Temporal: s.temporal, TaskQueue: s.queue, RequestTimeout: 2 * time.Minute, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	served := httptest.NewServer(handler)
	t.Cleanup(served.Close)
	return &front{site: s, url: served.URL, key: s.db.Key(t, s.principal.Tenant, "*")}
}

// post sends a request, under an idempotency key unless that is empty.
func (f *front) post(t *testing.T, path, body, key string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+path, bytes.NewBufferString(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+f.key)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set(api.KeyHeader, key)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, raw
}

// A problem says that the same request may be sent again where the platform would
// send the call again, and there alone. Under an idempotency key, a request that
// says so is served again, and one that does not gets the very answer it got.
func TestRetryableTellsTheTruth(t *testing.T) {
	t.Parallel()

	answers := func(code int) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	drops := func(_ int, w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}
	single := func(x tool.Execution) tool.Execution {
		x.MaxAttempts, x.TimeoutSeconds = 1, 30
		return x
	}
	for _, tt := range []struct {
		name      string
		x         tool.Execution
		answer    func(int, http.ResponseWriter, *http.Request)
		kind      tool.Kind
		retryable bool
	}{
		{"OnceServerError", single(onlyOnce), answers(500), tool.Unavailable, false},
		{"OnceTooMany", single(onlyOnce), answers(429), tool.RateLimited, false},
		{"OnceReset", single(onlyOnce), drops, tool.Unknown, false},
		{"IdempotentServerError", single(idempotent), answers(503), tool.Unavailable, true},
		{"IdempotentReset", single(idempotent), drops, tool.Unavailable, true},
		{"PureServerError", single(purely), answers(500), tool.Unavailable, true},
		{"PureTooMany", single(purely), answers(429), tool.RateLimited, true},
		{"PureUnauthorized", single(purely), answers(401), tool.Denied, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			c, s := newCanary(t), newSite(t)
			c.answer = tt.answer
			s.publish("effect", httpTool(c.URL, tt.x), tool.Policy{EgressClass: tool.EgressReadOnly})
			s.start(worker.Config{Allow: allow(c)})
			f := newFront(t, s)

			first, body := f.post(t, "/v1/tools/effect/call", `{"arguments":{}}`, "k")
			p := problemIn(t, body)
			require.Equal(t, tt.kind, p.Code, p.Detail)
			require.Equal(t, tt.retryable, p.Retryable, p.Detail)
			if !tt.retryable {
				require.Empty(t, first.Header.Get("Retry-After"))
			}
			again, repeated := f.post(t, "/v1/tools/effect/call", `{"arguments":{}}`, "k")
			require.Equal(t, first.StatusCode, again.StatusCode)
			requests, _ := c.count()
			if !tt.retryable {
				require.Equal(t, "true", again.Header.Get(api.ReplayedHeader))
				require.Equal(t, body, repeated)
				require.Equal(t, 1, requests)
				return
			}
			require.Empty(t, again.Header.Get(api.ReplayedHeader))
			require.NotEqual(t, p.Instance, problemIn(t, repeated).Instance, "it is another run")
			require.Equal(t, 2, requests, "it was served again")
			c.mu.Lock()
			c.answer = nil
			c.mu.Unlock()
			done, result := f.post(t, "/v1/tools/effect/call", `{"arguments":{}}`, "k")
			require.Equal(t, http.StatusOK, done.StatusCode, string(result))
			kept, same := f.post(t, "/v1/tools/effect/call", `{"arguments":{}}`, "k")
			require.Equal(t, "true", kept.Header.Get(api.ReplayedHeader))
			require.Equal(t, result, same)

			// A call with an id is that call for good: asked for again, it has failed.
			c.mu.Lock()
			c.answer = tt.answer
			c.mu.Unlock()
			_, named := f.post(t, "/v1/tools/effect/call", `{"id":"one","arguments":{}}`, "")
			require.False(t, problemIn(t, named).Retryable)
		})
	}
}

// Nothing was sent to an upstream where nothing listens: even a call that must
// not be repeated may be made again.
func TestRetryableWhereNothingWasSent(t *testing.T) {
	t.Parallel()

	address, _ := reserve(t)
	s, x := newSite(t), onlyOnce
	x.MaxAttempts = 1
	s.publish("effect", httpTool("http://"+address, x), tool.Policy{EgressClass: tool.EgressReadOnly})
	s.start(worker.Config{Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{address}}}})
	_, body := newFront(t, s).post(t, "/v1/tools/effect/call", `{"arguments":{}}`, "")
	p := problemIn(t, body)
	require.Equal(t, tool.Unavailable, p.Code, p.Detail)
	require.True(t, p.Retryable, p.Detail)
}

// A run whose agent has a tool that was disabled begins without it and warns, or
// is refused before it is accepted, as the agent says.
func TestDisabledToolOfAnAgent(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := greeter(t, s)
	s.publish("greetTwice", composition(inOrder, tool.Execution{}), tool.Policy{})
	refuse, err := s.FindTool(t.Context(), s.principal.Tenant, refs(t, "refuse")[0])
	require.NoError(t, err)
	refuse.Status = tool.Disabled
	_, err = s.UpdateTool(t.Context(), refuse)
	require.NoError(t, err)
	var offered []string
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": watchTools(&offered)}})
	d := agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "greet", "refuse", "greetTwice", "absent@^2")}
	s.publishAgentAs("omits", d)
	d.OnUnavailableTool = agent.RefuseRun
	s.publishAgentAs("refuses", d)
	f := newFront(t, s)

	resp, body := f.post(t, "/v1/runs", `{"agent":"refuses","input":"go"}`, "")
	require.Equal(t, http.StatusConflict, resp.StatusCode, string(body))
	p := problemIn(t, body)
	require.Contains(t, p.Detail, `tool "refuse" is disabled`)
	require.Contains(t, p.Detail, "absent")

	resp, body = f.post(t, "/v1/runs", `{"agent":"omits","input":"go"}`, "")
	require.Equal(t, http.StatusAccepted, resp.StatusCode, string(body))
	var run v1.Run
	require.NoError(t, json.Unmarshal(body, &run))
	_, err = s.wait(s.temporal.GetWorkflow(t.Context(), run.WorkflowID, ""))
	require.NoError(t, err)
	require.Equal(t, []string{"greet", "greetTwice"}, offered)
	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, ended.Status)
	require.Len(t, ended.Plan.Omitted, 2)
	shown := v1.FromRun(ended)
	require.Equal(t, "refuse", shown.Omitted[0].Tool)
	require.Contains(t, shown.Omitted[0].Reason, "disabled")
	var warned []string
	events, err := s.ListEvents(t.Context(), s.principal.Tenant, run.ID, 0, 100)
	require.NoError(t, err)
	for i, e := range events {
		require.EqualValues(t, i+1, e.Seq)
		if e.Type != tool.EventWarning {
			continue
		}
		var data struct{ Tool, Reason, Message string }
		require.NoError(t, json.Unmarshal(e.Data, &data))
		require.Equal(t, agent.WarningOmitted, data.Reason)
		warned = append(warned, fmt.Sprintf("%s: %s", data.Tool, data.Message))
	}
	require.Len(t, warned, 2)
	require.Contains(t, warned[0], `refuse: tool "refuse" is disabled`)
	require.Contains(t, warned[1], "absent@^2: ")
}

// problemIn reads a problem.
func problemIn(t *testing.T, body []byte) v1.Problem {
	t.Helper()
	var p v1.Problem
	require.NoError(t, json.Unmarshal(body, &p), string(body))
	require.NotEmpty(t, p.Code, string(body))
	return p
}

// watchTools is a model that notes the tools it is offered, and stops.
func watchTools(offered *[]string) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		for _, spec := range req.Tools {
			*offered = append(*offered, spec.Name)
		}
		return &agent.ModelResponse{Text: "done"}, nil
	})
}
