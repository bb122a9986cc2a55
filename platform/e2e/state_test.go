package e2e_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// What one tool of a run sets, another one gets, in either lane. A call that is tried again
// makes its changes once, and an attempt that was overtaken makes none.
func TestToolsShareTheStateOfTheirRun(t *testing.T) {
	t.Parallel()

	for _, lane := range []tool.Lane{tool.LaneVisible, tool.LaneAuto} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			var attempts atomic.Int64
			var first atomic.Pointer[tool.RunState]
			functions := function.NewRegistry()
			count := func(ctx context.Context, _ struct{}) (int, error) {
				state := tool.State(ctx)
				now, err := state.Get(ctx, "count")
				if err != nil {
					return 0, err
				}
				n := 10
				if _, err := now.Decode(&n); err != nil {
					return 0, err
				}
				if _, err := state.CompareAndSet(ctx, "count", now.Revision, n+1); err != nil {
					return 0, err
				}
				if attempts.Add(1) == 1 {
					first.Store(state)
					return 0, &tool.Error{Kind: tool.Unavailable, Msg: "try again", Sent: true}
				}
				_, err = first.Load().Set(ctx, "count", 99)
				if tool.KindOf(err) != tool.Conflict {
					return 0, errors.New("an attempt that was overtaken changed the state")
				}
				return n + 1, nil
			}
			require.NoError(t, function.Define(functions, "count", "Counts.", count, function.Idempotent()))
			require.NoError(t, function.Define(functions, "recall", "Recalls.",
				func(ctx context.Context, _ struct{}) (int, error) {
					if _, err := tool.State(ctx).Set(ctx, "count", 1); tool.KindOf(err) != tool.Denied {
						return 0, errors.New("a pure tool changed the state")
					}
					now, err := tool.State(ctx).Get(ctx, "count")
					if err != nil {
						return 0, err
					}
					n := 0
					_, err = now.Decode(&n)
					return n, err
				}, function.Pure()))
			counts := tool.Execution{Idempotent: true, Lane: lane, TimeoutSeconds: 10}
			s.publish("count", functionTool("count", counts), tool.Policy{})
			s.publish("recall", functionTool("recall", tool.Execution{Pure: true, Lane: lane}), tool.Policy{})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "count", "recall")})
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				if req.Turn <= 2 {
					name := []string{"count", "recall"}[req.Turn-1]
					return &agent.ModelResponse{Calls: []agent.Call{{ID: name, Name: name, Arguments: []byte("{}")}}}, nil
				}
				last := req.Messages[len(req.Messages)-1]
				return &agent.ModelResponse{Text: string(last.Content[0].JSON) + last.Content[0].Text}, nil
			})
			s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			ended, err := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, err)
			require.Equal(t, "11", ended.Output)
			require.Equal(t, int64(2), attempts.Load())

			run, w = s.run(a, "go") // Another run has a state of its own.
			_, err = s.wait(w)
			require.NoError(t, err)
			ended, err = s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, err)
			require.Equal(t, "11", ended.Output)
		})
	}
}
