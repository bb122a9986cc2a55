package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// heard records what hooks are told.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

// A host's hooks hear of the plan, and of each attempt of a turn before the model is asked and after its
// answer is stored; their errors are taken as the model's, and a panic harms nothing.
func TestHooksOfTurns(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		hook   func(h *heard, hooks *agent.Hooks)
		fails  map[string][]*tool.Error
		heard  []string
		kind   tool.Kind
		asked  int
		output string
	}{
		"Heard": {
			heard: []string{
				"planned desk read", "start 1.1 one/a", "end 1.1 1 calls <nil>", "start 2.1 one/a", "end 2.1 0 calls <nil>",
			}, asked: 2, output: "answered by one/a",
		},
		"FailedAttempt": {
			fails: map[string][]*tool.Error{"one/a": {{Kind: tool.Unavailable, Msg: "down"}}},
			heard: []string{
				"planned desk read", "start 1.1 one/a", "end 1.1 unavailable", "start 1.2 one/a", "end 1.2 1 calls <nil>",
				"start 2.1 one/a", "end 2.1 0 calls <nil>",
			}, asked: 3, output: "answered by one/a",
		},
		"Refused": {
			hook: func(_ *heard, hooks *agent.Hooks) {
				hooks.TurnStart = func(_ context.Context, turn agent.TurnInfo) error {
					if turn.Turn == 2 {
						return &tool.Error{Kind: tool.Denied, Msg: "the budget is used up"}
					}
					return nil
				}
			},
			heard: []string{"planned desk read", "end 1.1 1 calls <nil>"}, asked: 1, kind: tool.Denied,
		},
		"PlanRefused": {
			hook: func(_ *heard, hooks *agent.Hooks) {
				hooks.Planned = func(context.Context, agent.RunInfo, *agent.Plan) error {
					return &tool.Error{Kind: tool.Denied, Msg: "not on a Monday"}
				}
			}, kind: tool.Denied,
		},
		"Panic": {
			hook: func(h *heard, hooks *agent.Hooks) {
				hooks.TurnEnd = func(context.Context, agent.TurnInfo, *agent.Message, error) { panic("secret") }
			},
			heard: []string{"planned desk read", "start 1.1 one/a", "start 2.1 one/a"}, asked: 2, output: "answered by one/a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h, f := &heard{}, &fallible{fails: tt.fails}
			hooks := agent.Hooks{
				Planned: func(_ context.Context, run agent.RunInfo, plan *agent.Plan) error {
					h.add("planned %s %s", run.Agent, plan.Tools[0].Slug)
					return nil
				},
				TurnStart: func(_ context.Context, turn agent.TurnInfo) error {
					h.add("start %d.%d %s", turn.Turn, turn.Attempt, turn.Model)
					return nil
				},
				TurnEnd: func(_ context.Context, turn agent.TurnInfo, answer *agent.Message, err error) {
					if err != nil {
						h.add("end %d.%d %s", turn.Turn, turn.Attempt, tool.KindOf(err))
						return
					}
					h.add("end %d.%d %d calls %v", turn.Turn, turn.Attempt, len(answer.Calls), err)
				},
			}
			if tt.hook != nil {
				tt.hook(h, &hooks)
			}
			s := newSite(t)
			s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "one/a", Tools: refs(t, "read")})
			s.start(worker.Config{Functions: readers(t), Models: f.models(), Hooks: hooks})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			ended, findErr := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, findErr)
			require.Equal(t, tt.kind, ended.ErrorKind, "%v", err)
			require.Equal(t, tt.output, ended.Output)
			for i := range h.lines {
				h.lines[i] = strings.ReplaceAll(h.lines[i], a.Slug, "desk")
			}
			require.Equal(t, tt.heard, h.lines)
			require.Len(t, f.asked, tt.asked)
		})
	}
}
