package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

var driverScripts = flag.Int("driver-scripts", 8, "how many generated runs each driver takes")

// drawn is a run that was drawn: what the model asks for in each turn, and within which limits.
type drawn struct {
	turns  [][]agent.Call
	mode   agent.ToolMode
	limits agent.Limits
}

// draw returns the run of a seed. Calls are of every kind of tool, and end in every way.
func draw(seed uint64) drawn {
	random := rand.New(rand.NewPCG(seed, 1))
	tools := []string{"pure", "pure", "idempotent", "once", "both", "denied", "unknown", "strict", "page", "vault", "leak"}
	ways := []string{"ok", "ok", "ok", "no", "fail", "flaky", "worse", "halfway"}
	d := drawn{
		mode: agent.ParallelSafe, limits: agent.Limits{MaxTurns: 2 + random.IntN(5), MaxCalls: 3 + random.IntN(12)},
	}
	if random.IntN(2) == 0 {
		d.mode = agent.Sequential
	}
	for turn := range 1 + random.IntN(5) {
		var calls []agent.Call
		for i := range 1 + random.IntN(4) {
			args := map[string]any{"do": ways[random.IntN(len(ways))], "name": fmt.Sprint(turn, i)}
			calls = append(calls, call(fmt.Sprintf("c%d-%d", turn, i), tools[random.IntN(len(tools))], args))
		}
		d.turns = append(d.turns, calls)
	}
	return d
}

// player executes calls as their arguments say, and counts them.
type player struct {
	mu    sync.Mutex
	tries map[string]int // By the call's effect.
	made  map[string]int // Answers, by the name in the arguments.
}

func (e *player) Execute(_ context.Context, call *tool.Call) (*tool.Result, error) {
	var in struct {
		Do   string `json:"do"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Msg: "not what was drawn", Err: err}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tries[call.EffectID]++
	failure := func(kind tool.Kind, sent bool) (*tool.Result, error) {
		return nil, &tool.Error{Kind: kind, Op: "e2e", Msg: in.Do, Sent: sent, RetryAfter: 10 * time.Millisecond}
	}
	switch first := e.tries[call.EffectID] == 1; {
	case in.Do == "fail":
		return failure(tool.Invalid, true)
	case in.Do == "flaky" && first:
		return failure(tool.Unavailable, false)
	case in.Do == "worse":
		return failure(tool.Unavailable, false)
	case in.Do == "halfway" && first:
		return failure(tool.Unavailable, true) // Nobody knows whether it was done.
	}
	e.made[in.Name]++
	return &tool.Result{
		Content: []tool.Content{tool.Text(in.Do + " " + in.Name)}, IsError: in.Do == "no",
	}, nil
}

// losing is a store that loses some of its answers, after it did what was asked.
type losing struct {
	*store.Store
	mu     sync.Mutex
	random *rand.Rand
}

func (l *losing) lose() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.random == nil || l.random.IntN(6) > 0 {
		return nil
	}
	return &tool.Error{Kind: tool.Unavailable, Op: "e2e", Msg: "the answer was lost"}
}

func (l *losing) Record(ctx context.Context, r loop.Record) (loop.Recorded, error) {
	done, err := l.Store.Record(ctx, r)
	if err == nil {
		err = l.lose()
	}
	return done, err
}

func (l *losing) Settle(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	done, err := l.Store.Settle(ctx, s)
	if err == nil {
		err = l.lose()
	}
	return done, err
}

// did is what a run left behind, without what is of its own in each: ids and times.
type did struct {
	Status     agent.RunStatus
	Error      string
	Transcript []string
	Calls      []string
	Attempts   []string // Of the calls that are not nested: those are opened again by who takes over.
	Events     []string // Without the attempts' own. Sorted, where calls run beside others.
	Made       map[string]int
	Tainted    int // The turn that tainted it; 0 for none.
}

// secretTool is a function that is said to use a credential.
func secretTool(name string, x tool.Execution) tool.Definition {
	d := functionTool(name, x)
	d.Config = json.RawMessage(`{"function_name":"` + name + `","auth":{"credentials_ref":"key"}}`)
	return d
}

var toldCall = regexp.MustCompile(`[a-z]+@1\.0\.0 \(call [^)]*\)`)

// untold returns a text without which call tainted a run: one of those that ran at once.
func untold(text string) string { return toldCall.ReplaceAllString(text, "a call") }

// drivenBy takes a run through a driver: that of the lane.
func drivenBy(t *testing.T, d drawn, lane tool.Lane, losses *rand.Rand) did {
	t.Helper()
	s := newSite(t)
	quick := func(x tool.Execution) tool.Execution {
		x.TimeoutSeconds, x.MaxAttempts, x.Lane, x.MaxConcurrency = 20, 5, lane, 4
		return x
	}
	s.publish("pure", functionTool("pure", quick(tool.Execution{Pure: true})), tool.Policy{})
	s.publish("idempotent", functionTool("idempotent", quick(tool.Execution{Idempotent: true})), tool.Policy{})
	s.publish("once", functionTool("once", quick(tool.Execution{})), tool.Policy{})
	s.publish("denied", functionTool("denied", quick(tool.Execution{Pure: true})), tool.Policy{RequiresApproval: true})
	strict := functionTool("strict", quick(tool.Execution{Pure: true}))
	strict.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	s.publish("strict", strict, tool.Policy{})
	both := composition(`{"steps":[
		{"id":"a","tool":"pure","arguments":{"do":"ok","name":{"$from":"/input/name"}}},
		{"id":"b","tool":"once","arguments":{"do":{"$from":"/input/do"},"name":{"$from":"/steps/a/text"}}}]}`,
		tool.Execution{Lane: lane})
	both.InputSchema = json.RawMessage(`{"type":"object"}`)
	s.publish("both", both, tool.Policy{})
	s.publish("page", functionTool("page", quick(tool.Execution{Pure: true, Trust: tool.Untrusted})), tool.Policy{})
	s.publish("vault", secretTool("vault", quick(tool.Execution{Idempotent: true})), tool.Policy{})
	leak := composition(`{"steps":[
		{"id":"a","tool":"page","arguments":{"do":"ok","name":{"$from":"/input/name"}}},
		{"id":"b","tool":"vault","arguments":{"do":{"$from":"/input/do"},"name":{"$from":"/steps/a/text"}}}]}`,
		tool.Execution{Lane: lane})
	leak.InputSchema = json.RawMessage(`{"type":"object"}`)
	s.publish("leak", leak, tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", ToolMode: d.mode, Limits: d.limits,
		Tools: refs(t, "pure", "idempotent", "once", "both", "denied", "strict", "page", "vault", "leak"),
	})
	e := &player{tries: map[string]int{}, made: map[string]int{}}
	s.startWith(&losing{Store: s.Store, random: losses}, e, play(d.turns...))
	run, w := s.run(a, "go")
	_, _ = s.wait(w)

	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.True(t, ended.Status.Final(), ended.Status)
	out := did{Status: ended.Status, Error: ended.Error, Made: e.made}
	if ended.Taint != nil {
		out.Tainted = ended.Taint.Turn
	}
	messages, err := s.Transcript(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	for _, m := range messages {
		out.Transcript = append(out.Transcript, fmt.Sprint(
			m.Role, " ", m.Turn, ".", m.Position, " ", m.CallID, " ", m.IsError, " ", untold(textOf(m.Content))))
		for _, c := range m.Calls {
			out.Transcript = append(out.Transcript, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Arguments))
		}
	}
	for _, c := range s.invocations(run.ID) {
		out.Calls = append(out.Calls, fmt.Sprint(c.Turn, ".", c.Position, " ", c.CallID, " ", c.Slug, " ", c.Status, " ",
			c.ErrorKind, " ", untold(c.Error)))
		if c.Slug != "both" && c.Slug != "leak" {
			out.Attempts = append(out.Attempts, fmt.Sprint(c.CallID, " ", c.Attempt))
		}
	}
	slices.Sort(out.Calls)
	slices.Sort(out.Attempts)
	for _, kind := range s.kinds(run.ID) {
		if kind != tool.EventStarted {
			out.Events = append(out.Events, string(kind))
		}
	}
	if d.mode == agent.ParallelSafe {
		slices.Sort(out.Events)
	}
	return out
}

func textOf(content []tool.Content) string {
	var b strings.Builder
	for _, c := range content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// Generated runs come to the same transcript, ledger, events and end, whether one process takes
// all their steps or the workflow each, and although answers of the database are lost.
func TestDriversDoTheSame(t *testing.T) {
	t.Parallel()

	for seed := range uint64(*driverScripts) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()

			d := draw(seed)
			want := drivenBy(t, d, tool.LaneAuto, nil)
			require.NotEmpty(t, want.Transcript)
			require.Equal(t, want, drivenBy(t, d, tool.LaneVisible, nil), "step by step")
			lost := rand.New(rand.NewPCG(seed, 2))
			got := drivenBy(t, d, tool.LaneAuto, lost)
			want.Attempts, got.Attempts = nil, nil // Attempts that a process did not see the end of count.
			require.Equal(t, want, got, "with answers that were lost")
		})
	}
}
