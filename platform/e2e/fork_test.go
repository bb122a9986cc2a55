package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// sendOnce is a tool that must not be sent a second time.
var sendOnce = tool.Execution{TimeoutSeconds: 30}

// forkScripts are agents by name: the calls of each turn, as tools and their
// arguments. The last turn has none.
var forkScripts = map[string][][]agent.Call{
	"pure": {
		{call("a", "greet", noteIn{"1"}), call("b", "greet", noteIn{"2"}), call("c", "greet", noteIn{"3"})},
		{call("a", "greet", noteIn{"4"}), call("b", "greet", noteIn{"5"})},
	},
	"once": {
		{call("a", "greet", noteIn{"1"}), call("b", "effect", noteIn{"2"})},
		{call("a", "effect", noteIn{"3"}), call("b", "missing", noteIn{"4"}), call("c", "greet", noteIn{"5"})},
	},
	"agents": {
		{call("a", "greet", noteIn{"1"}), call("b", "askOnce", noteIn{"2"})},
		{call("a", "greet", noteIn{"3"})},
	},
	"composed": {
		{call("a", "greetAndSend", noteIn{"1"})},
		{call("a", "greet", noteIn{"2"}), call("b", "greetAndSend", noteIn{"3"})},
	},
}

const greetThenSend = `{
  "steps": [
    {"id": "greet", "tool": "greet", "arguments": {"name": {"$from": "/input/name"}}},
    {"id": "send", "tool": "effect", "arguments": {"name": {"$from": "/steps/greet/result/name"}}}
  ],
  "output": {"$from": "/steps/greet/result/name"}
}`

// A run that ended is reset to every point of its history that Temporal resets
// to. Each time the model is shown the transcript up to that point and nothing
// of the branches that resets left, each call of the transcript has its answer,
// and what must not be sent twice is not. Whether the model repeats itself after
// the reset or asks for something else makes no difference to that.
func TestResetForksTheTranscript(t *testing.T) {
	t.Parallel()

	for name := range forkScripts {
		for _, vary := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/vary=%t", name, vary), func(t *testing.T) {
				t.Parallel()
				testForks(t, name, vary)
			})
		}
	}
}

func testForks(t *testing.T, name string, vary bool) {
	t.Helper()
	s, c := newSite(t), newCanary(t)
	functions := greeter(t, s)
	effect := sendOnce
	if vary { // Each call of it is an activity, and so a point to reset to.
		effect.Lane = tool.LaneVisible
	}
	s.publish("effect", httpTool(c.URL, effect), tool.Policy{EgressClass: tool.EgressWrite})
	s.publish("greetAndSend", composition(greetThenSend, tool.Execution{}), tool.Policy{})
	s.publishAgentAs("once", agent.Definition{Name: "once", Model: "test/once", Tools: refs(t, "greet", "effect")})
	ask := delegation("once", tool.Execution{})
	ask.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	s.publish("askOnce", ask, tool.Policy{})
	model := newForkModel(vary)
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}, Allow: allow(c)})
	above := s.publishAgentAs("top", agent.Definition{
		Name: "top", Model: "test/" + name, ToolMode: agent.ParallelSafe,
		Tools: refs(t, "greet", "effect", "greetAndSend", "askOnce"),
	})
	run, w := s.run(above, "go")
	_, err := s.wait(w)
	require.NoError(t, err)

	f := &forks{site: s, canary: c, model: model}
	f.resetEverywhere(t, run, w)
	f.resetEverywhere(t, run, s.temporal.GetWorkflow(t.Context(), w.GetID(), "")) // What was reset before.
	if name == "agents" &&
		!vary { // One that repeats itself finds the run below it again.
		child, ok := s.below(run.ID)
		require.True(t, ok)
		f.resetEverywhere(t, child, s.temporal.GetWorkflow(t.Context(), child.WorkflowID, ""))
	}
}

// forks resets runs and holds them to what must be true afterwards.
type forks struct {
	*site
	canary *canary
	model  *forkModel
}

// resetEverywhere resets an execution of a run to each point that there is, one
// after the other.
func (f *forks) resetEverywhere(t *testing.T, run agent.Run, w client.WorkflowRun) {
	t.Helper()
	runID := w.GetRunID()
	if runID == "" {
		described, err := f.temporal.DescribeWorkflowExecution(t.Context(), w.GetID(), "")
		require.NoError(t, err)
		runID = described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	}
	h := historyOf(t.Context(), t, f.temporal, w.GetID(), runID)
	points := 0
	for _, e := range h.GetEvents() {
		heads := f.headsBefore(t, run.ID, h, e.GetEventId())
		f.model.expect(run.ID, heads) // Before the run goes on.
		again, ok := f.resetTo(t, w.GetID(), runID, e.GetEventId())
		if !ok {
			continue
		}
		points++
		out, err := f.wait(again)
		require.NoError(t, err, "reset to event %d, %s", e.GetEventId(), e.GetEventType())
		require.Empty(t, f.model.faults(), "reset to event %d, %s", e.GetEventId(), e.GetEventType())
		f.requireWhole(t, run, out, heads)
	}
	require.GreaterOrEqual(t, points, 2)
}

// resetTo resets an execution, unless Temporal says that it cannot be.
func (f *forks) resetTo(t *testing.T, workflowID, runID string, event int64) (client.WorkflowRun, bool) {
	t.Helper()
	reset, err := f.temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         embedded.DefaultNamespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID, RunId: runID},
		RequestId:         newID(t), Reason: "test", WorkflowTaskFinishEventId: event,
	})
	if _, refused := err.(*serviceerror.InvalidArgument); refused { //nolint:errorlint // As the client returns it.
		return nil, false
	}
	require.NoError(t, err)
	return f.temporal.GetWorkflow(t.Context(), workflowID, reset.GetRunId()), true
}

// headsBefore returns the messages that a history up to an event has had of the model:
// those that lead to where its last activity came.
func (f *forks) headsBefore(t *testing.T, runID string, h *historypb.History, event int64) []string {
	t.Helper()
	head := ""
	ends := advances(t, h)
	for _, id := range slices.Sorted(maps.Keys(ends)) {
		out := ends[id]
		switch {
		case id >= event:
		case out.Ended != nil:
			head = out.Ended.Head
		case out.State != nil:
			head = out.State.Head
		}
	}
	return f.lineage(t, runID, head)
}

// lineage returns the messages of the model that lead to head, head included.
func (f *forks) lineage(t *testing.T, runID, head string) []string {
	t.Helper()
	heads := []string{}
	conn, err := pgx.Connect(t.Context(), f.db.URL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	for head != "" {
		var role, parent string
		require.NoError(t, conn.QueryRow(t.Context(),
			"select role, coalesce(parent_id::text, '') from messages where run_id = $1 and id = $2", runID, head).
			Scan(&role, &parent))
		if role != string(agent.RoleAssistant) {
			break
		}
		heads, head = append([]string{head}, heads...), parent
	}
	return heads
}

// requireWhole checks what a run came to that was reset: its transcript goes on
// from the fork and nowhere else, and everything in it is over.
func (f *forks) requireWhole(t *testing.T, run agent.Run, out wire.AgentRunOutput, heads []string) {
	t.Helper()
	ended, err := f.FindRun(t.Context(), f.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, ended.Status)
	require.Equal(t, out.Head, ended.HeadMessageID)
	require.Equal(t, out.Turns, ended.Turns)
	messages, err := f.Transcript(t.Context(), f.principal.Tenant, run.ID)
	require.NoError(t, err)
	chain, err := chainOf(messages)
	require.NoError(t, err)
	require.Len(t, chain, out.Turns)
	require.Equal(t, heads, chain[:len(heads)])
	require.Equal(t, out.Head, chain[len(chain)-1])
	for _, i := range f.invocations(run.ID) {
		require.True(t, i.Status.Final(), "%s of %s", i.Status, i.Slug)
		require.NotEqual(t, tool.StatusUnknown, i.Status)
	}
	requests, keys := f.canary.count()
	require.Equal(t, keys, requests, "an effect that must happen once was sent twice")
}

// chainOf returns the ids of the assistant messages of a transcript, which has
// one answer for each call, in order, and no message that does not follow the one
// before it.
func chainOf(messages []agent.Message) ([]string, error) {
	if len(messages) == 0 || messages[0].Role != agent.RoleUser || messages[0].ParentID != "" {
		return nil, fmt.Errorf("%d messages, which do not begin with the user's", len(messages))
	}
	chain, at := []string{}, messages[0].ID
	for i := 1; i < len(messages); {
		m := messages[i]
		if m.Role != agent.RoleAssistant || m.ParentID != at {
			return nil, fmt.Errorf("message %d is a %s message that follows %s, not %s", i, m.Role, m.ParentID, at)
		}
		if m.Turn != len(chain)+1 {
			return nil, fmt.Errorf("message %d is of turn %d: want %d", i, m.Turn, len(chain)+1)
		}
		i++
		for position, made := range m.Calls {
			if i == len(messages) || messages[i].Role != agent.RoleTool || messages[i].ParentID != m.ID ||
				messages[i].CallID != made.ID || messages[i].Position != position {
				return nil, fmt.Errorf("call %s of turn %d has no answer at its place", made.ID, m.Turn)
			}
			i++
		}
		chain, at = append(chain, m.ID), m.ID
	}
	return chain, nil
}

// forkModel plays scripts and holds every transcript it is given to the ones it
// was given before.
type forkModel struct {
	vary bool

	mu       sync.Mutex
	asked    int
	given    map[string][]string // What the model was shown, by the first call that it made of it.
	expected map[string][]string // The chain that the next transcript of a run has.
	wrong    []string
}

func newForkModel(vary bool) *forkModel {
	return &forkModel{vary: vary, given: map[string][]string{}, expected: map[string][]string{}}
}

// expect says what chain the next transcript of a run has.
func (m *forkModel) expect(runID string, chain []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected[runID] = chain
}

func (m *forkModel) faults() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wrong
}

// Generate implements [agent.Model].
func (m *forkModel) Generate(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	if err := m.check(req); err != nil {
		m.wrong = append(m.wrong, fmt.Sprintf("%s, turn %d: %v", req.Model, req.Turn, err))
	}
	script := forkScripts[req.Model]
	if req.Turn > len(script) {
		return &agent.ModelResponse{Text: "done"}, nil
	}
	calls := slices.Clone(script[req.Turn-1])
	for i := range calls {
		calls[i].ID = fmt.Sprintf("ask%d_%s", m.asked, calls[i].ID)
		if m.vary {
			calls[i] = call(calls[i].ID, calls[i].Name, noteIn{fmt.Sprint(m.asked, "-", i)})
		}
	}
	m.given[calls[0].ID] = idsOf(req.Messages)
	return &agent.ModelResponse{Calls: calls}, nil
}

func (m *forkModel) check(req *agent.ModelRequest) error {
	chain, err := chainOf(req.Messages)
	if err != nil {
		return err
	}
	if len(chain) != req.Turn-1 {
		return fmt.Errorf("the transcript has %d turns", len(chain))
	}
	runID := req.Messages[0].RunID
	if want, ok := m.expected[runID]; ok && !slices.Equal(want, chain) {
		return fmt.Errorf("the transcript goes over %v: want %v", chain, want)
	}
	delete(m.expected, runID)
	for i, message := range req.Messages {
		if len(message.Calls) == 0 {
			continue
		}
		if want := m.given[message.Calls[0].ID]; !slices.Equal(want, idsOf(req.Messages[:i])) {
			return fmt.Errorf("turn %d was asked after %v, and stands after %v", message.Turn, want, idsOf(req.Messages[:i]))
		}
	}
	return nil
}

func idsOf(messages []agent.Message) []string {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}
