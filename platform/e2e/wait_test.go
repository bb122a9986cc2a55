package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// stalled is a client whose long polls for the end of a workflow are never answered.
type stalled struct{ client.Client }

func (s stalled) GetWorkflow(ctx context.Context, id, run string) client.WorkflowRun {
	return stalledRun{s.Client.GetWorkflow(ctx, id, run)}
}

type stalledRun struct{ client.WorkflowRun }

func (stalledRun) Get(ctx context.Context, _ any) error {
	<-ctx.Done()
	return ctx.Err()
}

// service returns the use cases on runs of the site's queue.
func (s *site) service(temporal client.Client) *runs.Service {
	s.t.Helper()
	reconciler, err := reconcile.New(reconcile.Config{Store: s.Store, Temporal: s.temporal})
	require.NoError(s.t, err)
	service, err := runs.New(runs.Config{
		Files: s.files(),
		Store: s.Store, Resolver: resolver.New(s.Store, resolver.Options{}), Reconciler: reconciler, Temporal: temporal,
		TaskQueue: s.queue, DataConverter: s.converter(),
	})
	require.NoError(s.t, err)
	return service
}

// What a caller who waits gets by the record is what the call's workflow returned, and
// it comes without Temporal's long poll.
//
//nolint:paralleltest,tparallel // The cases share workers.
func TestWaitAnswersLikeTheWorkflow(t *testing.T) {
	t.Parallel()

	functions := function.NewRegistry()
	define := func(name string, fn func(ctx context.Context, in noteIn) (noteOut, error)) {
		require.NoError(t, function.Define(functions, name, name, fn))
	}
	define("answers", func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil })
	define("large", func(context.Context, noteIn) (noteOut, error) {
		return noteOut{strings.Repeat("<ö>", 300_000)}, nil
	})
	define("saysNo", func(context.Context, noteIn) (noteOut, error) { return noteOut{}, errors.New("no such note") })
	define("breaks", func(context.Context, noteIn) (noteOut, error) {
		return noteOut{}, &tool.Error{Kind: tool.Unavailable, Msg: "the notes are closed", Sent: true, Answered: true}
	})
	define("denies", func(context.Context, noteIn) (noteOut, error) {
		return noteOut{}, &tool.Error{Kind: tool.Denied, Msg: "not yours"}
	})
	define("blocks", func(ctx context.Context, _ noteIn) (noteOut, error) {
		<-ctx.Done()
		return noteOut{}, ctx.Err()
	})
	c := newCanary(t)
	c.answer = func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	s := newSite(t)
	for _, name := range []string{"answers", "large", "saysNo", "breaks", "denies", "blocks"} {
		d := functionTool(name, tool.Execution{})
		d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
		s.publish(name, d, tool.Policy{})
	}
	pure := functionTool("answers", tool.Execution{Pure: true})
	pure.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	s.publish("pure", pure, tool.Policy{})
	s.publish("away", httpTool(c.URL, tool.Execution{Pure: true, MaxAttempts: 1}), tool.Policy{
		EgressClass: tool.EgressReadOnly,
	})
	s.publish("twice", composition(`{"steps":[
		{"id":"a","tool":"pure","arguments":{"name":{"$from":"/input/name"}}},
		{"id":"b","tool":"pure","arguments":{"name":{"$from":"/input/name"}}}]}`, tool.Execution{}), tool.Policy{})
	s.start(worker.Config{Functions: functions, Allow: allow(c)})
	service := s.service(stalled{s.temporal})

	for _, tt := range []struct {
		name, tool, args string
		cancel           bool
	}{
		{"Answered", "answers", `{"name":"x"}`, false},
		{"Pure", "pure", `{"name":"x"}`, false},
		{"Large", "large", `{"name":"x"}`, false},
		{"SaidNo", "saysNo", `{"name":"x"}`, false},
		{"BadArguments", "answers", `{}`, false},
		{"FailedUpstream", "breaks", `{"name":"x"}`, false},
		{"Away", "away", `{}`, false},
		{"Denied", "denies", `{"name":"x"}`, false},
		{"Composition", "twice", `{"name":"x"}`, false},
		{"Cancelled", "blocks", `{"name":"x"}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call, err := service.Call(t.Context(), runs.NewCall{
				Principal: s.principal, Node: wire.Node{Tool: refs(t, tt.tool)[0], Arguments: json.RawMessage(tt.args)},
			})
			require.NoError(t, err)
			run, err := s.FindRun(t.Context(), s.principal.Tenant, call.RunID)
			require.NoError(t, err)
			if tt.cancel {
				require.Eventually(t, func() bool { return len(s.invocations(run.ID)) > 0 }, time.Minute, time.Millisecond)
				_, err := service.Cancel(t.Context(), s.principal.Tenant, run.ID)
				require.NoError(t, err)
			}
			result, ended, got := service.Wait(t.Context(), call, time.Minute, nil)
			require.True(t, ended)

			var want *tool.Result
			err = s.temporal.GetWorkflow(t.Context(), run.WorkflowID, "").Get(t.Context(), &want)
			if err == nil {
				require.NoError(t, got)
				a, err := json.Marshal(want)
				require.NoError(t, err)
				b, err := json.Marshal(result)
				require.NoError(t, err)
				require.JSONEq(t, string(a), string(b))
				return
			}
			e, of := tool.AsError(failure.Decode(err)), tool.AsError(got)
			require.Equal(t, []any{e.Kind, e.Msg, e.Path, e.Acted, e.RetryAfter},
				[]any{of.Kind, of.Msg, of.Path, of.Acted, of.RetryAfter})
		})
	}
}

// A workflow that was terminated has recorded nothing: Temporal tells.
func TestWaitForATerminatedCall(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.start(worker.Config{Functions: greeter(t, s)})
	service := s.service(s.temporal)
	call, err := service.Call(t.Context(), runs.NewCall{
		Principal: s.principal, Node: wire.Node{Tool: refs(t, "wait")[0], Arguments: json.RawMessage(`{"name":"x"}`)},
	})
	require.NoError(t, err)
	id := call.WorkflowID
	require.NoError(t, s.temporal.TerminateWorkflow(t.Context(), id, "", "test"))
	_, ended, got := service.Wait(t.Context(), call, time.Minute, nil)
	require.True(t, ended)
	want := failure.Decode(s.temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil))
	require.EqualError(t, got, want.Error())
}

// requireNothingLeft checks that nothing of the site is open, waits, or has to be told yet.
func (s *site) requireNothingLeft(service *runs.Service) {
	s.t.Helper()
	for name, query := range map[string]string{
		"runs":                 `select count(*) from runs where completed_at is null`,
		"invocations":          `select count(*) from tool_invocations where completed_at is null`,
		"requests":             `select count(*) from approvals where status = 'pending'`,
		"calls":                `select count(*) from pending_tool_calls where status in ('waiting', 'pending')`,
		"decisions to be told": `select count(*) from approvals where deliver_at is not null`,
		"results to be told":   `select count(*) from pending_tool_calls where deliver_at is not null`,
	} {
		conn := s.db.Conn(s.t)
		require.Eventually(s.t, func() bool {
			if _, err := service.Deliver(s.t.Context(), runs.DeliverLimit); err != nil {
				require.Equal(s.t, tool.Unavailable, tool.KindOf(err), "delivering: %v", err)
			}
			var n int
			require.NoError(s.t, conn.QueryRow(s.t.Context(), query).Scan(&n))
			return n == 0
		}, 60*time.Second, 100*time.Millisecond, "%s are left", name)
	}
}
