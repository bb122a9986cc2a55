package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// busy is a function that keeps the most calls of it that ran at once.
type busy struct{ now, most, all atomic.Int64 }

func (b *busy) registry(t *testing.T, options ...function.Option) *function.Registry {
	t.Helper()
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "read", "Reads.", func(_ context.Context, in noteIn) (noteOut, error) {
		n := b.now.Add(1)
		defer b.now.Add(-1)
		for {
			most := b.most.Load()
			if n <= most || b.most.CompareAndSwap(most, n) {
				break
			}
		}
		b.all.Add(1)
		time.Sleep(30 * time.Millisecond)
		return noteOut(in), nil
	}, options...))
	return functions
}

// Two workers run the calls of several runs of a tenant, of any kind, but never more at once
// than the tool's limit.
func TestTenantMaxConcurrency(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		execution tool.Execution
		options   []function.Option
	}{
		"pure": {tool.Execution{Pure: true, MaxConcurrency: 8, TenantMaxConcurrency: 2}, []function.Option{function.Pure()}},
		"idempotent": {
			tool.Execution{Idempotent: true, TenantMaxConcurrency: 2, ConcurrencyGroup: "mail"},
			[]function.Option{function.Idempotent()},
		},
		"once": {tool.Execution{TenantMaxConcurrency: 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			d := functionTool("read", c.execution)
			d.InputSchema = json.RawMessage(`{"type":"object"}`)
			s.publish("read", d, tool.Policy{})
			a := s.publishAgent(agent.Definition{
				Name: "Desk", Model: "test/x", Tools: refs(t, "read"), ToolMode: agent.ParallelSafe,
			})
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				if req.Turn > 1 {
					return &agent.ModelResponse{Text: "done"}, nil
				}
				resp := &agent.ModelResponse{}
				for i := range 4 {
					resp.Calls = append(resp.Calls, agent.Call{
						ID: fmt.Sprintf("call_%d", i), Name: "read", Arguments: json.RawMessage(`{"name":"x"}`),
					})
				}
				return resp, nil
			})
			b := &busy{}
			for range 2 {
				s.start(worker.Config{Functions: b.registry(t, c.options...), Models: map[string]agent.Model{"test": model}})
			}
			started := make([]client.WorkflowRun, 4)
			runs := make([]agent.Run, len(started))
			for i := range started {
				runs[i], started[i] = s.run(a, "go")
			}
			for i, w := range started {
				_, err := s.wait(w)
				require.NoError(t, err)
				for _, call := range s.invocations(runs[i].ID) {
					require.Equal(t, tool.StatusCompleted, call.Status, call.Error)
				}
			}
			require.EqualValues(t, 16, b.all.Load())
			require.LessOrEqual(t, b.most.Load(), int64(2))
			require.Positive(t, b.most.Load())
		})
	}
}
