package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// nested is a graph whose calls are in a sequence, in branches, in items and in iterations, before
// and after an agent and a wait.
const nestedGraph = `{"nodes":[
  {"id":"first","kind":"tool","tool":"effect","arguments":{"q":"first"},"on_error":"continue"},
  {"id":"judge","kind":"branch","cases":[{"when":"nodes.first.status == 'failed'","next":"fan"}],"default":"fan"},
  {"id":"fan","kind":"parallel","branches":[
    {"id":"left","nodes":[{"id":"l","kind":"tool","tool":"effect","arguments":{"q":"left"},"on_error":"continue"}]},
    {"id":"right","nodes":[{"id":"r","kind":"tool","tool":"effect","arguments":{"q":"right"},"on_error":"continue"}]}]},
  {"id":"each","kind":"map","over":[1,2],"tolerate":2,"nodes":[{"id":"one","kind":"tool","tool":"effect","arguments":{"q":{"$from":"/item"}}}]},
  {"id":"again","kind":"loop","while":"iteration < 2","max":3,"nodes":[{"id":"more","kind":"tool","tool":"effect","arguments":{"q":{"$from":"/iteration"}},"on_error":"continue"}]},
  {"id":"write","kind":"agent","agent":"desk","message":"go"},
  {"id":"rest","kind":"wait","seconds":0.1},
  {"id":"done","kind":"end","output":"over"}]}`

// calls of a run of nestedGraph; the agent makes one too.
const nestedCalls = 8

// A worker is killed around the record of each node, and around each phase of the call of each
// node: the graph runs to its end all the same, and nothing is sent twice that must not be.
func TestKilledWorkerInGraph(t *testing.T) {
	t.Parallel()

	type kill struct {
		at   point
		only string
	}
	kills := []kill{
		{beforeAdmit, "effect"},
		{afterAdmit, "effect"},
		{afterSent, ""},
		{afterAnswer, "effect"},
		{afterSettle, "effect"},
		{beforeTurn, ""},
		{afterTurn, ""},
		{beforeEnd, ""},
		{afterEnd, ""},
	}
	for _, node := range []string{"first", "judge", "l", "fan", "one", "each", "more", "again", "write", "rest", "done"} {
		kills = append(kills, kill{beforeNode, node}, kill{afterNode, node})
	}
	for i := range 2 * len(kills) {
		k, lane, x := kills[i/2], tool.LaneAuto, visiblyOnce
		if i%2 == 1 {
			lane, x = tool.LaneFast, onlyOnce
		}
		t.Run(string(k.at)+" "+k.only+" "+string(lane), func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			s.publish("effect", httpTool(c.URL, x), tool.Policy{EgressClass: tool.EgressReadOnly})
			s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
			s.publish("nested", graphTool(nestedGraph, tool.Execution{Lane: lane}), tool.Policy{})
			first := s.child(c, k.at, syscall.SIGKILL)
			first.Only = k.only
			killed := startChild(t, first)
			w, id := (&everySite{&counter{site: s}}).beginCall("nested", `{}`)
			requireKilled(t, killed)
			startChild(t, s.child(c, "", 0))
			var result *tool.Result
			require.NoError(t, w.Get(t.Context(), &result))
			require.JSONEq(t, `"over"`, string(result.Structured))
			requests, keys := c.count()
			require.Equal(t, requests, keys, "nothing is sent twice")
			unknown := 0
			for _, called := range s.invocations(id) {
				require.True(t, called.Status.Final(), called.CallID)
				if called.Status == tool.StatusUnknown {
					unknown++
				}
			}
			require.LessOrEqual(t, unknown, 2, "what was in flight when the worker died")
			require.GreaterOrEqual(t, requests, nestedCalls-2)
			records := (&everySite{&counter{site: s}}).records(id)
			for _, path := range []string{"first", "judge", "fan", "each", "again", "write", "rest", "done", ""} {
				require.Contains(t, records, path)
				require.NotEqual(t, graph.Pending, records[path].Status)
			}
		})
	}
}

// countIn is a function tool that counts its calls, and fails for some items.
type countIn struct {
	N int `json:"n"`
}

type countOut struct {
	N int `json:"n"`
}

var mapItems = flag.Int("map-items", 1500, "how many items the map of TestGraphOfManyItems has")

// A map of many items keeps its limit, names the items that failed, makes only failed ones again,
// and, visible and with 4,000 of them, continues as new without making any item twice.
func TestGraphOfManyItems(t *testing.T) {
	t.Parallel()
	inLanes(t, graphOfManyItems)
}

func graphOfManyItems(t *testing.T, lane tool.Lane) {
	t.Helper()
	const atOnce = 50
	items := *mapItems
	s := newSite(t)
	functions := function.NewRegistry()
	made := make([]atomic.Int32, items)
	var running, most atomic.Int32
	require.NoError(t, function.Define(functions, "count", "count", func(_ context.Context, in countIn) (countOut, error) {
		times := made[in.N].Add(1)
		now := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); now > old; old = most.Load() {
			if most.CompareAndSwap(old, now) {
				break
			}
		}
		time.Sleep(10 * time.Millisecond) // Or they are seldom two at once.
		if in.N%500 == 7 || in.N%500 == 8 && times == 1 {
			return countOut{}, errors.New("no such item")
		}
		return countOut(in), nil
	}, function.Pure()))
	d := functionTool("count", tool.Execution{Pure: true, Lane: tool.LaneFast, TimeoutSeconds: 5})
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	s.publish("count", d, tool.Policy{})
	s.publish("many", graphTool(`{"nodes":[{"id":"each","kind":"map","over":{"$from":"/input/items"},"concurrency":50,"tolerate":20,
		"reduce":"count","nodes":[{"id":"one","kind":"tool","tool":"count","arguments":{"n":{"$from":"/item"}},
		"retry":{"attempts":2,"delay_s":0.1}}]}],
		"output":{"count":{"$from":"/nodes/each/result"},"text":{"$from":"/nodes/each/text"}}}`,
		tool.Execution{Lane: lane, TimeoutSeconds: 3600}), tool.Policy{})
	s.start(worker.Config{Functions: functions})
	list := make([]int, items)
	for i := range list {
		list[i] = i
	}
	raw, err := json.Marshal(map[string]any{"items": list})
	require.NoError(t, err)
	began := time.Now()
	_, id, result, err := s.toolCall("many", string(raw))
	require.NoError(t, err)
	took := time.Since(began)
	failed := 0
	for i := range made {
		times := int32(1)
		if i%500 == 7 || i%500 == 8 {
			times = 2
		}
		if i%500 == 7 {
			failed++
			require.Contains(t, string(result.Structured), fmt.Sprintf("item %d: the tool answered: no such item", i))
		}
		require.Equal(t, times, made[i].Load(), "item %d", i)
	}
	require.Contains(t, string(result.Structured), fmt.Sprintf(`"count":%d`, items-failed))
	require.LessOrEqual(t, most.Load(), int32(atOnce))
	require.Greater(t, most.Load(), int32(1))
	records := (&everySite{&counter{site: s}}).records(id)
	require.Len(t, records, 2*items+2)
	whole, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{RunID: id, Tool: "many"})
	require.NoError(t, err)
	require.Len(t, whole, 1)
	child := s.temporal.GetWorkflow(t.Context(),
		wire.NamedWorkflowID(string(s.principal.Tenant), whole[0].Slug, whole[0].InvocationID), "")
	h := historyOf(t.Context(), t, s.temporal, child.GetID(), child.GetRunID())
	requireReplays(t, h, "")
	executions, largest, bytes := 0, 0, 0
	execution := h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetFirstExecutionRunId()
	for execution != "" {
		h := historyOf(t.Context(), t, s.temporal, child.GetID(), execution)
		executions, largest, bytes = executions+1, max(largest, len(h.GetEvents())), max(bytes, historyBytes(h))
		execution = continuedBy(h)
	}
	if lane == tool.LaneAuto && items >= 4000 {
		require.Greater(t, executions, 1)
	}
	require.LessOrEqual(t, largest, maxHistory)
	require.Less(t, bytes, maxHistoryBytes)
	t.Logf("%d items in %s, at most %d at once, in %d executions; the largest has %d events, and %d bytes", items,
		took.Round(time.Millisecond), most.Load(), executions, largest, bytes)
}

// A graph that is cancelled, or whose time is over, leaves no call open. Its time stands still
// while it waits for a person.
func TestGraphIsStopped(t *testing.T) {
	t.Parallel()

	const branches = `{"id":"a","nodes":[{"id":"w","kind":"tool","tool":"wait","arguments":{"name":"x"}}]},
		{"id":"b","nodes":[{"id":"s","kind":"wait","seconds":3600}]}`
	const person = `,{"id":"c","nodes":[{"id":"q","kind":"human","form":{"title":"Fine?","approve":{}}}]}`
	for name, tt := range map[string]struct {
		timeout float64
		more    string
		kind    tool.Kind
	}{"Cancelled": {0, person, tool.Cancelled}, "Timeout": {2, "", tool.Timeout}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newEverySite(t)
			functions := greeter(t, s.site)
			s.publish("slow", graphTool(`{"nodes":[{"id":"fan","kind":"parallel","branches":[`+branches+tt.more+`]},
				{"id":"never","kind":"tool","tool":"greet","arguments":{"name":"x"}}]}`, tool.Execution{TimeoutSeconds: tt.timeout}), tool.Policy{})
			s.start(worker.Config{Functions: functions})
			w, id := s.beginCall("slow", `{}`)
			if tt.kind == tool.Cancelled {
				s.waiting(1)
				require.NoError(t, s.temporal.CancelWorkflow(t.Context(), w.GetID(), w.GetRunID()))
			}
			err := w.Get(t.Context(), nil)
			require.Error(t, err)
			if tt.kind == tool.Timeout {
				require.Equal(t, tool.Timeout, tool.AsError(failure.Decode(err)).Kind, "%v", err)
			}
			for _, called := range s.invocations(id) {
				require.True(t, called.Status.Final(), called.CallID)
			}
			records := s.records(id)
			require.Contains(t, records, "")
			require.Equal(t, tt.kind, records[""].ErrorKind)
			require.NotContains(t, records, "never")
			s.waiting(0)
		})
	}
}

// A node that fails ends the graph, whose call names it; so does a retry that comes to nothing.
func TestGraphFails(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := greeter(t, s)
	s.publish("fails", graphTool(`{"nodes":[{"id":"m","kind":"map","over":[1,2],"nodes":[
		{"id":"no","kind":"tool","tool":"refuse","arguments":{"name":"x"},"retry":{"attempts":2,"delay_s":0.1}}]}]}`, tool.Execution{}), tool.Policy{})
	s.start(worker.Config{Functions: functions})
	_, id, _, err := s.toolCall("fails", `{}`)
	e := tool.AsError(failure.Decode(err))
	require.Equal(t, tool.Conflict, e.Kind)
	require.True(t, strings.HasPrefix(e.Msg, "node m/"), e.Msg)
	require.Contains(t, e.Msg, "of 2 items failed, and 0 may")
	require.Contains(t, e.Msg, "nobody is here")
	calls := 0
	for _, called := range s.invocations(id) {
		if called.Slug == "refuse" {
			calls++
		}
	}
	require.GreaterOrEqual(t, calls, 2, "it is made again")
}

// A failure that a retry might mend ends the graph all the same, at once: its settlement is not
// tried again for it.
func TestGraphFailsForAPassingReason(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "down", "down", func(context.Context, noteIn) (noteOut, error) {
		return noteOut{}, &tool.Error{Kind: tool.Unavailable, Msg: "the notes are closed", Sent: true, Answered: true}
	}))
	s.publish("down", functionTool("down", onlyOnce), tool.Policy{})
	s.publish("fails", graphTool(`{"nodes":[{"id":"no","kind":"tool","tool":"down","arguments":{"name":"x"}}]}`,
		tool.Execution{}), tool.Policy{})
	s.start(worker.Config{Functions: functions})
	_, id, _, err := s.toolCall("fails", `{}`)
	e := tool.AsError(failure.Decode(err))
	require.Equal(t, tool.Unavailable, e.Kind, "%v", err)
	require.Equal(t, "node no: the notes are closed; the request may have taken effect", e.Msg)
	for _, called := range s.invocations(id) {
		require.Equal(t, tool.StatusFailed, called.Status, called.CallID)
	}
}

// A node whose tool writes waits for a person's approval, in the graph's own workflow; a
// rejection is a failure of the node.
func TestGraphWaitsForApprovals(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.publish("both", graphTool(`{"nodes":[
		{"id":"one","kind":"tool","tool":"refund","arguments":{"q":"one"}},
		{"id":"two","kind":"tool","tool":"refund","arguments":{"q":"two"},"on_error":"continue"}],
		"output":{"one":{"$from":"/nodes/one/status"},"two":{"$from":"/nodes/two/error/message"}}}`,
		tool.Execution{}), tool.Policy{})
	o.start(worker.Config{Allow: allow(o.upstream)})
	w, id := (&everySite{&counter{site: o.site}}).beginCall("both", `{}`)
	first := o.waiting(1)[0]
	require.Equal(t, "call/one", first.CallID)
	require.Zero(t, o.refunds())
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: first.ID, Approve: true})))
	require.Eventually(t, func() bool {
		found := o.waiting(1)[0]
		return found.CallID == "call/two"
	}, time.Minute, 50*time.Millisecond)
	second := o.waiting(1)[0]
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: second.ID, Reason: "once is enough"})))
	var result *tool.Result
	require.NoError(t, w.Get(t.Context(), &result))
	require.Contains(t, string(result.Structured), `"one":"completed"`)
	require.Contains(t, string(result.Structured), "once is enough")
	for _, called := range o.invocations(id) {
		require.True(t, called.Status.Final(), called.CallID)
	}
}
