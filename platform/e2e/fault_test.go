package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolcrib/toolcrib/activities"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows"
)

// faulty is a ledger whose first settlement goes wrong.
type faulty struct {
	ledger.Ledger
	settlements atomic.Int32
	first       func() error // What happens to it.
}

func (f *faulty) Settle(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	if f.settlements.Add(1) == 1 {
		if err := f.first(); err != nil {
			return ledger.Outcome{}, err
		}
	}
	return f.Ledger.Settle(ctx, s)
}

// startWith runs a worker with parts of the test's own.
func (s *site) startWith(l ledger.Ledger, e tool.Executor, m agent.Model, dialing ...grpc.DialOption) {
	s.t.Helper()
	journal, _ := l.(loop.Journal)
	acts, err := activities.New(activities.Config{
		Journal: journal, Ledger: l, Graphs: s.Store, Runs: s.Store, Agents: s.Store, Policies: s.Store,
		Resolver: resolver.New(s.Store, resolver.Options{}), Schemas: schema.New(0),
		Types: worker.Types(worker.Known{}).All(), Executor: e, Models: map[string]agent.Model{"test": m},
	})
	require.NoError(s.t, err)
	c, err := client.Dial(client.Options{
		HostPort: server.Address(), Namespace: embedded.DefaultNamespace, Logger: quietTemporal(),
		ConnectionOptions: client.ConnectionOptions{DialOptions: dialing},
	})
	require.NoError(s.t, err)
	w := sdkworker.New(c, s.queue, sdkworker.Options{
		DisableRegistrationAliasing: true, WorkerStopTimeout: time.Second, MaxHeartbeatThrottleInterval: time.Second,
	})
	workflows.Register(w)
	acts.Register(w)
	require.NoError(s.t, w.Start())
	s.t.Cleanup(func() {
		w.Stop()
		c.Close()
	})
}

func yes(context.Context, *tool.Call) (*tool.Result, error) {
	return tool.JSONResult(json.RawMessage(`{"ok":true}`)), nil
}

// An answer is not lost to a database that is away for a moment, slow, or locked by
// another session for longer than heartbeats may stay away, when the call is settled.
func TestSettlementIsPatient(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]func(s *site) error{
		"Away": func(*site) error {
			return &tool.Error{Kind: tool.Unavailable, Op: "e2e", Msg: "the database is not answering"}
		},
		"Slow":   func(*site) error { time.Sleep(4 * time.Second); return nil },
		"Locked": func(s *site) error { return s.lock("effects", 12*time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			s.publish("effect", functionTool("effect", onlyOnce), tool.Policy{})
			s.startWith(&faulty{Ledger: s.Store, first: func() error { return first(s) }}, tool.ExecutorFunc(yes), nil)
			_, id, _, err := s.toolCall("effect", `{}`)
			require.NoError(t, err)
			require.Equal(t, tool.StatusCompleted, s.invocations(id)[0].Status)
		})
	}
}

// lock keeps a table to another session for a time.
func (s *site) lock(table string, d time.Duration) error {
	ctx := context.WithoutCancel(s.t.Context())
	conn, err := pgx.Connect(ctx, s.db.URL)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	if _, err := conn.Exec(ctx, "begin; lock table "+table+" in access exclusive mode"); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	time.AfterFunc(d, func() { _ = conn.Close(ctx) }) // Which ends the transaction.
	return nil
}

// Heartbeats that do not get through cancel nothing: what may be repeated is,
// and what must not ends unknown.
func TestLostHeartbeatsCancelNothing(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		x    tool.Execution
		want tool.InvocationStatus
	}{
		"Pure": {tool.Execution{Pure: true, TimeoutSeconds: 60}, tool.StatusCompleted},
		"Once": {tool.Execution{TimeoutSeconds: 60}, tool.StatusUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var down atomic.Bool
			var sent atomic.Int32
			lossy := grpc.WithChainUnaryInterceptor(func(
				ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
				o ...grpc.CallOption,
			) error {
				if down.Load() && strings.HasSuffix(method, "/RecordActivityTaskHeartbeat") {
					return status.Error(codes.Unavailable, "partition")
				}
				return invoke(ctx, method, req, reply, cc, o...)
			})
			s := newSite(t)
			s.publish("effect", functionTool("effect", tt.x), tool.Policy{})
			s.startWith(s.Store, tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				if sent.Add(1) > 1 {
					return yes(ctx, call)
				}
				down.Store(true)
				<-ctx.Done()
				down.Store(false)
				return nil, &tool.Error{Kind: tool.Timeout, Sent: true, Msg: "late", Err: ctx.Err()}
			}), nil, lossy)
			_, id, _, _ := s.toolCall("effect", `{}`)
			require.Equal(t, tt.want, s.invocations(id)[0].Status)
		})
	}
}

// A limit that keeps calls from running still ends each of them, in the ledger
// and in the transcript.
func TestLimitEndsEveryCall(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.publish("effect", functionTool("effect", purely), tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "effect"), Limits: agent.Limits{MaxCalls: 1},
	})
	s.startWith(
		s.Store, tool.ExecutorFunc(yes), play([]agent.Call{call("a", "effect", noteIn{}), call("b", "effect", noteIn{})}),
	)
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)))
	calls := s.invocations(run.ID)
	require.Len(t, calls, 2)
	for _, c := range calls {
		require.Equal(t, tool.StatusFailed, c.Status)
		require.Contains(t, c.Error, "limit")
	}
	messages, err := s.Transcript(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Len(t, messages, 4, "user, assistant, and an answer to each call")
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "agentrun_inline_limit")
}

// A call of a tool that may not be used is on record, with the reason its
// caller gets.
func TestRefusedToolIsOnRecord(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	published := s.publish("effect", functionTool("effect", onlyOnce), tool.Policy{})
	published.Status = tool.Disabled
	_, err := s.UpdateTool(t.Context(), published)
	require.NoError(t, err)
	s.startWith(s.Store, tool.ExecutorFunc(yes), nil)
	w, id, _, err := s.toolCall("effect", `{}`)
	require.Equal(t, tool.Conflict, tool.KindOf(failure.Decode(err)), "%v", err)
	calls := s.invocations(id)
	require.Len(t, calls, 1)
	require.Equal(t, tool.Conflict, calls[0].ErrorKind)
	ended, err := s.FindRun(t.Context(), s.principal.Tenant, id)
	require.NoError(t, err)
	require.Equal(t, agent.RunFailed, ended.Status)
	require.Contains(t, ended.Error, "disabled")
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "toolcall_refused")
}

// An answer that fits the tool's limit but not Temporal's goes by reference.
func TestLargeAnswerGoesByReference(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	c.answer = func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"html":"%s"}`, strings.Repeat("<p>hello</p>", 60_000))
	}
	s := newSite(t)
	s.publish("effect", httpTool(c.URL, tool.Execution{Pure: true}), tool.Policy{EgressClass: tool.EgressReadOnly})
	s.start(worker.Config{Allow: allow(c)})
	_, id, result, err := s.toolCall("effect", `{}`)
	require.NoError(t, err)
	stored := s.invocations(id)[0]
	require.Equal(t, tool.StatusCompleted, stored.Status)
	require.Equal(t, "toolcrib://invocations/"+stored.InvocationID, result.Content[1].URI)
	full, err := s.FindInvocation(t.Context(), s.principal.Tenant, stored.InvocationID)
	require.NoError(t, err)
	require.Greater(t, len(full.Output.Structured), 700_000)
	requests, _ := c.count()
	require.Equal(t, 1, requests)
}

// A single call that is reset keeps the version it was pinned to, and so its
// effect, whatever was published since.
func TestResetCallKeepsItsVersion(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	published := s.publish("effect", httpTool(c.URL, onlyOnce), tool.Policy{EgressClass: tool.EgressReadOnly})
	s.start(worker.Config{Allow: allow(c)})
	w, id, _, err := s.toolCall("effect", `{}`)
	require.NoError(t, err)
	published.Description = "Has an effect, as before."
	s.release(published, "1.0.1")
	require.NoError(t, s.reset(w).Get(t.Context(), nil))
	requests, _ := c.count()
	require.Equal(t, 1, requests)
	require.Len(t, s.invocations(id), 1)
}

// What a model panics with stays out of histories.
func TestModelPanicLeaksNothing(t *testing.T) {
	t.Parallel()

	const planted = "tc-planted-panic-77aa"
	s := newSite(t)
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Limits: agent.Limits{TimeoutSeconds: 5}})
	s.startWith(s.Store, tool.ExecutorFunc(yes), agent.ModelFunc(func(
		context.Context, *agent.ModelRequest,
	) (*agent.ModelResponse, error) {
		panic(planted)
	}))
	_, w := s.run(a, "go")
	_, err := s.wait(w)
	require.Error(t, err)
	require.NotContains(t, string(historyJSON(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()))), planted)
}

// reset takes a workflow back to its first task.
func (s *site) reset(w client.WorkflowRun) client.WorkflowRun {
	s.t.Helper()
	reset, err := s.temporal.ResetWorkflowExecution(s.t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         embedded.DefaultNamespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: w.GetID(), RunId: w.GetRunID()},
		RequestId:         newID(s.t), Reason: "test",
		WorkflowTaskFinishEventId: s.firstTask(w.GetID(), w.GetRunID()),
	})
	require.NoError(s.t, err)
	return s.temporal.GetWorkflow(s.t.Context(), w.GetID(), reset.GetRunId())
}

// A run that ended and is reset ends again, as its later execution did.
func TestResetRunEndsAgain(t *testing.T) {
	t.Parallel()

	var asked atomic.Int32
	s := newSite(t)
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x"})
	s.startWith(s.Store, tool.ExecutorFunc(yes), agent.ModelFunc(func(
		context.Context, *agent.ModelRequest,
	) (*agent.ModelResponse, error) {
		if asked.Add(1) == 1 {
			return nil, &tool.Error{Kind: tool.Invalid, Msg: "bad key"}
		}
		return &agent.ModelResponse{Text: "all good"}, nil
	}))
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.Error(t, err)
	_, err = s.wait(s.reset(w))
	require.NoError(t, err)
	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, ended.Status)
	require.Equal(t, "all good", ended.Output)
	require.Empty(t, ended.Error)
}
