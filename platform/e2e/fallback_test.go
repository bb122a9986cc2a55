package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// fallible are models that fail as a test says: by model, the failures of its first requests.
type fallible struct {
	mu    sync.Mutex
	fails map[string][]*tool.Error
	asked []string // "model turn options", in order.
}

func (f *fallible) models() map[string]agent.Model {
	out := make(map[string]agent.Model)
	for _, provider := range []string{"one", "two", "three"} {
		out[provider] = agent.ModelFunc(func(_ context.Context, r *agent.ModelRequest) (*agent.ModelResponse, error) {
			return f.generate(provider+"/"+r.Model, r)
		})
	}
	return out
}

func (f *fallible) generate(model string, r *agent.ModelRequest) (*agent.ModelResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, strings.TrimSpace(model+" "+string(r.Options)))
	if fails := f.fails[model]; len(fails) > 0 {
		f.fails[model] = fails[1:]
		if fails[0] != nil {
			return nil, fails[0]
		}
	}
	usage := agent.Usage{InputTokens: 10, OutputTokens: 2}
	if len(r.Messages) == 1 {
		return &agent.ModelResponse{Usage: usage, Calls: []agent.Call{
			{ID: "c1", Name: "read", Arguments: json.RawMessage(`{"name":"A"}`)},
		}}, nil
	}
	return &agent.ModelResponse{Text: "answered by " + model, Usage: usage}, nil
}

// A model that is unavailable is passed over within the attempt, in both lanes of a run; which one
// answered is in the events, and nothing is counted twice.
func TestFallbackModels(t *testing.T) {
	t.Parallel()

	down := &tool.Error{Kind: tool.Unavailable, Msg: "it failed (502)"}
	late := &tool.Error{Kind: tool.Timeout, Msg: "it did not answer in time"}
	limited := &tool.Error{Kind: tool.RateLimited, Msg: "it limits the rate", RetryAfter: time.Minute}
	soon := &tool.Error{Kind: tool.RateLimited, Msg: "it limits the rate", RetryAfter: 50 * time.Millisecond}
	refused := &tool.Error{Kind: tool.Denied, Msg: "its content filter stopped the answer"}
	invalid := &tool.Error{Kind: tool.Invalid, Msg: "it refused the request"}
	for name, tt := range map[string]struct {
		visible  bool // The tool's calls are activities.
		fails    map[string][]*tool.Error
		asked    []string
		output   string
		kind     tool.Kind // Of the failed run.
		answered []string  // Models of the turns' events.
		retries  []string  // "model → next model", of the events.
	}{
		"Unavailable": {
			fails: map[string][]*tool.Error{"one/a": {nil, down}},
			asked: []string{`one/a {"t":1}`, `one/a {"t":1}`, `two/b`}, output: "answered by two/b",
			answered: []string{"", "two/b"}, retries: []string{"one/a → two/b"},
		},
		"InTheVisibleLane": {
			visible: true, fails: map[string][]*tool.Error{"one/a": {limited, late}, "two/b": {down, nil}},
			asked:  []string{`one/a {"t":1}`, `two/b`, `three/c {"t":3}`, `one/a {"t":1}`, `two/b`},
			output: "answered by two/b", answered: []string{"three/c", "two/b"},
			retries: []string{"one/a → two/b", "two/b → three/c", "one/a → two/b"},
		},
		"AllAreDown": { // The next attempt begins with the first again.
			fails: map[string][]*tool.Error{"one/a": {down}, "two/b": {down}, "three/c": {invalid}},
			asked: []string{
				`one/a {"t":1}`, `two/b`, `three/c {"t":3}`, `one/a {"t":1}`, `one/a {"t":1}`,
			},
			output: "answered by one/a", answered: []string{"", ""},
			retries: []string{"one/a → two/b", "two/b → three/c", "one/a → "},
		},
		"SoonBack": { // What is limited for a moment only is waited for, once.
			fails: map[string][]*tool.Error{"one/a": {soon, soon}}, asked: []string{
				`one/a {"t":1}`, `one/a {"t":1}`, `two/b`, `one/a {"t":1}`,
			},
			output: "answered by one/a", answered: []string{"two/b", ""}, retries: []string{"one/a → ", "one/a → two/b"},
		},
		"Refused": {
			fails: map[string][]*tool.Error{"one/a": {refused}}, asked: []string{`one/a {"t":1}`}, kind: tool.Denied,
		},
		"OurFault": {
			fails: map[string][]*tool.Error{"one/a": {invalid}}, asked: []string{`one/a {"t":1}`}, kind: tool.Invalid,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			execution := tool.Execution{Pure: true}
			if tt.visible {
				execution.Lane = tool.LaneVisible
			}
			s.publish("read", functionTool("read", execution), tool.Policy{})
			f := &fallible{fails: tt.fails}
			s.start(worker.Config{Functions: readers(t), Models: f.models()})
			run, w := s.run(s.publishAgent(agent.Definition{
				Name: "Desk", Model: "one/a", ModelOptions: json.RawMessage(`{"t":1}`), Tools: refs(t, "read"),
				FallbackModels: []agent.FallbackModel{
					{Model: "two/b"}, {Model: "three/c", ModelOptions: json.RawMessage(`{"t":3}`)},
				},
			}), "go")
			_, err := s.wait(w)
			ended, findErr := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, findErr)
			require.Equal(t, tt.asked, f.asked)
			require.Equal(t, tt.output, ended.Output)
			if tt.kind != "" {
				require.Error(t, err)
				require.Equal(t, agent.RunFailed, ended.Status)
				require.Equal(t, tt.kind, ended.ErrorKind)
				return
			}
			require.NoError(t, err)
			requireModels(t, s, run.ID, tt.answered, tt.retries)
		})
	}
}

func requireModels(t *testing.T, s *site, run string, answered, retries []string) {
	t.Helper()
	page, err := s.ReadStream(t.Context(), s.principal.Tenant, run, 0, 100)
	require.NoError(t, err)
	var models, asked []string
	for _, e := range page.Events {
		if e.Type == agent.EventTurn {
			var turn agent.TurnAnswered
			require.NoError(t, json.Unmarshal(e.Data, &turn))
			require.Equal(t, []int{10, 2}, []int{turn.InputTokens, turn.OutputTokens})
			models = append(models, turn.Model)
		}
		if e.Type == agent.EventModelRetrying {
			var retry agent.ModelRetry
			require.NoError(t, json.Unmarshal(e.Data, &retry))
			require.Equal(t, wire.ModelAttempts, retry.MaxAttempts)
			asked = append(asked, retry.Model+" → "+retry.NextModel)
			if retry.NextModel == "" && len(retries) == 3 {
				require.Equal(t, "one/a: it failed (502); two/b: it failed (502); three/c: it refused the request", retry.Cause)
			}
		}
	}
	require.Equal(t, answered, models)
	require.Equal(t, retries, asked)
	used, err := s.Store.RunUsage(t.Context(), s.principal.Tenant, run)
	require.NoError(t, err)
	require.Len(t, used.Turns, len(answered))
	for i, turn := range used.Turns {
		require.Equal(t, cmp.Or(answered[i], "one/a"), turn.Model, "what answered is what is paid for")
		require.Equal(t, []int64{10, 2}, []int64{turn.InputTokens, turn.OutputTokens})
	}
}
