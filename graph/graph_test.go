package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// Whatever the order in which calls end, and wherever another driver takes over, a run comes to
// the same end with the same records, and no call is made twice.
func TestDriversAgree(t *testing.T) {
	t.Parallel()

	whole := newPlay(t, everything)
	want, failure := whole.run()
	require.Nil(t, failure)
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(t, everything)
		p.cut = func() bool { return rapid.IntRange(0, 9).Draw(t, "cut") == 0 }
		p.choose = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "ends") }
		got, failure := p.run()
		require.Nil(t, failure)
		require.Equal(t, want, got)
		require.ElementsMatch(t, whole.made, p.made)
		require.Equal(t, whole.data.Records, p.data.Records)
	})
}

func nodes(list string) string { return `{"nodes":[` + list + `]}` }

// Failures: what a node's on_error, its retry and the graph's on_error make of them.
func TestFailures(t *testing.T) {
	t.Parallel()

	fails := func(json.RawMessage) *graph.Call { return bad(tool.Unavailable, "down") }
	for name, tt := range map[string]struct {
		graph, out string
		failure    string
		made       []string
	}{
		"Fails":     {nodes(`{"id":"a","kind":"tool","tool":"x"},{"id":"b","kind":"tool","tool":"x"}`), "", "down", []string{"a#0"}},
		"Continues": {nodes(`{"id":"a","kind":"tool","tool":"x","on_error":"continue"},{"id":"b","kind":"tool","tool":"x","arguments":{"why":{"$from":"/nodes/a/error/message"}}}`), `{"why":"down"}`, "", []string{"a#0", "b#0"}},
		"GoesTo": {
			nodes(`{"id":"a","kind":"tool","tool":"x","on_error":"mend"},{"id":"b","kind":"end"},{"id":"mend","kind":"tool","tool":"x","arguments":{"node":{"$from":"/error/node"},"kind":{"$from":"/error/kind"}}}`),
			`{"node":"a","kind":"unavailable"}`, "",
			[]string{"a#0", "mend#0"},
		},
		"GraphsOnError": {
			`{"on_error":"tell","nodes":[{"id":"p","kind":"parallel","branches":[{"id":"one","nodes":[{"id":"a","kind":"tool","tool":"x"}]}]},{"id":"b","kind":"end"},{"id":"tell","kind":"tool","tool":"x","arguments":{"at":{"$from":"/error/node"}}}]}`,
			`{"at":"p/one/a"}`, "",
			[]string{"p/one/a#0", "tell#0"},
		},
		"Retries": {nodes(`{"id":"a","kind":"tool","tool":"x","retry":{"attempts":3,"delay_s":2}}`), "", "down", []string{"a#0", "a#1", "a#2"}},
		"RetriesNotThat": {
			nodes(`{"id":"a","kind":"tool","tool":"x","retry":{"attempts":3,"on":["timeout"]}}`), "", "down", []string{"a#0"},
		},
		"OutputSchema": {
			nodes(`{"id":"b","kind":"tool","tool":"x","output_schema":{"type":"array"},"retry":{"attempts":2}}`), "", "does not match", []string{"b#0", "b#1"},
		},
		"ConditionFails": {nodes(`{"id":"b","kind":"tool","tool":"x","when":"input.missing > 1"}`), "", "no such key", nil},
		"Unbound":        {nodes(`{"id":"b","kind":"tool","tool":"x","arguments":{"x":{"$from":"/input/none"}}}`), "", "nothing at /input/none", nil},
		"StateSchema": {
			`{"state_schema":{"properties":{"n":{"type":"integer"}}},"nodes":[{"id":"b","kind":"tool","tool":"x","set":{"n":"seven"}}]}`,
			"", "state_schema",
			[]string{"b#0"},
		},
		"LoopGoesOn": {
			nodes(`{"id":"l","kind":"loop","while":"true","max":2,"nodes":[{"id":"b","kind":"tool","tool":"x"}]}`), "",
			"2 iterations",
			[]string{"l/0/b#0", "l/1/b#0"},
		},
		"StepLimit": {
			`{"limits":{"steps":2},"nodes":[{"id":"b","kind":"tool","tool":"x"},{"id":"c","kind":"tool","tool":"x"},{"id":"d","kind":"tool","tool":"x"}]}`,
			"", "limit of 2 steps",
			[]string{"b#0", "c#0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlay(t, tt.graph)
			p.calls["a"] = fails
			out, failure := p.run()
			require.Equal(t, tt.made, p.made)
			if tt.failure != "" {
				require.NotNil(t, failure)
				require.Contains(t, failure.Msg, tt.failure)
				require.Equal(t, graph.Failed, p.data.Records[""].Status)
				return
			}
			require.Nil(t, failure)
			require.JSONEq(t, tt.out, out)
		})
	}
}

const mapOf = `{"nodes":[{"id":"each","kind":"map","over":{"$from":"/input/items"},"concurrency":%d,"tolerate":%d,"nodes":[
	{"id":"one","kind":"tool","tool":"x","arguments":{"i":{"$from":"/item"}}%s}]}]}`

func numbers(n int) json.RawMessage {
	items := make([]string, n)
	for i := range items {
		items[i] = strconv.Itoa(i)
	}
	return json.RawMessage(`{"items":[` + strings.Join(items, ",") + `]}`)
}

// failing fails for the given items, as often as said.
func failing(items map[string]int) func(json.RawMessage) *graph.Call {
	left := items
	return func(arguments json.RawMessage) *graph.Call {
		if left[string(arguments)] > 0 {
			left[string(arguments)]--
			return bad(tool.Unavailable, "down for "+string(arguments))
		}
		return echo(arguments)
	}
}

// argoproj/argo-workflows#9190, #10137: a retry of a fan-out makes what failed, and only that,
// and the others run as many at once as before.
func TestRetryMakesOnlyWhatFailed(t *testing.T) {
	t.Parallel()

	p := newPlay(t, fmt.Sprintf(mapOf, 4, 0, `,"retry":{"attempts":3}`))
	p.data.Input = numbers(12)
	p.calls["one"] = failing(map[string]int{`{"i":3}`: 2, `{"i":7}`: 1})
	out, failure := p.run()
	require.Nil(t, failure)
	require.Equal(t, 12, strings.Count(out, `"i"`))
	require.Len(t, p.made, 12+3)
	require.Contains(t, p.made, "each/3/one#2")
	require.Contains(t, p.made, "each/7/one#1")
	require.Equal(t, 4, p.most)
}

// kestra-io/kestra#1897, #2976: items are no lockstep batches, and never more than the limit.
func TestMapIsNoLockstep(t *testing.T) {
	t.Parallel()

	p := newPlay(t, fmt.Sprintf(mapOf, 3, 0, ""))
	p.data.Input = numbers(30)
	slowest := true
	p.choose = func(n int) int { // The first item's steps end last.
		if slowest && n > 1 {
			return n - 1
		}
		return 0
	}
	out, failure := p.run()
	require.Nil(t, failure)
	require.Equal(t, 3, p.most)
	require.Equal(t, 30, strings.Count(out, `"i"`))
	first := slices.Index(p.made, "each/0/one#0")
	require.Greater(t, first, 20, "others overtake a slow item: %v", p.made)
}

// langgenius/dify#31105: which items failed is named, with their causes.
func TestFailedItemsAreNamed(t *testing.T) {
	t.Parallel()

	p := newPlay(t, fmt.Sprintf(mapOf, 5, 2, ""))
	p.data.Input = numbers(10)
	p.calls["one"] = failing(map[string]int{`{"i":3}`: 9, `{"i":7}`: 9})
	out, failure := p.run()
	require.Nil(t, failure)
	require.Equal(t, 8, strings.Count(out, `"i"`))
	require.Contains(t, p.data.Records["each"].Text, `8 of 10 items succeeded. Failed: item 3: down for {"i":3}; item 7:`)
	require.Equal(t, graph.Failed, p.data.Records["each/3"].Status)
	require.JSONEq(t, `3`, string(p.data.Records["each/3"].Item))

	p = newPlay(t, fmt.Sprintf(mapOf, 5, 1, ""))
	p.data.Input = numbers(10)
	p.calls["one"] = failing(map[string]int{`{"i":3}`: 9, `{"i":7}`: 9})
	_, failure = p.run()
	require.NotNil(t, failure)
	require.Contains(t, failure.Msg, `2 of 10 items failed, and 1 may: item 3: down for {"i":3}; item 7: down`)
	require.Equal(t, "each/7/one", failure.Node)
}

// Netflix/conductor#1957: a fan-out of nothing completes at once.
func TestEmptyMap(t *testing.T) {
	t.Parallel()

	p := newPlay(t, fmt.Sprintf(mapOf, 5, 0, ""))
	p.data.Input = numbers(0)
	out, failure := p.run()
	require.Nil(t, failure)
	require.JSONEq(t, `[]`, out)
	require.Empty(t, p.made)
}

// windmill-labs/windmill#9028, #4956: a loop does not swallow a failure, and another driver goes
// on in the iteration that was reached.
func TestLoopFails(t *testing.T) {
	t.Parallel()

	const raw = `{"nodes":[{"id":"l","kind":"loop","while":"iteration < 5","max":9,"nodes":[
		{"id":"b","kind":"tool","tool":"x","arguments":{"n":{"$from":"/iteration"}}}]}]}`
	p := newPlay(t, raw)
	p.calls["b"] = failing(map[string]int{`{"n":3}`: 1})
	p.cut = func() bool { return true } // At every step.
	_, failure := p.run()
	require.NotNil(t, failure)
	require.Contains(t, failure.Msg, `iteration 3: down for {"n":3}`)
	require.Equal(t, []string{"l/0/b#0", "l/1/b#0", "l/2/b#0", "l/3/b#0"}, p.made)
}

// windmill-labs/windmill#8889: a condition that fails is a failure like any other, which the
// handler gets.
func TestConditionsFailureIsHandled(t *testing.T) {
	t.Parallel()

	p := newPlay(t, `{"on_error":"tell","nodes":[{"id":"a","kind":"branch","cases":[{"when":"input.x > 1","next":"b"}],"default":"b"},
		{"id":"b","kind":"end"},{"id":"tell","kind":"tool","tool":"x","arguments":{"why":{"$from":"/error/message"}}}]}`)
	out, failure := p.run()
	require.Nil(t, failure)
	require.Contains(t, out, "no such key")
}

// windmill-labs/windmill#4043: a failure is the same in parallel and in sequence.
func TestFailureIsTheSameInParallel(t *testing.T) {
	t.Parallel()

	var ends []string
	for _, concurrency := range []int{1, 5} {
		p := newPlay(t, fmt.Sprintf(mapOf, concurrency, 0, ""))
		p.data.Input = numbers(5)
		p.calls["one"] = failing(map[string]int{`{"i":0}`: 1})
		_, failure := p.run()
		require.NotNil(t, failure)
		ends = append(ends, failure.Node+": "+failure.Msg)
	}
	require.Equal(t, ends[0], ends[1])
}

// n8n-io/n8n#13121, #23670: an inner loop begins anew in each item and iteration.
func TestInnerLoopBeginsAnew(t *testing.T) {
	t.Parallel()

	p := newPlay(t, `{"nodes":[{"id":"each","kind":"map","over":[1,2],"nodes":[
		{"id":"l","kind":"loop","while":"iteration < 2","max":5,"nodes":[
			{"id":"b","kind":"tool","tool":"x","arguments":{"item":{"$from":"/item"},"n":{"$from":"/iteration"},"last":{"$from":"/last/n","$default":"none"}}}]}]}]}`)
	out, failure := p.run()
	require.Nil(t, failure)
	require.JSONEq(t, `[{"item":1,"n":1,"last":0},{"item":2,"n":1,"last":0}]`, out)
	require.JSONEq(t, `{"item":2,"n":0,"last":"none"}`, string(p.data.Records["each/1/l/0/b"].Result))
}

// Netflix/conductor#1767: what a fan-out of thousands costs does not grow with their square.
func TestLargeMap(t *testing.T) {
	t.Parallel()

	p := newPlay(t, fmt.Sprintf(mapOf, 50, 3, ""))
	p.data.Input = numbers(4000)
	p.calls["one"] = failing(map[string]int{`{"i":3}`: 9, `{"i":3999}`: 9})
	start := time.Now()
	_, failure := p.run()
	require.Nil(t, failure)
	require.Equal(t, 50, p.most)
	require.Contains(t, p.data.Records["each"].Text, "3998 of 4000")
	t.Logf("4000 items in %s", time.Since(start))
}

// State of a branch or item is its own; that of a loop is the graph's.
func TestStateOfBodies(t *testing.T) {
	t.Parallel()

	p := newPlay(t, `{"state":{"n":0},"nodes":[
		{"id":"p","kind":"parallel","branches":[{"id":"x","nodes":[{"id":"a","kind":"start","set":{"n":1}},{"id":"b","kind":"tool","tool":"x","arguments":{"n":{"$from":"/state/n"}}}]},
			{"id":"y","nodes":[{"id":"c","kind":"tool","tool":"x","arguments":{"n":{"$from":"/state/n"}}}]}], "set":{"sum":{"$from":"/nodes/p/result"}}},
		{"id":"l","kind":"loop","while":"state.n < 3","max":5,"nodes":[{"id":"d","kind":"tool","tool":"x","arguments":{"n":{"$from":"/iteration"}}, "set":{"n":{"$from":"/nodes/d/result/n"}}}]}
	],"output":{"$from":"/state"}}`)
	p.calls["d"] = func(raw json.RawMessage) *graph.Call {
		var in struct{ N int }
		require.NoError(t, json.Unmarshal(raw, &in))
		return ok(fmt.Sprintf(`{"n":%d}`, in.N+1))
	}
	out, failure := p.run()
	require.Nil(t, failure)
	require.JSONEq(t, `{"n":3,"sum":{"x":{"n":1},"y":{"n":0}}}`, out)
}

// A run that is stopped cancels what is in progress, and begins nothing.
func TestStop(t *testing.T) {
	t.Parallel()

	g, err := graph.Parse(json.RawMessage(fmt.Sprintf(mapOf, 3, 0, "")), nil)
	require.NoError(t, err)
	m := flow.NewMachine(g.Shape(), flow.State{})
	start, _ := m.Next()
	m.Evaluated(start[0].Frame, flow.Evaluated{Count: 9})
	_, _ = m.Next()
	start, _ = m.Next()
	require.Empty(t, start)
	require.Equal(t, 3, m.Flying())
	m.Stop(flow.Failure{Kind: tool.Cancelled, Msg: "enough"})
	start, cancel := m.Next()
	require.Empty(t, start)
	require.Len(t, cancel, 3)
	for _, frame := range cancel {
		m.Called(frame, flow.Called{}, 1)
	}
	start, cancel = m.Next()
	require.Empty(t, cancel)
	require.Len(t, start, 1)
	require.Equal(t, "enough", start[0].Failure.Msg)
	m.Evaluated("", flow.Evaluated{})
	over, failure := m.Over()
	require.True(t, over)
	require.Equal(t, tool.Cancelled, failure.Kind)
	require.Equal(t, 3, m.State().Calls)
}

const oneTool = `{"id":"x","kind":"tool","tool":"t"}`

var refusals = map[string]struct{ raw, path, want string }{
	"Empty":       {``, "/nodes", "needs one"},
	"NoNodes":     {`{"nodes":[]}`, "/nodes", "want one"},
	"Unknown":     {`{"nodes":[{"id":"x","kind":"tool","tol":"t"}]}`, "/nodes/0/tol", "tool"},
	"Kind":        {nodes(`{"id":"x","kind":"goto"}`), "/nodes/0/kind", "want one of start"},
	"ID":          {nodes(`{"id":"a b","kind":"start"}`), "/nodes/0/id", "want a letter"},
	"Twice":       {nodes(oneTool + `,{"id":"m","kind":"map","over":[],"nodes":[` + oneTool + `]}`), "/nodes/1/nodes/0/id", "unique"},
	"WrongField":  {nodes(`{"id":"x","kind":"start","tool":"t"}`), "/nodes/0/tool", "has no tool"},
	"NoTool":      {nodes(`{"id":"x","kind":"tool"}`), "/nodes/0/tool", "needs a tool"},
	"NoDefault":   {nodes(`{"id":"x","kind":"branch","cases":[{"when":"true","next":"y"}]},{"id":"y","kind":"end"}`), "/nodes/0/default", "needs a default"},
	"NoMax":       {nodes(`{"id":"x","kind":"loop","while":"true","nodes":[` + oneTool[:7] + `1","kind":"start"}]}`), "/nodes/0/max", "iterations"},
	"Next":        {nodes(`{"id":"x","kind":"start","next":"z"}`), "/nodes/0/next", "no node"},
	"OtherBody":   {nodes(`{"id":"m","kind":"map","over":[],"nodes":[{"id":"i","kind":"start","next":"e"}]},{"id":"e","kind":"end"}`), "/nodes/0/nodes/0/next", "another body"},
	"Cycle":       {nodes(`{"id":"a","kind":"start"},{"id":"b","kind":"start","next":"a"}`), "/nodes/1", "no cycles"},
	"Unreachable": {nodes(`{"id":"a","kind":"end"},{"id":"b","kind":"end"}`), "/nodes/1", "no node leads"},
	"CEL":         {nodes(`{"id":"a","kind":"start","when":"input.x >"}`), "/nodes/0/when", "line 1"},
	"NotBool":     {nodes(`{"id":"a","kind":"start","when":"1 + 1"}`), "/nodes/0/when", "want true or false"},
	"AllNodes":    {nodes(`{"id":"a","kind":"start","when":"size(nodes) > 1"}`), "/nodes/0/when", "as a whole"},
	"NoSuchNode":  {nodes(`{"id":"a","kind":"start","when":"nodes.b.is_error"}`), "/nodes/0/when", "no node"},
	"Later":       {nodes(`{"id":"a","kind":"tool","tool":"t","arguments":{"x":{"$from":"/nodes/b/text"}}},{"id":"b","kind":"end"}`), "/nodes/0/arguments/x/$from", "never runs before"},
	"Itself":      {nodes(`{"id":"a","kind":"tool","tool":"t","arguments":{"x":{"$from":"/nodes/a/text"}}}`), "/nodes/0/arguments/x/$from", "itself"},
	"OtherCase": {
		nodes(`{"id":"j","kind":"branch","cases":[{"when":"true","next":"a"}],"default":"b"},{"id":"a","kind":"end"},{"id":"b","kind":"tool","tool":"t","arguments":{"x":{"$from":"/nodes/a/text"}}}`),
		"/nodes/2/arguments/x/$from", "never runs before",
	},
	"ClosedBody": {nodes(`{"id":"m","kind":"map","over":[],"nodes":[` + oneTool + `]},{"id":"b","kind":"tool","tool":"t","arguments":{"x":{"$from":"/nodes/x/text"}}}`), "/nodes/1/arguments/x/$from", "closed here"},
	"Around":     {nodes(`{"id":"m","kind":"map","over":[],"nodes":[{"id":"b","kind":"tool","tool":"t","arguments":{"x":{"$from":"/nodes/m/text"}}}]}`), "/nodes/0/nodes/0/arguments/x/$from", "around it"},
	"NoItem":     {nodes(`{"id":"a","kind":"tool","tool":"t","arguments":{"x":{"$from":"/item"}}}`), "/nodes/0/arguments/x/$from", "only in the body of a map"},
	"Root":       {nodes(`{"id":"a","kind":"tool","tool":"t","arguments":{"x":{"$from":"/steps/a"}}}`), "/nodes/0/arguments/x/$from", "is not a reference"},
	"OnError":    {`{"on_error":"z","nodes":[` + oneTool + `]}`, "/on_error", "no node"},
	"Retry":      {nodes(`{"id":"a","kind":"tool","tool":"t","retry":{"attempts":1}}`), "/nodes/0/retry/attempts", "2 to 20"},
	"Wait":       {nodes(`{"id":"a","kind":"wait","seconds":1,"signal":"go"}`), "/nodes/0/seconds", "exactly one"},
	"Schema":     {nodes(`{"id":"a","kind":"tool","tool":"t","output_schema":{"type":"nothing"}}`), "/nodes/0/output_schema", ""},
	"StateForm":  {`{"state":[1],"nodes":[` + oneTool + `]}`, "/state", "want an object"},
}

// Every fault of a definition is reported, at its place.
func TestParseRefuses(t *testing.T) {
	t.Parallel()

	for name, tt := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := graph.Parse(json.RawMessage(tt.raw), nil)
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind, "%v", err)
			require.Equal(t, tt.path, e.Path, "%v", err)
			require.Contains(t, e.Msg, tt.want)
		})
	}
}

// All faults are reported at once.
func TestParseReportsAllFaults(t *testing.T) {
	t.Parallel()

	_, err := graph.Parse(json.RawMessage(nodes(`{"id":"a","kind":"tool","next":"z"},{"id":"b","kind":"loop","nodes":[{"id":"c","kind":"map"}]}`)), nil)
	var faults graph.Faults
	require.ErrorAs(t, err, &faults)
	var paths []string
	for _, f := range faults {
		paths = append(paths, f.Path)
	}
	require.Equal(t, []string{
		"/nodes/0/tool", "/nodes/1/while", "/nodes/1/max", "/nodes/1/nodes/0/over", "/nodes/1/nodes/0/nodes", "/nodes/0/next",
	}, paths)
	require.Contains(t, err.Error(), "/nodes/1/nodes/0/over")
}

func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add(fmt.Sprintf(mapOf, 2, 1, ""))
	f.Add(`{"nodes":[{}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		g, err := graph.Parse(json.RawMessage(raw), nil)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			return
		}
		_, err = json.Marshal(g.Shape())
		require.NoError(t, err)
		require.NotEmpty(t, g.Shape().First)
	})
}
