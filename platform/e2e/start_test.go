package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/faulttest/grpcproxy"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// desk is a site with an API whose way to Temporal goes through a proxy, and an
// agent. Workers reach Temporal directly.
type desk struct {
	*site
	proxy  *grpcproxy.Proxy
	runs   *runs.Service
	config serve.HandlerConfig
	url    string
	key    string
}

const startMethod = "StartWorkflowExecution"

func newDesk(t *testing.T, change ...func(*serve.HandlerConfig)) *desk {
	t.Helper()
	d := &desk{site: newSite(t)}
	var err error
	d.proxy, err = grpcproxy.Start(server.Address())
	require.NoError(t, err)
	t.Cleanup(d.proxy.Close)
	temporal, err := client.Dial(client.Options{
		HostPort: d.proxy.Address(), Namespace: embedded.DefaultNamespace, Logger: quietTemporal(),
	})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	d.config = serve.HandlerConfig{
		Store: d.Store, Temporal: temporal, TaskQueue: d.queue, Namespace: embedded.DefaultNamespace,
	}
	for _, fn := range change {
		fn(&d.config)
	}
	d.runs, err = serve.Runs(t.Context(), d.config)
	require.NoError(t, err)
	d.config.Runs = d.runs
	handler, err := serve.Handler(t.Context(), d.config)
	require.NoError(t, err)
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	d.url, d.key = listening.URL, d.db.Key(t, d.principal.Tenant, "*")
	d.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	d.publishAgent(agent.Definition{Name: "Desk", Model: "test/x"})
	return d
}

// work runs a worker whose model answers at once.
func (d *desk) work() {
	d.t.Helper()
	d.start(worker.Config{Models: map[string]agent.Model{"test": play()}})
}

func (d *desk) post(path, body string) (*http.Response, []byte) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+path, strings.NewReader(body))
	require.NoError(d.t, err)
	req.Header.Set("Authorization", "Bearer "+d.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(d.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	return resp, raw
}

// ask asks for a run, which has to be accepted.
func (d *desk) ask() v1.Run {
	d.t.Helper()
	resp, raw := d.post("/v1/runs", `{"agent":"desk","input":"hello"}`)
	require.Equal(d.t, http.StatusAccepted, resp.StatusCode, string(raw))
	var run v1.Run
	require.NoError(d.t, json.Unmarshal(raw, &run))
	return run
}

func (d *desk) find(id string) agent.Run {
	d.t.Helper()
	run, err := d.FindRun(d.t.Context(), d.principal.Tenant, id)
	require.NoError(d.t, err)
	return run
}

// dispatchAll dispatches, as the server does, until no start waits.
func (d *desk) dispatchAll() {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		_, _ = d.runs.Dispatch(d.t.Context(), runs.DispatchLimit)
		backlog, err := d.CountStarts(d.t.Context())
		return err == nil && backlog.Count == 0
	}, time.Minute, 100*time.Millisecond)
}

// Whatever happens to the request that starts a workflow, the run ends as its
// workflow ends, and there is one workflow.
func TestALostStartIsNoEnd(t *testing.T) {
	t.Parallel()
	for _, effect := range []grpcproxy.Effect{
		grpcproxy.FailBefore, grpcproxy.FailAfter, grpcproxy.Hang, grpcproxy.HangAfter,
	} {
		t.Run(string(effect), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.work()
			fault := d.proxy.Inject(grpcproxy.Fault{Method: startMethod, Effect: effect})
			const n = 8
			ids := make([]string, n)
			var group sync.WaitGroup
			for i := range ids {
				group.Go(func() { ids[i] = d.ask().ID })
			}
			group.Wait()
			require.GreaterOrEqual(t, fault.Hits(), n)
			fault.Cancel()
			d.dispatchAll()
			for _, id := range ids {
				require.Eventually(t, func() bool { return d.find(id).Status.Final() }, time.Minute, 50*time.Millisecond)
				run := d.find(id)
				require.Equal(t, agent.RunCompleted, run.Status, run.Error)
				require.Equal(t, "done", run.Output)
				described, err := d.temporal.DescribeWorkflowExecution(t.Context(), run.WorkflowID, "")
				require.NoError(t, err)
				require.Equal(t, described.GetWorkflowExecutionInfo().GetExecution().GetRunId(), run.EndedBy)
			}
		})
	}
}

// What was accepted and had to be started later is counted.
func TestOverdueStartsAreCounted(t *testing.T) {
	t.Parallel()
	observer, err := observe.New(t.Context(), observe.Config{
		Service: "test", Getenv: func(string) string { return "" },
	})
	require.NoError(t, err)
	d := newDesk(t, func(c *serve.HandlerConfig) { c.Observer = observer })
	shows := func() string {
		answer := httptest.NewRecorder()
		observer.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return answer.Body.String()
	}
	require.Regexp(t, `toolcrib_overdue_found_total\{.*subject="start"} 0\n`, shows(), "the first one is an increase")
	fault := d.proxy.Inject(grpcproxy.Fault{Method: startMethod, Effect: grpcproxy.FailBefore})
	d.ask()
	_, _ = d.runs.Dispatch(t.Context(), 1)
	require.Regexp(t, `toolcrib_starts_waiting(\{.*})? 1\n`, shows())
	fault.Cancel()
	d.dispatchAll()
	require.Regexp(t, `toolcrib_overdue_closed_total\{.*subject="start"} 1\n`, shows())
	_, err = d.runs.Dispatch(t.Context(), 1)
	require.NoError(t, err)
	require.Regexp(t, `toolcrib_starts_waiting(\{.*})? 0\n`, shows())
}

// The same for single calls: 202 while nothing is known, one call in the end.
func TestALostStartOfACall(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	fault := d.proxy.Inject(grpcproxy.Fault{Method: startMethod, Effect: grpcproxy.FailAfter})
	resp, raw := d.post("/v1/tools/read/call", `{"arguments":{},"id":"order-1"}`)
	require.Equal(t, http.StatusAccepted, resp.StatusCode, string(raw))
	var call v1.Call
	require.NoError(t, json.Unmarshal(raw, &call))
	fault.Cancel()
	resp, raw = d.post("/v1/tools/read/call", `{"arguments":{},"id":"order-1","wait_s":0}`)
	require.Equal(t, http.StatusAccepted, resp.StatusCode, string(raw))
	var again v1.Call
	require.NoError(t, json.Unmarshal(raw, &again))
	require.Equal(t, call.RunID, again.RunID, "the id names one call")
	resp, _ = d.post("/v1/tools/read/call", `{"arguments":{"q":"x"},"id":"order-1","wait_s":0}`)
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	d.dispatchAll()
	d.work()
	require.Eventually(t, func() bool { return d.find(call.RunID).Status.Final() }, time.Minute, 50*time.Millisecond)
}

// A server that dies between the record and the start leaves both to the others:
// two that dispatch at once start one workflow.
func TestAnotherServerStartsTheRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.work()
	accepted := make([]agent.Run, 8)
	for i := range accepted {
		id := newID(t)
		input, err := json.Marshal(wire.NewAgentRun(d.principal, id))
		require.NoError(t, err)
		found, err := d.FindAgent(t.Context(), d.principal.Tenant, "desk")
		require.NoError(t, err)
		workflowID := wire.RunWorkflowID(d.principal.Tenant, id)
		accepted[i], err = d.AcceptRun(t.Context(), agent.Acceptance{ // And then it dies.
			Run: agent.Run{
				ID:         id,
				Tenant:     d.principal.Tenant,
				Kind:       agent.RunKindAgent,
				AgentID:    found.ID,
				Agent:      "desk",
				Mode:       tool.Production,
				Principal:  d.principal,
				WorkflowID: workflowID,
			},
			First: &agent.Message{Content: []tool.Content{tool.Text("hello")}},
			Start: agent.Start{Workflow: wire.AgentRunWorkflow, TaskQueue: d.queue, Input: input},
		})
		require.NoError(t, err)
	}
	other, err := serve.Runs(t.Context(), d.config)
	require.NoError(t, err)
	var group sync.WaitGroup
	for _, service := range []*runs.Service{d.runs, other} {
		group.Go(func() { _, _ = service.Dispatch(t.Context(), runs.DispatchLimit) })
	}
	group.Wait()
	d.dispatchAll()
	for _, run := range accepted {
		require.Eventually(t, func() bool { return d.find(run.ID).Status.Final() }, time.Minute, 50*time.Millisecond)
		require.Equal(t, agent.RunCompleted, d.find(run.ID).Status)
	}
}

// What Temporal refuses for good ends the run, and says why.
func TestARefusedStartEndsTheRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := newID(t)
	run, err := d.AcceptRun(t.Context(), agent.Acceptance{
		Run: agent.Run{
			ID: id, Tenant: d.principal.Tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, Principal: d.principal,
			WorkflowID: strings.Repeat("long", 1000),
		},
		Start: agent.Start{Workflow: wire.ToolCallWorkflow, TaskQueue: d.queue, Input: json.RawMessage(`{}`)},
	})
	require.NoError(t, err)
	d.dispatchAll()
	ended := d.find(run.ID)
	require.Equal(t, agent.RunFailed, ended.Status)
	require.Equal(t, tool.Invalid, ended.ErrorKind)
	require.Contains(t, ended.Error, "could not be started")
}

// A run that was cancelled before it began executes nothing, even if Temporal
// has its workflow.
func TestACancelledStartExecutesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	run := d.ask() // Started; no worker takes it up.
	resp, raw := d.post("/v1/runs/"+run.ID+"/cancel", "")
	require.Equal(t, http.StatusAccepted, resp.StatusCode, string(raw))
	require.Equal(t, agent.RunCancelled, d.find(run.ID).Status)
	d.work()
	require.Error(t, d.temporal.GetWorkflow(t.Context(), run.WorkflowID, "").Get(t.Context(), nil))
	ended := d.find(run.ID)
	require.Equal(t, agent.RunCancelled, ended.Status)
	require.Nil(t, ended.StartedAt)
}

// Above its bound a tenant is asked to come back, and nothing is recorded.
func TestUnfinishedWorkIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *serve.HandlerConfig) { c.MaxUnfinishedRuns = 2 })
	d.ask()
	second := d.ask()
	for path, body := range map[string]string{
		"/v1/runs":            `{"agent":"desk","input":"hello"}`,
		"/v1/tools/read/call": `{"arguments":{}}`,
		"/v1/tools/read/test": `{"arguments":{}}`,
	} {
		resp, raw := d.post(path, body)
		require.Equal(t, http.StatusTooManyRequests, resp.StatusCode, path+string(raw))
		require.NotEmpty(t, resp.Header.Get("Retry-After"), path)
	}
	d.post("/v1/runs/"+second.ID+"/cancel", "")
	d.ask()
}

// Where too many runs have not begun, new ones are refused with a time to retry: by their tenant's
// queue with 429, by that of all tenants with 503. Runs that begin make room.
func TestFullQueuesAreRefused(t *testing.T) {
	t.Parallel()
	for status, limit := range map[int]func(*serve.HandlerConfig){
		http.StatusTooManyRequests:    func(c *serve.HandlerConfig) { c.MaxTenantQueuedRuns = 2 },
		http.StatusServiceUnavailable: func(c *serve.HandlerConfig) { c.MaxQueuedRuns = 2 },
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, limit)
			require.NoError(t, d.runs.LookAtQueues(t.Context()))
			d.ask()
			d.ask()
			for range 2 { // By what was accepted since, and by the count.
				for _, path := range []string{"/v1/runs", "/v1/tools/read/call"} {
					resp, raw := d.post(path, map[string]string{
						"/v1/runs": `{"agent":"desk","input":"hello"}`, "/v1/tools/read/call": `{"arguments":{}}`,
					}[path])
					require.Equal(t, status, resp.StatusCode, path+string(raw))
					seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
					require.NoError(t, err)
					require.GreaterOrEqual(t, seconds, 5)
					require.LessOrEqual(t, seconds, 10)
				}
				require.NoError(t, d.runs.LookAtQueues(t.Context()))
			}
			d.work()
			require.Eventually(t, func() bool {
				require.NoError(t, d.runs.LookAtQueues(t.Context()))
				seen, _ := d.runs.Queues()
				return seen.Pending == 0
			}, time.Minute, 50*time.Millisecond)
			d.ask()
		})
	}
}
