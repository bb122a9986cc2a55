package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// site is a tenant with a database and a task queue of its own.
type site struct {
	*store.Store
	t         *testing.T
	db        *storetest.Database
	temporal  client.Client
	queue     string
	principal tool.Principal
	regular   bool // Runs begin by a regular activity, not in their workflow's own task.
	payloads  *payload.Keyring
}

func newSite(t *testing.T) *site {
	t.Helper()
	keys, err := payload.FromEnvironment(os.Getenv)
	require.NoError(t, err)
	return newSiteWith(t, keys)
}

// newSiteWith is newSite with other payload keys than those of the environment.
func newSiteWith(t *testing.T, keys *payload.Keyring) *site {
	t.Helper()
	db := storetest.NewDatabase(t)
	c, err := dialWith(server.Address(), keys)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return &site{
		payloads: keys,
		Store:    db.Store, t: t, db: db, temporal: c, queue: "q-" + newID(t),
		principal: tool.Principal{Tenant: db.Tenant(t), Subject: "test"},
	}
}

// newSiteBeside is another task queue of a tenant, with workers of its own.
func newSiteBeside(t *testing.T, s *site) *site {
	t.Helper()
	beside := *s
	beside.queue = "q-" + newID(t)
	return &beside
}

func newID(t *testing.T) string {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	return id.String()
}

// start runs a worker with the plugin in this process, until the test ends.
func (s *site) start(cfg worker.Config) {
	s.t.Helper()
	s.startStoppable(cfg)
}

// startStoppable is start for a worker that may stop before.
func (s *site) startStoppable(cfg worker.Config) (stop func()) {
	s.t.Helper()
	cfg.Store = s.Store
	if cfg.PayloadKeys == nil {
		cfg.PayloadKeys = s.payloads
	}
	plugin, err := worker.New(s.t.Context(), cfg)
	require.NoError(s.t, err)
	c, err := dial(server.Address(), plugin)
	require.NoError(s.t, err)
	w := sdkworker.New(c, s.queue, sdkworker.Options{DisableRegistrationAliasing: true})
	require.NoError(s.t, w.Start())
	stop = sync.OnceFunc(func() {
		w.Stop()
		c.Close()
		require.NoError(s.t, plugin.Close())
	})
	s.t.Cleanup(stop)
	return stop
}

// converter is the data converter of the site's client.
func (s *site) converter() converter.DataConverter {
	data, _ := payload.Wrap(nil, nil, s.payloads)
	return data
}

// publish stores a tool of the tenant with one published version.
func (s *site) publish(slug string, d tool.Definition, p tool.Policy) tool.Tool {
	s.t.Helper()
	return s.publishIn(s.Store, s.principal.Tenant, slug, d, p)
}

// publishIn stores a tool through any handle: a global one through the
// platform's, with the empty tenant.
func (s *site) publishIn(
	r registry.Store, tenant tool.TenantID, slug string, d tool.Definition, p tool.Policy,
) tool.Tool {
	s.t.Helper()
	if p.EgressClass == "" {
		p.EgressClass = tool.EgressNone
	}
	if p.PermissionPolicy == "" {
		p.PermissionPolicy = tool.PermissionAuto
	}
	created, err := r.CreateTool(s.t.Context(), tool.Tool{
		ID: newID(s.t), Tenant: tenant, Slug: slug, Definition: d, Policy: p,
		Status: tool.Draft, Active: true, Version: "1.0.0",
	})
	require.NoError(s.t, err)
	if tenant == "" { // It is off until it is switched on.
		on := true
		_, err = r.SetOverride(s.t.Context(), tool.Override{ToolID: created.ID, Enabled: &on})
		require.NoError(s.t, err)
	}
	return s.releaseIn(r, created, "1.0.0")
}

// release publishes the head of a tool of the tenant under a number.
func (s *site) release(t tool.Tool, number string) tool.Tool {
	s.t.Helper()
	return s.releaseIn(s.Store, t, number)
}

func (s *site) releaseIn(r registry.Store, t tool.Tool, number string) tool.Tool {
	s.t.Helper()
	now := time.Now()
	snapshot := tool.Snapshot{Definition: t.Definition}
	digest, err := snapshot.Digest()
	require.NoError(s.t, err)
	t.Status, t.Version, t.PublishedAt = tool.Published, number, &now
	published, _, err := r.AddVersion(s.t.Context(), t, tool.Version{
		ID: newID(s.t), ToolID: t.ID, Tenant: t.Tenant, Slug: t.Slug, Number: number, Digest: digest,
		Published: true, PublishedAt: &now, Snapshot: snapshot,
	})
	require.NoError(s.t, err)
	return published
}

// publishAgent stores an agent with one published version.
func (s *site) publishAgent(d agent.Definition) agent.Agent {
	s.t.Helper()
	return s.publishAgentAs("desk", d)
}

func (s *site) publishAgentAs(slug string, d agent.Definition) agent.Agent {
	s.t.Helper()
	now := time.Now()
	created, err := s.CreateAgent(s.t.Context(), agent.Agent{
		ID: newID(s.t), Tenant: s.principal.Tenant, Slug: slug, Definition: d, Status: tool.Draft, Version: "1.0.0",
	})
	require.NoError(s.t, err)
	digest, err := d.Digest()
	require.NoError(s.t, err)
	created.Status, created.PublishedAt = tool.Published, &now
	published, _, err := s.AddAgentVersion(s.t.Context(), created, agent.Version{
		ID: newID(s.t), AgentID: created.ID, Tenant: created.Tenant, Slug: created.Slug, Number: "1.0.0", Digest: digest,
		Published: true, PublishedAt: &now, Snapshot: d,
	})
	require.NoError(s.t, err)
	return published
}

// run records a run of an agent and starts its workflow.
func (s *site) run(a agent.Agent, input string) (agent.Run, client.WorkflowRun) {
	s.t.Helper()
	run := s.record(a, input)
	return run, s.begin(run)
}

// record records a run of an agent.
func (s *site) record(a agent.Agent, input string) agent.Run {
	s.t.Helper()
	id := newID(s.t)
	run, err := s.CreateRun(s.t.Context(), agent.Run{
		ID: id, Tenant: s.principal.Tenant, Kind: agent.RunKindAgent, AgentID: a.ID, Agent: a.Slug, Mode: tool.Production,
		Principal: s.principal, Status: agent.RunPending, WorkflowID: wire.RunWorkflowID(s.principal.Tenant, id),
	}, agent.Message{RunID: id, Role: agent.RoleUser, Content: []tool.Content{tool.Text(input)}})
	require.NoError(s.t, err)
	return run
}

// begin starts the workflow of a recorded run.
func (s *site) begin(run agent.Run) client.WorkflowRun {
	s.t.Helper()
	in := wire.NewAgentRun(s.principal, run.ID)
	in.Inline = !s.regular
	w, err := s.temporal.ExecuteWorkflow(s.t.Context(),
		client.StartWorkflowOptions{ID: run.WorkflowID, TaskQueue: s.queue}, wire.AgentRunWorkflow, in)
	require.NoError(s.t, err)
	return w
}

// wait waits for a workflow's end and returns its output.
func (s *site) wait(w client.WorkflowRun) (out wire.AgentRunOutput, err error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	err = w.Get(ctx, &out)
	return out, err
}

// invocations returns the invocations of a run in the order of their turns.
func (s *site) invocations(runID string) []tool.Invocation {
	s.t.Helper()
	page, err := s.ListInvocations(s.t.Context(), s.principal.Tenant, store.InvocationQuery{RunID: runID, Limit: 500})
	require.NoError(s.t, err)
	for i, j := 0, len(page)-1; i < j; i, j = i+1, j-1 {
		page[i], page[j] = page[j], page[i] // Newest first, as pages are.
	}
	return page
}

// httpTool defines a tool that GETs the canary.
func httpTool(url string, x tool.Execution) tool.Definition {
	config, err := json.Marshal(map[string]any{"method": "GET", "url": url + "/effect"})
	if err != nil {
		panic(err)
	}
	return tool.Definition{
		Name: "effect", Description: "Has an effect.", Implementation: tool.HTTP, Config: config, Execution: x,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`),
	}
}

func functionTool(name string, x tool.Execution) tool.Definition {
	return tool.Definition{
		Name: name, Description: name, Implementation: tool.Function, Execution: x,
		Config: json.RawMessage(`{"function_name":"` + name + `"}`),
	}
}

func refs(t *testing.T, names ...string) []tool.Ref {
	t.Helper()
	out := make([]tool.Ref, len(names))
	for i, name := range names {
		ref, err := tool.ParseRef(name)
		require.NoError(t, err)
		out[i] = ref
	}
	return out
}

// newTenant makes another tenant in the site's database.
func (s *site) newTenant() tool.TenantID {
	s.t.Helper()
	return s.db.Tenant(s.t)
}

// allow lets every tenant of a worker reach the canary.
func allow(c *canary) map[tool.TenantID]worker.Allowance {
	return map[tool.TenantID]worker.Allowance{"": {Hosts: []string{strings.TrimPrefix(c.URL, "http://")}}}
}

// firstTask returns the event of the end of a workflow's first task, which a reset goes back
// to. A task that ended with its run fails where a request came in meanwhile.
func (s *site) firstTask(workflowID, runID string) int64 {
	s.t.Helper()
	for _, e := range historyOf(s.t.Context(), s.t, s.temporal, workflowID, runID).Events {
		switch e.GetEventType() { //nolint:exhaustive // The others end no task.
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
			return e.GetEventId()
		}
	}
	s.t.Fatal("the workflow has ended no task")
	return 0
}
