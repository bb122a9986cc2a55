package e2e_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// trips lists the round trips of a store for runs, by the names of their last statements: those of activities, and
// the admissions of calls. What a process does in the background does not depend on its runs.
type trips struct {
	mu    sync.Mutex
	names []string
}

var (
	_ pgx.QueryTracer = (*trips)(nil)
	_ pgx.BatchTracer = (*trips)(nil)

	statementName = regexp.MustCompile(`^-- name: (\w+)`)
)

func (*trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	last := d.Batch.QueuedQueries[d.Batch.Len()-1].SQL
	name := statementName.FindStringSubmatch(last)[1]
	if !activity.IsActivity(ctx) && name != "AdmitCall" {
		return ctx
	}
	return context.WithValue(ctx, (*trips)(nil), name)
}

func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (t *trips) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) {
	if name, ok := ctx.Value((*trips)(nil)).(string); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.names = append(t.names, name)
	}
}

// take returns the round trips since the last take.
func (t *trips) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.names
	t.names = nil
	return out
}

// A turn in place costs at most two round trips with one pure call, and three with any
// other.
func TestRoundTripsOfATurn(t *testing.T) {
	t.Parallel()

	two, three := []string{"RecordSteps", "RecordSteps"}, []string{"RecordSteps", "MarkSent", "RecordSteps"}
	for name, tt := range map[string]struct {
		options []function.Option
		x       tool.Execution
		want    []string
	}{
		"Pure":       {[]function.Option{function.Pure()}, tool.Execution{Pure: true}, two},
		"Idempotent": {[]function.Option{function.Idempotent()}, tool.Execution{Idempotent: true}, three},
		"Once":       {nil, tool.Execution{}, three},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			const turns = 6
			var seen trips
			s := newSite(t)
			counted, err := store.Open(t.Context(), s.db.URL, store.Options{SetRole: store.AppRole, Tracer: &seen})
			require.NoError(t, err)
			t.Cleanup(counted.Close)
			functions := function.NewRegistry()
			greet := func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil }
			require.NoError(t, function.Define(functions, "greet", "greet", greet, tt.options...))
			s.publish("greet", functionTool("greet", tt.x), tool.Policy{EgressClass: tool.EgressReadOnly})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "greet")})
			var asked [][]string
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				asked = append(asked, seen.take())
				if req.Turn > turns {
					return &agent.ModelResponse{Text: "done"}, nil
				}
				return &agent.ModelResponse{Calls: []agent.Call{call(strconv.Itoa(req.Turn), "greet", noteIn{"x"})}}, nil
			})
			using := *s
			using.Store = counted
			using.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}})
			run, w := s.run(a, "go")
			_, err = s.wait(w)
			require.NoError(t, err)
			require.Len(t, s.invocations(run.ID), turns)
			t.Log("before the first question:", asked[0], "after the last:", seen.take())
			for turn, made := range asked[1:] {
				require.Equal(t, tt.want, made, "turn %d", turn+1)
			}
		})
	}
}

// A composition that is called alone is one activity, in which the end of a step and the
// beginning of the next are one round trip.
func TestRoundTripsOfAComposition(t *testing.T) {
	t.Parallel()

	var seen trips
	s := newSite(t)
	counted, err := store.Open(t.Context(), s.db.URL, store.Options{SetRole: store.AppRole, Tracer: &seen})
	require.NoError(t, err)
	t.Cleanup(counted.Close)
	functions := greeter(t, s)
	s.publish("greetTwice", composition(inOrder, tool.Execution{}), tool.Policy{})
	using := *s
	using.Store = counted
	using.start(worker.Config{Functions: functions})
	for range 2 { // What the first call reads once stays in memory.
		seen.take()
		_, _, result, err := s.toolCall("greetTwice", `{"name":"Ada"}`)
		require.NoError(t, err)
		require.False(t, result.IsError, result.Content)
	}
	made := seen.take()
	t.Log(made)
	from, to := slices.Index(made, "AdmitCall"), slices.Index(made, "FinishRun")
	require.Equal(t, []string{"AdmitCall", "RecordSteps", "RecordSteps", "RecordSteps"}, made[from:to])
}

// A sequence of pure nodes costs a round trip for each, and one more.
func TestRoundTripsOfASequence(t *testing.T) {
	t.Parallel()

	var seen trips
	s := newSite(t)
	counted, err := store.Open(t.Context(), s.db.URL, store.Options{SetRole: store.AppRole, Tracer: &seen})
	require.NoError(t, err)
	t.Cleanup(counted.Close)
	functions := greeter(t, s)
	using := *s
	using.Store = counted
	t.Cleanup(using.host(worker.Config{Functions: functions}, registerHosts))
	run := s.startSeveral(false, `{"name":"Ada"}`, "greet", "greet", "greet", "greet")
	require.NoError(t, run.Get(t.Context(), nil))
	made := seen.take()
	t.Log(made)
	first := slices.Index(made, "RecordSteps")
	require.Equal(t, []string{"RecordSteps", "RecordSteps", "RecordSteps", "RecordSteps", "RecordSteps"}, made[first:])
}
