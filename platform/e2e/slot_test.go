package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
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

// A worker is killed while its call has the only slot. A call of another run that waits gets the
// slot when the next attempt of the first call has ended, or, where none follows, when the lease
// ends; never both at once.
func TestKilledSlotHolder(t *testing.T) {
	t.Parallel()

	limited := func(x tool.Execution) tool.Execution {
		x.TimeoutSeconds, x.TenantMaxConcurrency = 30, 1
		return x
	}
	for name, tt := range map[string]struct {
		x        tool.Execution
		leaseS   int // Zero for the time of the product: a minute more than the tool's timeout.
		ends     bool
		status   tool.InvocationStatus
		requests int
	}{
		"Once":       {limited(onlyOnce), 0, false, tool.StatusUnknown, 2},
		"Idempotent": {limited(inPlaceIdempotent), 0, false, tool.StatusCompleted, 3},
		"LeaseEnds":  {limited(onlyOnce), 8, true, tool.StatusUnknown, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			arrivals := c.holdFirst()
			s := newSite(t)
			s.publish("effect", httpTool(c.URL, tt.x), tool.Policy{EgressClass: tool.EgressReadOnly})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
			beside := newSiteBeside(t, s)
			startChild(t, beside.child(c, "", 0))
			holds := s.child(c, "", syscall.SIGKILL)
			holds.LeaseS = tt.leaseS
			holder := startChild(t, holds)
			run, w := s.run(a, "go")
			require.Eventually(t, func() bool { return len(arrivals()) == 1 }, time.Minute, 5*time.Millisecond)
			var lease time.Time
			conn := s.db.Conn(t)
			require.NoError(t, conn.QueryRow(t.Context(), `select lease_until from tool_slots`).Scan(&lease))
			if tt.ends { // The lease is short: the holder dies at once.
				kill(t, holder)
			}
			other, otherW := beside.run(a, "go")
			if !tt.ends {
				s.requireAttempting(otherW)
				kill(t, holder)
			}
			if !tt.ends {
				startChild(t, s.child(c, "", 0))
			}
			_, err := s.wait(otherW)
			require.NoError(t, err)
			got := arrivals()[len(arrivals())-1]
			if tt.ends {
				require.False(t, got.Before(lease), "the slot was given away during its lease")
				require.True(t, got.Before(lease.Add(time.Minute)), "the slot was not given away after its lease")
				startChild(t, s.child(c, "", 0))
			} else {
				require.True(t, got.Before(lease), "the slot was not freed before its lease ended")
			}
			_, err = s.wait(w)
			require.NoError(t, err)

			calls := s.invocations(run.ID)
			require.Len(t, calls, 1)
			require.Equal(t, tt.status, calls[0].Status, calls[0].Error)
			require.Equal(t, tool.StatusCompleted, s.invocations(other.ID)[0].Status)
			require.Len(t, arrivals(), tt.requests)
			require.Equal(t, 1, c.peak, "two calls ran at once")
			var held int
			require.NoError(t, conn.QueryRow(t.Context(), `select count(*) from tool_slots where holder is not null`).Scan(&held))
			require.Zero(t, held)
		})
	}
}

// holdFirst lets the upstream answer all requests but the first, which ends with its client. It
// returns when requests arrived.
func (c *canary) holdFirst() (arrivals func() []time.Time) {
	var mu sync.Mutex
	var all []time.Time
	c.answer = func(n int, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		all = append(all, time.Now())
		mu.Unlock()
		if n == 1 {
			<-r.Context().Done()
			return
		}
		time.Sleep(50 * time.Millisecond)
		_, _ = io.WriteString(w, `{"ok":true}`)
	}
	return func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return append([]time.Time(nil), all...)
	}
}

// requireAttempting waits until an attempt of the workflow's call runs.
func (s *site) requireAttempting(w client.WorkflowRun) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		described, err := s.temporal.DescribeWorkflowExecution(s.t.Context(), w.GetID(), w.GetRunID())
		if err != nil {
			return false
		}
		for _, a := range described.GetPendingActivities() {
			if a.GetActivityType().GetName() == wire.InvokeActivity(tool.HTTP) &&
				a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED {
				return true
			}
		}
		return false
	}, time.Minute, 20*time.Millisecond)
}
