package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// play is a run of a graph whose records are in memory.
type play struct {
	t       require.TestingT
	g       *graph.Graph
	shape   *flow.Shape
	data    graph.Data
	now     time.Time
	calls   map[string]func(arguments json.RawMessage) *graph.Call // By node.
	made    []string                                               // The calls, as "path#attempt".
	most    int                                                    // Calls in progress at once, at most.
	cut     func() bool                                            // Whether another machine takes over from the state.
	choose  func(n int) int
	slept   time.Duration
	results map[string]*graph.Call // Of calls, by effect: a call is made once.
}

func newPlay(t require.TestingT, raw string) *play {
	g, err := graph.Parse(json.RawMessage(raw), nil)
	require.NoError(t, err)
	return &play{
		t: t, g: g, shape: g.Shape(), calls: map[string]func(json.RawMessage) *graph.Call{},
		data: graph.Data{Input: json.RawMessage(`{}`), Records: map[string]*graph.Record{}},
		now:  time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		cut:  func() bool { return false }, choose: func(int) int { return 0 }, results: map[string]*graph.Call{},
	}
}

func ok(result string) *graph.Call {
	return &graph.Call{Result: &tool.Result{
		Content: []tool.Content{tool.Text("text of " + result)}, Structured: json.RawMessage(result),
	}}
}

func bad(kind tool.Kind, msg string) *graph.Call { return &graph.Call{Kind: kind, Msg: msg} }

// echo answers with the arguments.
func echo(arguments json.RawMessage) *graph.Call { return ok(string(arguments)) }

// visible returns the records that a step needs: it must say so.
func (p *play) visible(s flow.Step) *graph.Data {
	needs := p.g.Needs(s)
	out := graph.Data{Input: p.data.Input, Context: p.data.Context, Records: map[string]*graph.Record{}}
	for path, r := range p.data.Records {
		below := needs.Below != "" && strings.HasPrefix(path, needs.Below+"/") &&
			!strings.Contains(strings.TrimPrefix(path, needs.Below+"/"), "/")
		if below || slices.Contains(needs.Paths, path) {
			out.Records[path] = r
		}
	}
	return &out
}

func (p *play) evaluate(s flow.Step) flow.Evaluated {
	e, records, err := p.g.Evaluate(context.Background(), s, p.visible(s), p.results[effect(s)], p.now)
	require.NoError(p.t, err)
	for _, r := range records {
		if had := p.data.Records[r.Path]; had != nil && had.Status == graph.Pending {
			r.Item = had.Item
		} else if had != nil {
			continue // The first one stays.
		}
		p.data.Records[r.Path] = &r
	}
	return e
}

func effect(s flow.Step) string { return fmt.Sprintf("%s#%d", s.Path(), s.Attempt) }

func (p *play) call(s flow.Step) *graph.Call {
	if made := p.results[effect(s)]; made != nil {
		return made
	}
	arguments, err := p.g.Arguments(s, p.visible(s))
	var out *graph.Call
	if err != nil {
		out = bad(tool.KindOf(err), tool.AsError(err).Msg)
	} else {
		p.made = append(p.made, effect(s))
		do := p.calls[s.Node]
		if do == nil {
			do = echo
		}
		out = do(arguments)
	}
	p.results[effect(s)] = out
	return out
}

// run takes the run to its end, and returns its output, or why it failed.
func (p *play) run() (string, *flow.Failure) {
	m := flow.NewMachine(p.shape, flow.State{})
	var flying []flow.Step
	for range 200_000 {
		if over, failure := m.Over(); over {
			require.Empty(p.t, flying)
			return string(p.data.Records[""].Result), failure
		}
		if p.cut() {
			raw, err := json.Marshal(m.State())
			require.NoError(p.t, err)
			var state flow.State
			require.NoError(p.t, json.Unmarshal(raw, &state))
			m, flying = flow.NewMachine(p.shape, state), nil
		}
		start, cancel := m.Next()
		flying = append(flying, start...)
		inCall := 0
		for _, s := range flying {
			if s.Do == flow.PhaseCall {
				inCall++
			}
		}
		p.most = max(p.most, inCall)
		for _, frame := range cancel {
			i := slices.IndexFunc(flying, func(s flow.Step) bool { return s.Frame == frame })
			require.GreaterOrEqual(p.t, i, 0)
			p.end(m, flying[i], true)
			flying = slices.Delete(flying, i, i+1)
		}
		if len(flying) == 0 {
			if over, _ := m.Over(); !over && len(cancel) == 0 && len(start) == 0 {
				require.FailNow(p.t, "the run hangs", "%+v", m.State())
			}
			continue
		}
		i := p.choose(len(flying))
		s := flying[i]
		flying = slices.Delete(flying, i, i+1)
		p.end(m, s, false)
	}
	require.FailNow(p.t, "the run does not end")
	return "", nil
}

func (p *play) end(m *flow.Machine, s flow.Step, cancelled bool) {
	switch {
	case s.Evaluates():
		m.Evaluated(s.Frame, p.evaluate(s))
	case s.Do == flow.PhaseCall && cancelled:
		m.Called(s.Frame, flow.Called{Failure: &flow.Failure{Kind: tool.Cancelled, Msg: "cancelled"}}, 1)
	case s.Do == flow.PhaseCall:
		c := p.call(s)
		var failure *flow.Failure
		if c.Result == nil {
			failure = &flow.Failure{Kind: c.Kind, Msg: c.Msg}
		}
		m.Called(s.Frame, flow.Called{Failure: failure}, 1)
	case s.Do == flow.PhasePause:
		p.slept += m.Pause(s)
		m.Slept(s.Frame)
	default:
		if s.Until.After(p.now) {
			p.slept += s.Until.Sub(p.now)
		}
		m.Slept(s.Frame)
	}
}

const everything = `{
  "state": {"seen": 0}, "state_schema": {"type": "object", "properties": {"seen": {"type": "integer"}}},
  "nodes": [
    {"id": "begin", "kind": "start", "set": {"from": {"$from": "/input/name", "$default": "nobody"}}},
    {"id": "fetch", "kind": "tool", "tool": "fetch@^1.0", "arguments": {"who": {"$from": "/state/from"}}, "set": {"seen": 1}},
    {"id": "skipped", "kind": "tool", "tool": "fetch", "when": "nodes.fetch.result.who != 'nobody'"},
    {"id": "write", "kind": "agent", "agent": "writer", "message": {"about": {"$from": "/nodes/fetch/result"}}},
    {"id": "judge", "kind": "branch", "cases": [{"when": "state.seen == 1 && size(nodes.write.text) > 0", "next": "fan"}], "default": "never"},
    {"id": "never", "kind": "tool", "tool": "fetch"},
    {"id": "fan", "kind": "parallel", "branches": [
      {"id": "left", "nodes": [{"id": "l", "kind": "tool", "tool": "t", "arguments": {"x": 1}}]},
      {"id": "right", "nodes": [{"id": "r", "kind": "tool", "tool": "t", "arguments": {"x": 2}}], "output": {"$from": "/nodes/r/result/x"}}]},
    {"id": "each", "kind": "map", "over": [1, 2, 3], "concurrency": 2, "nodes": [
      {"id": "one", "kind": "tool", "tool": "t", "arguments": {"item": {"$from": "/item"}, "at": {"$from": "/index"}}}],
      "output": {"$from": "/nodes/one/result/item"}, "reduce": "sum"},
    {"id": "again", "kind": "loop", "while": "iteration < 3 && (last == null || last.ok)", "max": 10, "nodes": [
      {"id": "try", "kind": "tool", "tool": "t", "arguments": {"ok": true, "before": {"$from": "/last", "$default": null}, "n": {"$from": "/iteration"}},
       "set": {"seen": {"$from": "/nodes/try/result/n"}}}]},
    {"id": "ask", "kind": "human", "form": {"title": "Fine?", "approve": {}}},
    {"id": "rest", "kind": "wait", "seconds": 60},
    {"id": "nudge", "kind": "wait", "signal": "go"},
    {"id": "sub", "kind": "graph", "tool": "other", "arguments": {}},
    {"id": "help", "kind": "call_agent", "tool": "helpDesk", "arguments": {"message": "hi"}},
    {"id": "done", "kind": "end", "output": {"fan": {"$from": "/tool_outputs/fan"}, "sum": {"$from": "/nodes/each/result"},
      "seen": {"$from": "/state/seen"}, "last": {"$from": "/state/last_agent_output/message"}, "asked": {"$from": "/nodes/ask/result/title"}}}
  ]}`

// A graph with a node of every kind comes to its end, with one record of each node.
func TestEveryKind(t *testing.T) {
	t.Parallel()

	p := newPlay(t, everything)
	out, failure := p.run()
	require.Nil(t, failure)
	require.JSONEq(t, `{"fan":{"left":{"x":1},"right":2},"sum":6,"seen":2,"last":"hi","asked":"Fine?"}`, out)
	require.Equal(t, time.Minute, p.slept)
	require.Equal(t, graph.Skipped, p.data.Records["skipped"].Status)
	require.NotContains(t, p.data.Records, "never")
	require.Equal(t, 2, p.most)
	kinds := map[flow.Kind]bool{}
	for _, n := range p.shape.Nodes {
		kinds[n.Kind] = true
	}
	require.Len(t, kinds, len(flow.Kinds()), "every kind is in it")
}
