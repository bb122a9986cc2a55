// Package observe_test looks at a running platform through its traces, metrics
// and logs.
package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// Values that a call is made with and answered with. Nothing but the call's own
// record may hold one.
const (
	plantedArgument = "tc-planted-argument-4f1d"
	plantedResult   = "tc-planted-result-a90c"
)

// patience is how long something may take on a loaded machine.
const patience = time.Minute

// site is the whole platform with a collector, which the tests share.
type site struct {
	*dev.Dev
	observer  *observe.Observer
	collector *collector
	upstream  *upstream
	log       *lines
}

var shared site

func TestMain(m *testing.M) {
	os.Exit(run(m)) //nolint:forbidigo // This is main.
}

func run(m *testing.M) int {
	shared.collector, shared.upstream, shared.log = newCollector(), newUpstream(), &lines{}
	defer shared.collector.Close()
	defer shared.upstream.Close()
	err := shared.start(context.Background())
	defer func() {
		if shared.Dev != nil {
			_ = shared.Stop(context.Background())
		}
		if shared.observer != nil {
			_ = shared.observer.Stop(context.Background())
		}
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the platform:", err)
		return 1
	}
	return m.Run()
}

func (s *site) start(ctx context.Context) (err error) {
	environment := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.collector.URL}
	log := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.observer, err = observe.New(ctx, observe.Config{
		Service: "test", Version: "1.2.3", Logger: log, Getenv: func(name string) string { return environment[name] },
	})
	if err != nil {
		return err
	}
	functions, err := newFunctions()
	if err != nil {
		return err
	}
	s.Dev, err = dev.Start(ctx, dev.Config{
		Stack:    embedded.Config{Throwaway: true, Headless: true},
		Observer: s.observer, Logger: log,
		Worker: worker.Config{
			Functions: functions, Models: map[string]agent.Model{"test": agent.ModelFunc(answer)},
			Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{strings.TrimPrefix(s.upstream.URL, "http://")}}},
		},
	})
	if err != nil {
		return err
	}
	return s.apply(ctx)
}

// newFunctions defines functions that fail in every way there is, and whose
// errors would disclose their arguments.
func newFunctions() (*function.Registry, error) {
	type in struct {
		Q string `json:"q"`
	}
	reg := function.NewRegistry()
	return reg, errors.Join(
		function.Define(reg, "refuse", "Says no.", func(_ context.Context, in in) (string, error) {
			return "", errors.New("no such thing: " + in.Q)
		}, function.Pure()),
		function.Define(reg, "panic", "Panics.", func(_ context.Context, in in) (string, error) { panic(in.Q) }),
	)
}

// answer is a model that calls two tools, one that there is not, and then is
// content.
func answer(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	if req.Turn > 1 {
		return &agent.ModelResponse{Text: plantedResult, Usage: agent.Usage{InputTokens: 5, OutputTokens: 2}}, nil
	}
	args := json.RawMessage(`{"q":"` + plantedArgument + `"}`)
	return &agent.ModelResponse{
		Calls: []agent.Call{{ID: "c1", Name: "fetch", Arguments: args}, {ID: "c2", Name: "nothingLikeIt", Arguments: args}},
		Usage: agent.Usage{InputTokens: 11, OutputTokens: 7},
	}, nil
}

// apply makes the tools and the agent of these tests.
func (s *site) apply(ctx context.Context) error {
	const schema = `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`
	definition := func(slug, rest string) json.RawMessage {
		return json.RawMessage(`{"kind":"tool","slug":"` + slug +
			`","description":"A tool.","version":"1.0.0","publish":true,"input_schema":` + schema + `,` + rest + `}`)
	}
	fetching := func(path, execution string) string {
		return `"implementation_type":"http","egress_class":"read_only","implementation_config":{"url":"` + s.upstream.URL +
			path + `"},"execution":` + execution
	}
	c, err := s.client()
	if err != nil {
		return err
	}
	defer c.Close()
	applied, err := c.Apply(ctx, v1.Apply{Definitions: []json.RawMessage{
		definition("fetch", fetching("/fetch/{q}", `{"is_pure":true,"timeout_s":30}`)),
		definition("fetchOnce", fetching("/fetch/{q}", `{"timeout_s":30}`)),
		definition("broken", fetching("/broken/{q}", `{"is_pure":true,"timeout_s":30,"max_attempts":2}`)),
		definition(
			"inside",
			`"implementation_type":"http","egress_class":"read_only","implementation_config":{"url":"http://10.255.255.1/{q}"}`,
		),
		definition("refuse", `"implementation_type":"function","implementation_config":{"function_name":"refuse"}`),
		definition("panic", `"implementation_type":"function","implementation_config":{"function_name":"panic"}`),
		json.RawMessage(`{"kind":"agent","slug":"desk","instructions":"Help.","model":"test/x","version":"1.0.0","publish":true,"tools":["fetch"]}`),
	}})
	if err == nil && applied.Failed > 0 {
		err = fmt.Errorf("applying definitions: %+v", applied)
	}
	return err
}

func (s *site) client() (*client.Client, error) {
	return client.New(client.Config{Server: s.URL(), Key: s.Key()})
}

// request sends a request to the API and returns the answer, its body read.
func (s *site) request(t *testing.T, method, path, body string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	for name := range header {
		req.Header.Set(name, header.Get(name))
	}
	req.Header.Set("Authorization", "Bearer "+s.Key())
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, raw
}

// call calls a tool with the planted argument.
func (s *site) call(t *testing.T, slug string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	return s.request(t, http.MethodPost, "/v1/tools/"+slug+"/call",
		`{"wait_s":60,"arguments":{"q":"`+plantedArgument+`"}}`, header)
}

// runAgent runs the agent to its end.
func (s *site) runAgent(t *testing.T) {
	t.Helper()
	c, err := s.client()
	require.NoError(t, err)
	defer c.Close()
	run, err := c.StartRun(t.Context(), v1.NewRun{Agent: "desk", Input: json.RawMessage(`"` + plantedArgument + `"`)})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		run, err = c.Run(t.Context(), run.ID)
		return err == nil && run.Status.Final()
	}, patience, 50*time.Millisecond)
	require.Equal(t, agent.RunCompleted, run.Status)
}

// upstream is what http tools call.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	seen []http.Header
}

func newUpstream() *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.seen = append(u.seen, r.Header.Clone())
		u.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(r.URL.Path, "/broken/") {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = fmt.Fprintf(w, `{"found":%q}`, plantedResult)
	}))
	return u
}

// ofTrace returns the headers of the requests that belong to a trace.
func (u *upstream) ofTrace(id string) []http.Header {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []http.Header
	for _, h := range u.seen {
		if strings.Contains(h.Get("Traceparent"), id) {
			out = append(out, h)
		}
	}
	return out
}

// lines is everything that was logged.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
