package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// site is a tenant with a database, and a worker that runs what a user's would:
// the plugin, beside workflows written by hand.
type site struct {
	*database
	lab       *lab
	functions *function.Registry
	asked     asked
	temporal  client.Client
	starts    *runs.Service
	queue     string
	principal tool.Principal
}

// newSite makes a database with a tenant and starts a worker. The workflows and
// activities written by hand are registered with the same worker.
func (l *lab) newSite(ctx context.Context, name string) (*site, error) {
	s := &site{lab: l, functions: function.NewRegistry(), queue: name}
	var err error
	if s.database, err = l.newDatabase(ctx, name); err != nil {
		return nil, err
	}
	if s.principal, err = s.newTenant(ctx, name); err != nil {
		return nil, err
	}
	if err := defineFunctions(s.functions); err != nil {
		return nil, err
	}
	return s, s.startWorker(ctx)
}

func (s *site) newTenant(ctx context.Context, slug string) (tool.Principal, error) {
	tenant, err := s.platform.CreateTenant(ctx, store.Tenant{Slug: slug})
	if err != nil {
		return tool.Principal{}, fmt.Errorf("making the tenant %s: %w", slug, err)
	}
	return tool.Principal{Tenant: tenant.ID, Subject: "bench"}, nil
}

func (s *site) startWorker(ctx context.Context) error {
	plugin, err := worker.New(ctx, worker.Config{
		Store: s.Store, Functions: s.functions, Models: map[string]agent.Model{modelProvider: countingModel(&s.asked)},
		StopTimeout: time.Second, Logger: s.lab.cfg.Logger,
	})
	if err != nil {
		return err
	}
	s.lab.later(func(context.Context) error { return plugin.Close() })
	if s.temporal, err = s.lab.dial(ctx, plugin); err != nil {
		return err
	}
	w := sdkworker.New(s.temporal, s.queue, sdkworker.Options{})
	registerHosted(w)
	if err := s.registerHandWritten(ctx, w); err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return fmt.Errorf("starting the worker: %w", err)
	}
	s.lab.later(func(context.Context) error { w.Stop(); return nil })
	s.starts, err = serve.Runs(ctx, serve.HandlerConfig{
		Store: s.Store, Temporal: s.temporal, Namespace: s.lab.temporal.Namespace(), TaskQueue: s.queue,
		Types: plugin.Types(), Logger: s.lab.cfg.Logger,
	})
	return err
}

// toolName names the tool that runs a function in a lane.
func toolName(fn string, lane tool.Lane) string {
	return fn + strings.ToUpper(string(lane[:1])) + string(lane[1:])
}

// publish makes and publishes a tool for each lane that runs a function.
func (s *site) publish(ctx context.Context, p tool.Principal, fn string) error {
	described, ok := s.functions.Tool(fn)
	if !ok {
		return fmt.Errorf("publishing a tool: there is no function %q", fn)
	}
	for _, lane := range lanes {
		d := described.Definition
		d.Execution.Lane = lane
		if _, _, err := publishTool(ctx, s.Store, p.Tenant, toolName(fn, lane), d, described.Policy); err != nil {
			return err
		}
	}
	return nil
}

// publishTool stores a tool with one published version.
func publishTool(
	ctx context.Context, to *store.Store, tenant tool.TenantID, slug string, d tool.Definition, p tool.Policy,
) (tool.Tool, tool.Version, error) {
	head, err := to.CreateTool(ctx, tool.Tool{
		Tenant: tenant, Slug: slug, Definition: d, Policy: p, Status: tool.Draft, Active: true, Version: firstVersion,
	})
	if err != nil {
		return tool.Tool{}, tool.Version{}, fmt.Errorf("making the tool %s: %w", slug, err)
	}
	snapshot := tool.Snapshot{Definition: head.Definition}
	digest, err := snapshot.Digest()
	if err != nil {
		return tool.Tool{}, tool.Version{}, fmt.Errorf("digesting the tool %s: %w", slug, err)
	}
	now := time.Now()
	head.Status, head.PublishedAt = tool.Published, &now
	published, version, err := to.AddVersion(ctx, head, tool.Version{
		ToolID: head.ID, Tenant: tenant, Slug: slug, Number: firstVersion, Digest: digest, Published: true, PublishedAt: &now,
		Snapshot: snapshot,
	})
	if err != nil {
		return tool.Tool{}, tool.Version{}, fmt.Errorf("publishing the tool %s: %w", slug, err)
	}
	return published, version, nil
}

const firstVersion = "1.0.0"

// publishAgent stores an agent with one published version.
func (s *site) publishAgent(ctx context.Context, slug string, d agent.Definition) (agent.Agent, error) {
	d.Name = slug
	head, err := s.CreateAgent(ctx, agent.Agent{
		Tenant: s.principal.Tenant, Slug: slug, Definition: d, Status: tool.Draft, Version: firstVersion,
	})
	if err != nil {
		return agent.Agent{}, fmt.Errorf("making the agent %s: %w", slug, err)
	}
	digest, err := head.Digest()
	if err != nil {
		return agent.Agent{}, fmt.Errorf("digesting the agent %s: %w", slug, err)
	}
	now := time.Now()
	head.Status, head.PublishedAt = tool.Published, &now
	published, _, err := s.AddAgentVersion(ctx, head, agent.Version{
		AgentID: head.ID, Tenant: head.Tenant, Slug: slug, Number: firstVersion, Digest: digest,
		Published: true, PublishedAt: &now, Snapshot: head.Definition,
	})
	if err != nil {
		return agent.Agent{}, fmt.Errorf("publishing the agent %s: %w", slug, err)
	}
	return published, nil
}

// run starts a run of an agent as the API does, takes it to its end, and checks
// that it made all its calls.
func (s *site) run(ctx context.Context, a agent.Agent, turns, calls int) (client.WorkflowRun, error) {
	run, err := s.starts.Start(ctx, runs.NewRun{Principal: s.principal, Agent: a.Slug, Input: []byte(`"Count."`)})
	if err != nil {
		return nil, fmt.Errorf("starting a run: %w", err)
	}
	w := s.temporal.GetWorkflow(ctx, run.WorkflowID, "")
	var out wire.AgentRunOutput
	if err := w.Get(ctx, &out); err != nil {
		return nil, fmt.Errorf("running an agent: %w", err)
	}
	// The last turn makes no call and ends the run.
	if out.Status != agent.RunCompleted || out.Turns != turns+1 || out.Calls != calls || out.Answer != finalAnswer(turns) {
		return nil, fmt.Errorf("an agent's run of %d turns with %d calls ended otherwise: %+v", turns, calls, out)
	}
	return w, nil
}

// options start workflows of hosts and those written by hand as eagerly as the API
// starts runs.
func (s *site) options(id string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: id, TaskQueue: s.queue, EnableEagerStart: true}
}

// completed counts the calls of the tenant that are on record as answered.
func (s *site) completed(ctx context.Context) (int, error) {
	return s.count(ctx, "select count(*) from tool_invocations where tenant_id = $1 and status = 'completed'",
		s.principal.Tenant)
}

// recorded does a round of work and checks that all its calls are on record.
func (s *site) recorded(ctx context.Context, work func() (sample, error)) (sample, error) {
	before, err := s.completed(ctx)
	if err != nil {
		return sample{}, err
	}
	got, err := work()
	if err != nil {
		return sample{}, err
	}
	after, err := s.completed(ctx)
	if err == nil && after-before != got.calls {
		err = fmt.Errorf("%d calls were made and %d are on record", got.calls, after-before)
	}
	return got, err
}
