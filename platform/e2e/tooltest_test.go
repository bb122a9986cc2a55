package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/sse"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// panel is the API of a site, for testing tools.
type panel struct {
	url, key string
}

func (s *site) panel(change ...func(*api.Config)) panel {
	s.t.Helper()
	resolve := resolver.New(s.Store, resolver.Options{})
	cfg := api.Config{
		Store: s.Store, Resolver: resolve, Registry: registry.New(s.Store, registry.Options{Resolver: resolve}),
		Temporal: s.temporal, TaskQueue: s.queue, RequestTimeout: time.Minute, Logger: slog.New(slog.DiscardHandler),
	}
	for _, fn := range change {
		fn(&cfg)
	}
	handler, err := api.New(cfg)
	require.NoError(s.t, err)
	front := httptest.NewServer(handler)
	s.t.Cleanup(front.Close)
	return panel{url: front.URL, key: s.db.Key(s.t, s.principal.Tenant, "*")}
}

func (p panel) post(t *testing.T, path, body string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, bytes.NewBufferString(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+p.key)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// test tests a tool and returns how it went.
func (p panel) test(t *testing.T, slug, body string) (status int, out v1.ToolTest) {
	t.Helper()
	resp := p.post(t, "/v1/tools/"+slug+"/test", body)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&out))
	return resp.StatusCode, out
}

type spokenIn struct {
	Lines int `json:"lines"`
}

// panelSite has a tool of each sort that tests treat differently. It returns
// how often the one that changes something ran.
func panelSite(t *testing.T) (*site, *atomic.Int64) {
	t.Helper()
	s := newSite(t)
	var changes atomic.Int64
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "speak", "Says lines.",
		func(ctx context.Context, in spokenIn) (noteOut, error) {
			secret.Note(ctx, secret.NewValue("hush-hush-4711"))
			for range in.Lines {
				tool.AppendOutput(ctx, "a line with hush-")
				tool.AppendOutput(ctx, "hush-4711 in it\n")
			}
			return noteOut{}, nil
		}, function.Pure()))
	require.NoError(t, function.Define(functions, "change", "Changes something.",
		func(context.Context, noteIn) (noteOut, error) {
			changes.Add(1)
			return noteOut{}, nil
		}))
	s.start(worker.Config{Functions: functions})
	speak, ok := functions.Tool("speak")
	require.True(t, ok)
	s.publish("speak", speak.Definition, tool.Policy{})
	s.publish("change", functionTool("change", tool.Execution{}), tool.Policy{})
	s.publish("write", functionTool("change", tool.Execution{}), tool.Policy{EgressClass: tool.EgressWrite})
	return s, &changes
}

// A test takes the way of every call, is on record as a test, and changes
// nothing unless it is asked to.
func TestToolTest(t *testing.T) {
	t.Parallel()
	s, changes := panelSite(t)
	p := s.panel()

	status, got := p.test(t, "speak", `{"arguments": {"lines": "2"}}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, agent.RunCompleted, got.Status, got.Error)
	require.Equal(t, "speak", got.Tool)
	require.Equal(t, "1.0.0", got.Version)
	require.NotEmpty(t, got.Digest)
	require.JSONEq(t, `{"lines": 2}`, string(got.Invocation.Input), "it is coerced as always")
	require.NotEmpty(t, got.Invocation.Receipt)
	require.Equal(t, tool.Debug, got.Invocation.Mode)
	run, err := s.FindRun(t.Context(), s.principal.Tenant, got.RunID)
	require.NoError(t, err)
	require.Equal(t, agent.RunKindToolTest, run.Kind)
	requireReplays(t, historyOf(t.Context(), t, s.temporal, run.WorkflowID, run.FirstRunID), "tooltest_answered")

	status, got = p.test(t, "speak", `{"arguments": {"lines": "many"}}`)
	require.Equal(t, http.StatusOK, status, "a fault that the test found is no fault of the request")
	require.Equal(t, agent.RunFailed, got.Status)
	require.Equal(t, tool.Invalid, got.ErrorKind)
	require.NotEmpty(t, got.Error)

	for _, slug := range []string{"change", "write"} {
		_, got = p.test(t, slug, `{}`)
		require.Equal(t, agent.RunFailed, got.Status)
		require.Equal(t, tool.Denied, got.ErrorKind)
		require.Contains(t, got.Error, "allow_writes")
		require.Equal(t, tool.StatusFailed, got.Invocation.Status)
	}
	require.Zero(t, changes.Load())

	run, err = s.FindRun(t.Context(), s.principal.Tenant, got.RunID)
	require.NoError(t, err)
	requireReplays(t, historyOf(t.Context(), t, s.temporal, run.WorkflowID, run.FirstRunID), "tooltest_refused")

	_, got = p.test(t, "change", `{"allow_writes": true}`)
	require.Equal(t, agent.RunCompleted, got.Status, got.Error)
	require.EqualValues(t, 1, changes.Load())
	_, got = p.test(t, "write", `{"allow_writes": true}`)
	require.Equal(t, tool.Denied, got.ErrorKind)
	require.Contains(t, got.Error, "approv", "a test lowers no policy")
	require.EqualValues(t, 1, changes.Load())

	status, got = p.test(t, "speak", `{"arguments": {"lines": 1}, "wait_s": 0}`)
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, status)
	require.NotEmpty(t, got.RunID)
	require.Equal(t, http.StatusNotFound, p.post(t, "/v1/tools/nobodys/test", `{}`).StatusCode)
	require.Equal(t, http.StatusNotFound, p.post(t, "/v1/tools/nobodys/test/stream", `{}`).StatusCode)
	require.Equal(t, http.StatusNotFound, p.post(t, "/v1/tools/speak/test", `{"version": "9.9.9"}`).StatusCode)
}

// The stream of a test holds the run's events, the tool's output without
// secrets, and in the end how it went.
func TestToolTestStream(t *testing.T) {
	t.Parallel()
	s, _ := panelSite(t)

	resp := s.panel().post(t, "/v1/tools/speak/test/stream", `{"arguments": {"lines": 3}}`)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, v1.StreamType, resp.Header.Get("Content-Type"))
	require.Regexp(t, `^/v1/runs/[0-9a-f-]{36}$`, resp.Header.Get("Location"))
	var names []string
	var said strings.Builder
	var test v1.ToolTest
	for m, err := range sse.Read(resp.Body, 1<<20, func() {}) {
		require.NoError(t, err)
		if m.Type == "" {
			continue
		}
		names = append(names, m.Type)
		switch m.Type {
		case string(tool.EventOutputAppended):
			var e tool.Event
			var o agent.Output
			require.NoError(t, json.Unmarshal(m.Data, &e))
			require.NoError(t, json.Unmarshal(e.Data, &o))
			require.Equal(t, "call", o.CallID)
			require.Equal(t, 1, o.Attempt)
			said.WriteString(o.Text)
		case string(api.EventTestResult):
			require.NoError(t, json.Unmarshal(m.Data, &test))
		}
	}
	require.Equal(t, strings.Repeat("a line with "+tool.Redacted+" in it\n", 3), said.String())
	require.Equal(t, agent.RunCompleted, test.Status)
	require.NotNil(t, test.Invocation.Output)
	require.Equal(t, []string{string(api.EventTestResult), v1.EventEnd}, names[len(names)-2:])
	require.Less(t, slices.Index(names, string(tool.EventOutputAppended)),
		slices.Index(names, string(tool.EventCompleted)),
		"output comes before the end of its call")
	require.Equal(t, 1, strings.Count(strings.Join(names, " "), string(tool.EventStarted)))
}

// A caller that may run a test may follow it to its end, however long it takes.
func TestToolTestStreamNeedsNoMoreThanItsTest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	goOn := make(chan struct{})
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "wait", "Waits.", func(ctx context.Context, _ noteIn) (noteOut, error) {
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return noteOut{}, ctx.Err()
	}, function.Pure()))
	s.start(worker.Config{Functions: functions})
	wait, ok := functions.Tool("wait")
	require.True(t, ok)
	s.publish("wait", wait.Definition, tool.Policy{})
	p := s.panel(func(c *api.Config) { c.Streams.Heartbeat = 10 * time.Millisecond })
	p.key = s.db.Key(t, s.principal.Tenant, api.RunsWrite)

	resp := p.post(t, "/v1/tools/wait/test/stream", `{}`)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var release sync.Once
	var read []string
	alive := false
	for m, err := range sse.Read(resp.Body, 1<<20, func() {}) {
		require.NoError(t, err)
		read = append(read, m.Type)
		if m.Comment == "alive" { // Its key was looked at again.
			alive = true
			release.Do(func() { close(goOn) })
		}
	}
	require.True(t, alive)
	require.Contains(t, read, string(api.EventTestResult), "%v", read)
}
