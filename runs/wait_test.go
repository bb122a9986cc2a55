package runs_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// wakes wakes its subscribers when the test says so.
type wakes struct {
	mu       sync.Mutex
	changed  chan struct{}
	followed int
}

func (w *wakes) Subscribe(context.Context, tool.TenantID, string) (news func() <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followed++
	return func() <-chan struct{} {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.changed
		}, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.followed--
		}
}

func (w *wakes) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// finish records the end of a call's run, as execution reports it.
func (b *bench) finish(call runs.Call, end agent.CallEnd, execution string) {
	b.store.change(call.RunID, func(r *agent.Run) {
		r.Status, r.ErrorKind, r.Error, r.EndedBy = end.Status, end.Kind, end.Msg, execution
	})
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.ends[call.RunID] = end
}

var answered = agent.CallEnd{
	Status: agent.RunCompleted, CallStatus: tool.StatusCompleted, Result: &tool.Result{IsError: true},
}

// Temporal is not asked about a call whose end is recorded, and a wake-up ends the wait
// at once.
func TestWaitIsWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := setup(t), &wakes{changed: make(chan struct{})}
		call, err := b.Call(t.Context(), b.call(""))
		require.NoError(t, err)
		b.temporal.silent = true
		began := time.Now()
		time.AfterFunc(10*time.Second+time.Millisecond, func() {
			b.finish(call, answered, "execution")
			w.wake()
		})
		result, ended, err := b.Wait(t.Context(), call, time.Hour, w)
		require.NoError(t, err)
		require.True(t, ended)
		require.True(t, result.IsError)
		require.LessOrEqual(t, time.Since(began), 10*time.Second+150*time.Millisecond)
		require.Zero(t, w.followed)
		require.Less(t, b.store.reads, 30, "the polls slow down")
	})
}

// A change between the subscription and the first read, or after it, is not missed.
func TestWaitMissesNoWakeUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := setup(t), &wakes{changed: make(chan struct{})}
		call, err := b.Call(t.Context(), b.call(""))
		require.NoError(t, err)
		b.store.afterRead = func() {
			b.finish(call, answered, "execution")
			w.wake()
		}
		began := time.Now()
		_, ended, err := b.Wait(t.Context(), call, time.Hour, w)
		require.NoError(t, err)
		require.True(t, ended)
		require.Zero(t, time.Since(began))
	})
}

// Without wake-ups the record is polled.
func TestWaitPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		call, err := b.Call(t.Context(), b.call(""))
		require.NoError(t, err)
		b.temporal.down = serviceerror.NewUnavailable("down")
		for _, timeout := range []time.Duration{0, time.Millisecond, 10 * time.Second} {
			began := time.Now()
			_, ended, err := b.Wait(t.Context(), call, timeout, nil)
			require.NoError(t, err)
			require.False(t, ended)
			require.Equal(t, timeout, time.Since(began))
		}
		began := time.Now()
		time.AfterFunc(time.Second, func() { b.finish(call, answered, "execution") })
		_, ended, err := b.Wait(t.Context(), call, time.Hour, nil)
		require.NoError(t, err)
		require.True(t, ended)
		require.Less(t, time.Since(began), 2*time.Second)
	})
}

// What the record says about an end is what the caller gets; where it does not say
// enough, Temporal is asked.
func TestWaitOutcomes(t *testing.T) {
	t.Parallel()
	broken := &tool.Error{Kind: tool.Invalid, Msg: "of Temporal", Path: "/arguments"}
	failed := agent.CallEnd{
		Status: agent.RunFailed, Kind: tool.Timeout, Msg: "late",
		CallStatus: tool.StatusFailed, CallKind: tool.Timeout, CallMsg: "late", Acted: true,
	}
	other := failed
	other.CallMsg = "of another call"
	for name, test := range map[string]struct {
		end       agent.CallEnd
		execution string
		failure   error // Of the workflow.
		kind      tool.Kind
		text      string
		acted     bool
	}{
		"failed":    {end: failed, execution: "execution", kind: tool.Timeout, text: "late", acted: true},
		"cancelled": {end: agent.CallEnd{Status: agent.RunCancelled}, kind: tool.Cancelled, text: "the call was cancelled"},
		"failed without a call": {
			end: agent.CallEnd{Status: agent.RunFailed, Kind: tool.Invalid, Msg: "no plan"}, execution: "execution",
			failure: broken, kind: tool.Invalid, text: "of Temporal",
		},
		"failed after its call": {
			end: other, execution: "execution", failure: broken, kind: tool.Invalid, text: "of Temporal",
		},
		"closed by the reconciler": {
			end: agent.CallEnd{Status: agent.RunCancelled}, execution: agent.EndedByReconciler,
			failure: broken, kind: tool.Invalid, text: "of Temporal",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				call, err := b.Call(t.Context(), b.call("order-1"))
				require.NoError(t, err)
				b.finish(call, test.end, test.execution)
				if test.failure == nil {
					b.temporal.silent = true
				} else {
					time.AfterFunc(100*time.Millisecond, func() {
						b.temporal.end(wire.CallWorkflowID(b.principal.Tenant, "order-1"), nil, test.failure)
					})
				}
				began := time.Now()
				_, ended, err := b.Wait(t.Context(), call, time.Hour, nil)
				require.True(t, ended)
				requireKind(t, err, test.kind, test.text)
				require.Equal(t, test.acted, tool.AsError(err).Acted)
				require.Less(t, time.Since(began), 300*time.Millisecond)
			})
		})
	}
}

// A workflow that ended without recording its end, and a record whose retention is over,
// are found in Temporal; what neither knows goes on.
func TestWaitAsksTemporal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		call, err := b.Call(t.Context(), b.call("order-1"))
		require.NoError(t, err)
		id := wire.CallWorkflowID(b.principal.Tenant, "order-1")
		b.temporal.end(id, &tool.Result{IsError: true}, nil)
		began := time.Now()
		result, ended, err := b.Wait(t.Context(), call, time.Hour, nil)
		require.NoError(t, err)
		require.True(t, ended)
		require.True(t, result.IsError)
		require.InDelta(t, 3*time.Second, time.Since(began), float64(time.Second))

		b.store.change(call.RunID, func(r *agent.Run) { r.ID = "purged" })
		began = time.Now()
		_, ended, err = b.Wait(t.Context(), call, time.Hour, nil)
		require.NoError(t, err)
		require.True(t, ended)
		require.Less(t, time.Since(began), time.Second)

		b.temporal.forget(id)
		_, ended, err = b.Wait(t.Context(), call, time.Hour, nil)
		require.NoError(t, err)
		require.False(t, ended)
	})
}

// The recorded end of a workflow that was reset is not the end of the execution that is
// open now.
func TestWaitForAReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		first, err := b.Call(t.Context(), b.call("order-1"))
		require.NoError(t, err)
		b.finish(first, answered, "before the reset")
		call, err := b.Call(t.Context(), b.call("order-1"))
		require.NoError(t, err)
		require.Equal(t, first.RunID, call.RunID)
		_, ended, err := b.Wait(t.Context(), call, time.Minute, nil)
		require.NoError(t, err)
		require.False(t, ended)
		time.AfterFunc(time.Second, func() { b.finish(call, answered, "execution") })
		_, ended, err = b.Wait(t.Context(), call, time.Minute, nil)
		require.NoError(t, err)
		require.True(t, ended)
	})
}
