package e2e_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/examples/host-worker/dispatch"
	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows"
)

// host starts a worker of a team that has workflows of its own, with the
// plugin on its client. The returned function stops it.
func (s *site) host(cfg worker.Config, register func(sdkworker.Registry)) (stop func()) {
	s.t.Helper()
	cfg.Store = s.Store
	plugin, err := worker.New(s.t.Context(), cfg)
	require.NoError(s.t, err)
	c, err := dial(server.Address(), plugin)
	require.NoError(s.t, err)
	w := sdkworker.New(c, s.queue, sdkworker.Options{DisableRegistrationAliasing: true})
	register(w)
	require.NoError(s.t, w.Start())
	stop = func() {
		w.Stop()
		c.Close()
		require.NoError(s.t, plugin.Close())
	}
	return stop
}

// publishQuoteShipping publishes the tool of examples/support-desk, with the
// shop where it is for this test.
func (s *site) publishQuoteShipping(address string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "support-desk", "tools", "quoteShipping.yaml"))
	require.NoError(s.t, err)
	raw, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(string(text), shop.Address, address)))
	require.NoError(s.t, err)
	var spec definition.ToolSpec
	require.NoError(s.t, json.Unmarshal(raw, &spec))
	s.publish(spec.Slug, spec.Definition, spec.Policy)
}

// secretsFor is a directory with the shop's token, bound to its address.
func secretsFor(t *testing.T, token, address string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "_shared"), 0o700))
	for name, text := range map[string]string{"shop-api": token, "shop-api.hosts": address} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "_shared", name), []byte(text), 0o600))
	}
	return dir
}

// A tool node of a host's workflow that fails twice and then succeeds shows, in
// what the Temporal UI draws from, its tool and version, the attempt and the
// last failure; and the workflow notices nothing.
func TestHostWorkflowToolNodeRetries(t *testing.T) {
	t.Parallel()

	const token = "host-worker-canary-token"
	s := newSite(t)
	service, err := shop.New(shop.Config{Token: token, CarrierFailures: 2})
	require.NoError(t, err)
	upstream := httptest.NewServer(service)
	t.Cleanup(upstream.Close)
	address := strings.TrimPrefix(upstream.URL, "http://")
	s.publishQuoteShipping(address)
	t.Cleanup(s.host(worker.Config{
		SecretsDir: secretsFor(t, token, address),
		Allow:      map[tool.TenantID]worker.Allowance{"": {Hosts: []string{address}}},
	}, dispatch.Dispatcher{Principal: s.principal}.Register))

	run, err := s.temporal.ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: "dispatch/" + s.queue, TaskQueue: s.queue},
		dispatch.Workflow, dispatch.Parcel{ID: "P-1", Country: "DE", Items: []string{"TEAPOT-BLUE"}})
	require.NoError(t, err)

	pending := s.retrying(run)
	require.Equal(t, wire.InvokeActivity(tool.HTTP), pending.GetActivityType().GetName())
	require.Equal(t, failure.TypePrefix+string(tool.Unavailable),
		pending.GetLastFailure().GetApplicationFailureInfo().GetType())
	require.Contains(t, pending.GetLastFailure().GetMessage(), "503 Service Unavailable")

	var booking dispatch.Booking
	require.NoError(t, run.Get(t.Context(), &booking))
	require.Equal(t, dispatch.Booking{ParcelID: "P-1", WeightGrams: 1270, Service: "standard", PriceCents: 590, Days: 2},
		booking)
	require.Equal(t, 3, service.Requests()["GET /shipping/quotes"])

	history := historyOf(t.Context(), t, s.temporal, run.GetID(), run.GetRunID())
	scheduled, started := invocationOf(t, history, wire.InvokeActivity(tool.HTTP))
	require.Equal(t, "quoteShipping@1.0.0 · quote", summaryOf(t, scheduled))
	require.EqualValues(t, 3, started.GetActivityTaskStartedEventAttributes().GetAttempt())
	require.Contains(t, started.GetActivityTaskStartedEventAttributes().GetLastFailure().GetMessage(), "503")
	require.NotContains(t, string(historyJSON(t, history)), token)
}

// retrying waits until an activity of the workflow waits for its next attempt.
func (s *site) retrying(run client.WorkflowRun) *workflowpb.PendingActivityInfo {
	s.t.Helper()
	var found *workflowpb.PendingActivityInfo
	require.Eventually(s.t, func() bool {
		described, err := s.temporal.DescribeWorkflowExecution(s.t.Context(), run.GetID(), run.GetRunID())
		if err != nil || len(described.GetPendingActivities()) == 0 {
			return false
		}
		found = described.GetPendingActivities()[0]
		return found.GetAttempt() > 1 && found.GetLastFailure() != nil
	}, 30*time.Second, 20*time.Millisecond)
	return found
}

// invocationOf returns when the only activity of a type was scheduled, and
// when its last attempt started.
func invocationOf(
	t *testing.T, h *historypb.History, activityType string,
) (scheduled, started *historypb.HistoryEvent) {
	t.Helper()
	for _, e := range h.GetEvents() {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == activityType {
			scheduled = e
		}
		if a := e.GetActivityTaskStartedEventAttributes(); a != nil && scheduled != nil &&
			a.GetScheduledEventId() == scheduled.GetEventId() {
			started = e
		}
	}
	require.NotNil(t, scheduled)
	require.NotNil(t, started)
	return scheduled, started
}

func summaryOf(t *testing.T, e *historypb.HistoryEvent) string {
	t.Helper()
	var summary string
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(e.GetUserMetadata().GetSummary(), &summary))
	return summary
}

// A worker that is asked to stop lets the running tool finish: its answer is
// settled, and nothing is tried again.
func TestStopLetsRunningToolFinish(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	running, release := make(chan struct{}), make(chan struct{})
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "slowly", "Takes its time.",
		func(ctx context.Context, in noteIn) (noteOut, error) {
			close(running) // It would panic at a second attempt.
			select {
			case <-release:
				return noteOut(in), nil
			case <-ctx.Done():
				return noteOut{}, ctx.Err()
			}
		}))
	described, ok := functions.Tool("slowly")
	require.True(t, ok)
	s.publish("slowly", described.Definition, described.Policy)
	register := func(r sdkworker.Registry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context) (string, error) {
			result, err := workflows.Execute(ctx, workflows.Node{
				ID: "slow", Tool: "slowly", Principal: s.principal, Arguments: noteIn{Name: "ada"},
			})
			if err != nil {
				return "", err
			}
			return string(result.Structured), nil
		}, workflow.RegisterOptions{Name: "slow"})
	}
	cfg := worker.Config{Functions: functions, StopTimeout: 20 * time.Second}
	stop := s.host(cfg, register)
	run, err := s.temporal.ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: "slow/" + s.queue, TaskQueue: s.queue}, "slow")
	require.NoError(t, err)
	<-running

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	select {
	case <-stopped:
		t.Fatal("the worker stopped while a tool ran")
	case <-time.After(300 * time.Millisecond): // It would have been stopped long since.
	}
	close(release)
	<-stopped
	calls, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Tool: "slowly"})
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Equal(t, tool.StatusCompleted, calls[0].Status, "settled before the worker was gone")
	require.Equal(t, 1, calls[0].Attempt)

	t.Cleanup(s.host(cfg, register)) // Another worker takes the workflow on.
	var out string
	require.NoError(t, run.Get(t.Context(), &out))
	require.JSONEq(t, `{"name":"ada"}`, out)
}
