package function_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var functionLacks = map[executortest.Behaviour]string{
	executortest.Unreachable:  "it is in the process",
	executortest.BreaksOff:    "it returns",
	executortest.QuotesSecret: "the executor opens none for it",
	executortest.NoSecret:     "the executor opens none for it",
}

// TestConformance runs the suite for functions with a context and without.
func TestConformance(t *testing.T) {
	t.Parallel()

	t.Run("with a context", func(t *testing.T) {
		t.Parallel()

		executortest.Run(t, executortest.Harness{
			Lacks: functionLacks, New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
				t.Helper()
				s := newBehaving(b)
				require.NoError(t, function.Define(s.reg, "subject", "",
					func(ctx context.Context, in subjectValue) (subjectValue, error) {
						info, _ := function.InfoFrom(ctx)
						s.note(info.EffectID)
						return s.run(ctx.Done(), in)
					}))
				return s.subject()
			},
		})
	})
	t.Run("without a context", func(t *testing.T) {
		t.Parallel()

		executortest.Run(t, executortest.Harness{
			Lacks: functionLacks, New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
				t.Helper()
				s := newBehaving(b)
				over := make(chan struct{})
				t.Cleanup(func() { close(over) })
				require.NoError(
					t,
					function.DefineSync(s.reg, "subject", "", func(in subjectValue) (subjectValue, error) { return s.run(over, in) }),
				)
				subject := s.subject()
				subject.Keys = nil
				return subject
			},
		})
	})
}

type subjectValue struct {
	A any `json:"a"`
}

type behaving struct {
	reg       *function.Registry
	behaviour executortest.Behaviour

	mu   sync.Mutex
	keys []string
}

func newBehaving(b executortest.Behaviour) *behaving {
	return &behaving{reg: function.NewRegistry(), behaviour: b}
}

func (s *behaving) note(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, key)
}

func (s *behaving) subject() executortest.Subject {
	return executortest.Subject{
		Executor: function.New(s.reg),
		Call: func(effectID string) *tool.Call {
			c := call("subject", `{"a": [1.10]}`)
			c.EffectID, c.Egress = effectID, tool.EgressWrite
			return c
		},
		Keys: func() []string { s.mu.Lock(); defer s.mu.Unlock(); return append([]string(nil), s.keys...) },
	}
}

func (s *behaving) run(over <-chan struct{}, in subjectValue) (subjectValue, error) {
	switch s.behaviour {
	case executortest.SaysNo:
		return subjectValue{}, errors.New(executortest.Reason)
	case executortest.Refuses:
		return subjectValue{}, &tool.Error{Kind: tool.Denied, Msg: "refused", Sent: true}
	case executortest.Saturated:
		return subjectValue{}, &tool.Error{
			Kind: tool.RateLimited, Msg: "busy", RetryAfter: executortest.RetryAfter, Sent: true,
		}
	case executortest.Fails:
		return subjectValue{}, &tool.Error{Kind: tool.Unavailable, Msg: "down", Sent: true}
	case executortest.Hangs:
		<-over
		return subjectValue{}, context.Canceled
	case executortest.Overflows:
		return subjectValue{A: strings.Repeat("x", 2*executortest.MaxBytes)}, nil
	case executortest.Panics:
		panic("at the disco")
	case executortest.Answers, executortest.Unreachable, executortest.BreaksOff, executortest.QuotesSecret,
		executortest.NoSecret:
	}
	return in, nil
}
