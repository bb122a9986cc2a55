package e2e_test

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// forgetful is a store whose answers to the first records are lost.
type forgetful struct {
	*store.Store
	left atomic.Int32
}

func (f *forgetful) Record(ctx context.Context, r loop.Record) (loop.Recorded, error) {
	done, err := f.Store.Record(ctx, r)
	if err == nil && f.left.Add(-1) >= 0 {
		return loop.Recorded{}, &tool.Error{Kind: tool.Unavailable, Op: "e2e", Msg: "the answer was lost"}
	}
	return done, err
}

// An admission whose answer is lost is no attempt at the call.
func TestLostRecordIsNoAttempt(t *testing.T) {
	t.Parallel()

	once := tool.Execution{Pure: true, TimeoutSeconds: 5, MaxAttempts: 1}
	s := newSite(t)
	s.publish("one", functionTool("one", once), tool.Policy{})
	s.publish("both", composition(`{"steps":[{"id":"a","tool":"one"},{"id":"b","tool":"one"}]}`, tool.Execution{}),
		tool.Policy{})
	f := &forgetful{Store: s.Store}
	f.left.Store(100)
	s.startWith(f, tool.ExecutorFunc(yes), play(
		[]agent.Call{call("c1", "one", struct{}{}), call("c2", "both", noteIn{"x"})}))
	run, w := s.run(s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "one", "both")}), "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	require.Less(t, f.left.Load(), int32(98), "records were lost")
	for _, c := range s.invocations(run.ID) {
		require.Equal(t, tool.StatusCompleted, c.Status, c.Slug+": "+c.Error)
	}
}

// A step that asks to be tried later is tried later, and as often as its tool may.
func TestStepIsTriedWhenItAsks(t *testing.T) {
	t.Parallel()

	for name, in := range map[string]func(s *site) string{
		"Alone": func(s *site) string {
			_, id, _, err := s.toolCall("both", `{"name":"x"}`)
			require.NoError(s.t, err)
			return id
		},
		"InARun": func(s *site) string {
			run, w := s.run(s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(s.t, "both")}), "go")
			_, err := s.wait(w)
			require.NoError(s.t, err)
			return run.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			const later = 2 * time.Second
			s := newSite(t)
			x := tool.Execution{Pure: true, TimeoutSeconds: 5, MaxAttempts: 2}
			s.publish("busy", functionTool("busy", x), tool.Policy{})
			s.publish("both", composition(`{"steps":[{"id":"a","tool":"busy"}]}`, tool.Execution{}), tool.Policy{})
			var first, second atomic.Int64
			var tries atomic.Int32
			s.startWith(s.Store, tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
				if tries.Add(1) == 1 {
					first.Store(time.Now().UnixMilli())
				} else {
					second.Store(time.Now().UnixMilli())
				}
				return nil, &tool.Error{Kind: tool.RateLimited, Op: "e2e", Msg: "later", RetryAfter: later}
			}), play([]agent.Call{call("c1", "both", noteIn{"x"})}))
			calls := s.invocations(in(s))
			require.Len(t, calls, 2)
			require.Equal(t, tool.RateLimited, calls[1].ErrorKind, calls[1].Error)
			require.EqualValues(t, 2, tries.Load())
			require.GreaterOrEqual(t, second.Load()-first.Load(), later.Milliseconds())
		})
	}
}

// A composition that is refused after its worker died leaves no step open, and says
// that a step acted.
func TestRefusedCompositionEndsItsSteps(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	s.publish("effect", httpTool(c.URL, onlyOnce), tool.Policy{EgressClass: tool.EgressReadOnly})
	s.publish("both", composition(`{"steps":[
		{"id":"one","tool":"effect","arguments":{"q":{"$from":"/input/name"}}},
		{"id":"two","tool":"effect","arguments":{"q":{"$from":"/steps/one/text"}}}]}`, tool.Execution{}), tool.Policy{})
	cmd := startChild(t, s.child(c, afterSent, syscall.SIGKILL))
	type end struct {
		id  string
		err error
	}
	ended := make(chan end, 1)
	go func() {
		_, id, _, err := s.toolCall("both", `{"name":"x"}`)
		ended <- end{id, err}
	}()
	requireKilled(t, cmd)
	whole, err := s.FindTool(t.Context(), s.principal.Tenant, refs(t, "both")[0])
	require.NoError(t, err)
	whole.Status = tool.Disabled
	_, err = s.UpdateTool(t.Context(), whole)
	require.NoError(t, err)
	startChild(t, s.child(c, "", 0))
	select {
	case got := <-ended:
		e := tool.AsError(failure.Decode(got.err))
		require.Equal(t, tool.Conflict, e.Kind, e.Msg)
		require.True(t, e.Acted)
		calls := s.invocations(got.id)
		require.Len(t, calls, 2)
		require.Contains(t, calls[0].Error, "one (effect@1.0.0)")
		require.Equal(t, tool.StatusUnknown, calls[1].Status)
	case <-time.After(2 * time.Minute):
		require.Fail(t, "the composition did not end")
	}
}
