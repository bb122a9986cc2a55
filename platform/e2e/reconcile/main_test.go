// Package reconcile_test reconciles a real PostgreSQL with a real Temporal
// server: workflows that are terminated, time out, fail or are lost, and
// databases that are restored.
package reconcile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// server is the Temporal server that all tests share. Each test has a database
// of its own, whose tenants the reconcilers of the others do not know.
var server *embedded.Temporal

func TestMain(m *testing.M) {
	os.Exit(run(m)) //nolint:forbidigo // This is main.
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	server, err = embedded.StartTemporal(ctx, embedded.TemporalConfig{
		Port: embedded.AnyPort, Headless: true, Logger: quiet(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting Temporal:", err)
		return 1
	}
	defer func() { _ = server.Stop(context.Background()) }()
	return m.Run()
}

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// grace is short, so that what a test has just made is old enough.
const grace = time.Nanosecond

// site is a tenant with one of everything, and a task queue that no worker
// listens on unless a test starts one.
type site struct {
	*storetest.Fixture
	t           *testing.T
	temporal    client.Client
	maintenance *store.Maintenance
	queue       string
}

func newSite(t *testing.T) *site {
	t.Helper()
	d := storetest.NewDatabase(t)
	c, err := client.Dial(client.Options{
		HostPort: server.Address(), Namespace: embedded.DefaultNamespace, Logger: sdklog.NewStructuredLogger(quiet()),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	m, err := store.OpenMaintenance(t.Context(), d.URL, store.Options{SetRole: store.MaintenanceRole, MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	s := &site{Fixture: storetest.NewFixture(t, d), t: t, temporal: c, maintenance: m, queue: "q-" + storetest.NewID(t)}
	s.close(s.Run, agent.RunCompleted) // It belongs to no workflow.
	return s
}

// close ends a run as its workflow would.
func (s *site) close(run agent.Run, status agent.RunStatus) {
	s.t.Helper()
	require.NoError(
		s.t,
		s.Store.FinishRun(s.t.Context(), agent.RunEnd{Tenant: s.Tenant, RunID: run.ID, Status: status, Execution: "x"}),
	)
}

// passes passes once, and goes on where Temporal did not answer in time.
func (s *site) passes(r *reconcile.Reconciler, opts reconcile.PassOptions) reconcile.Report {
	s.t.Helper()
	var all reconcile.Report
	require.Eventually(s.t, func() bool {
		report, err := r.Pass(s.t.Context(), opts)
		all.Findings, all.Unknown = append(all.Findings, report.Findings...), report.Unknown
		if tool.KindOf(err) == tool.Unavailable {
			return false
		}
		require.NoError(s.t, err)
		return true
	}, 2*time.Minute, 10*time.Millisecond)
	return all
}

// reconciler returns a reconciler of the site.
func (s *site) reconciler(change ...func(*reconcile.Config)) *reconcile.Reconciler {
	s.t.Helper()
	cfg := reconcile.Config{
		Store: s.Store, Temporal: s.temporal, Namespace: embedded.DefaultNamespace, Maintenance: s.maintenance, Grace: grace,
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, fn := range change {
		fn(&cfg)
	}
	r, err := reconcile.New(cfg)
	require.NoError(s.t, err)
	return r
}

// pass passes once and returns what it found of the site.
func (s *site) pass(change ...func(*reconcile.PassOptions)) []reconcile.Finding {
	s.t.Helper()
	var opts reconcile.PassOptions
	for _, fn := range change {
		fn(&opts)
	}
	return s.passes(s.reconciler(), opts).Findings
}

// found passes until something is found, which Temporal's list is late to show,
// and requires that it is so much.
func (s *site) found(n int, change ...func(*reconcile.PassOptions)) (found []reconcile.Finding) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		found = s.pass(change...)
		return len(found) > 0
	}, time.Minute, 20*time.Millisecond)
	require.Len(s.t, found, n)
	return found
}

func dry(o *reconcile.PassOptions) { o.DryRun = true }

// recorded records a run of the agent that is to be started.
func (s *site) recorded() agent.Run {
	s.t.Helper()
	id := storetest.NewID(s.t)
	made, err := s.Store.CreateRun(s.t.Context(), agent.Run{
		ID: id, Tenant: s.Tenant, Kind: agent.RunKindAgent, AgentID: s.Agent.ID, Agent: s.Agent.Slug, Mode: tool.Production,
		Principal: s.Principal, WorkflowID: wire.RunWorkflowID(s.Tenant, id),
	}, agent.Message{Role: agent.RoleUser, Content: []tool.Content{tool.Text("Where is my order?")}})
	require.NoError(s.t, err)
	return made
}

// started records a run, starts its workflow, and begins it as the workflow
// would.
func (s *site) started(change ...func(*client.StartWorkflowOptions)) (agent.Run, client.WorkflowRun) {
	s.t.Helper()
	made := s.recorded()
	w := s.start(made.WorkflowID, wire.AgentRunWorkflow, change...)
	made.FirstRunID, made.Plan = w.GetRunID(), &agent.Plan{AgentID: s.Agent.ID}
	made, err := s.Store.BeginRun(s.t.Context(), made)
	require.NoError(s.t, err)
	require.Equal(s.t, agent.RunRunning, made.Status)
	return made, w
}

func (s *site) start(id, name string, change ...func(*client.StartWorkflowOptions)) client.WorkflowRun {
	s.t.Helper()
	opts := client.StartWorkflowOptions{ID: id, TaskQueue: s.queue}
	for _, fn := range change {
		fn(&opts)
	}
	w, err := s.temporal.ExecuteWorkflow(s.t.Context(), opts, name, map[string]string{})
	require.NoError(s.t, err)
	return w
}

// call admits a call of a run as a worker would, and marks it as sent where it
// is to be.
func (s *site) call(in agent.Run, sent bool) (invocationID, effectID string, fence int64) {
	s.t.Helper()
	e := s.Lone(s.t)
	e.RunID = in.ID
	ticket := s.Admit(s.t, e, false, false)
	if sent {
		require.NoError(s.t, s.Store.MarkSent(s.t.Context(), s.Tenant, e.EffectID, ticket.Fence))
	}
	return ticket.InvocationID, e.EffectID, ticket.Fence
}

// worker runs a workflow of the given type on the site's queue.
func (s *site) worker(name string, fn any) {
	s.t.Helper()
	w := sdkworker.New(s.temporal, s.queue, sdkworker.Options{DisableRegistrationAliasing: true})
	w.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name})
	require.NoError(s.t, w.Start())
	s.t.Cleanup(w.Stop)
}

func (s *site) terminate(id, reason string) {
	s.t.Helper()
	require.NoError(s.t, s.temporal.TerminateWorkflow(s.t.Context(), id, "", reason))
}

func (s *site) status(id string) enums.WorkflowExecutionStatus {
	s.t.Helper()
	found, err := s.temporal.DescribeWorkflowExecution(s.t.Context(), id, "")
	require.NoError(s.t, err)
	return found.GetWorkflowExecutionInfo().GetStatus()
}

func (s *site) find(id string) agent.Run {
	s.t.Helper()
	found, err := s.Store.FindRun(s.t.Context(), s.Tenant, id)
	require.NoError(s.t, err)
	return found
}

func (s *site) invocation(id string) tool.Invocation {
	s.t.Helper()
	found, err := s.Store.FindInvocation(s.t.Context(), s.Tenant, id)
	require.NoError(s.t, err)
	return found
}

// ending returns the data of a run's last event, which must be of a type, and
// how many events of ends there are.
func (s *site) ending(id string, want tool.EventType) (data map[string]any, ends int) {
	s.t.Helper()
	events, err := s.Store.ListEvents(s.t.Context(), s.Tenant, id, 0, 1000)
	require.NoError(s.t, err)
	require.NotEmpty(s.t, events)
	for i, e := range events {
		require.Equal(s.t, int64(i+1), e.Seq, "no gap")
		if e.Type == agent.EventRunCompleted || e.Type == agent.EventRunFailed || e.Type == agent.EventRunCancelled {
			ends++
		}
	}
	last := events[len(events)-1]
	require.Equal(s.t, want, last.Type)
	require.NoError(s.t, json.Unmarshal(last.Data, &data))
	return data, ends
}
