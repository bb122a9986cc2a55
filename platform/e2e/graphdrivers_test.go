package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
)

// graphDrawer draws graphs whose nodes call tools of every kind, which end in every way.
type graphDrawer struct {
	*rand.Rand
	nodes int
}

func (g *graphDrawer) pick(of ...string) string { return of[g.IntN(len(of))] }

// body draws nodes. What runs beside others never fails, since a failure would stop those where
// they are.
func (g *graphDrawer) body(depth int, beside bool) []map[string]any {
	var nodes []map[string]any
	for range 1 + g.IntN(3) {
		g.nodes++
		n := map[string]any{"id": fmt.Sprint("n", g.nodes)}
		kind := "tool"
		if depth < 2 {
			kind = g.pick("tool", "tool", "parallel", "map", "loop", "branch")
		}
		n["kind"] = kind
		if beside || g.IntN(2) == 0 {
			n["on_error"] = "continue"
		}
		switch kind {
		case "tool":
			n["tool"] = g.pick("pure", "pure", "idempotent", "once", "both", "strict")
			name := n["id"]
			if len(nodes) > 0 && g.IntN(2) == 0 {
				name = map[string]any{"$from": fmt.Sprintf("/nodes/%s/text", nodes[len(nodes)-1]["id"]), "$default": "none"}
			}
			n["arguments"] = map[string]any{"do": g.pick("ok", "ok", "ok", "no", "fail", "flaky", "worse"), "name": name}
			if g.IntN(3) == 0 {
				n["retry"] = map[string]any{"attempts": 2, "delay_s": 0.01}
			}
			if g.IntN(3) == 0 {
				n["set"] = map[string]any{"seen": n["id"]}
			}
			if g.IntN(4) == 0 {
				n["when"] = "!has(state.seen)"
			}
		case "branch":
			delete(n, "on_error")
			g.nodes++
			next := fmt.Sprint("n", g.nodes)
			n["cases"] = []any{map[string]any{"when": "has(state.seen)", "next": next}}
			n["default"] = next
			nodes = append(nodes, n)
			n = map[string]any{"id": next, "kind": "start", "set": map[string]any{"branched": true}}
		case "parallel":
			n["branches"] = []any{
				map[string]any{"id": "l", "nodes": g.body(depth+1, true)},
				map[string]any{"id": "r", "nodes": g.body(depth+1, true)},
			}
		case "map":
			n["over"], n["concurrency"], n["nodes"] = []int{1, 2, 3}, 1+g.IntN(3), g.body(depth+1, true)
		case "loop":
			n["while"], n["max"], n["nodes"] = "iteration < 2", 3, g.body(depth+1, beside)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// masked leaves out the ids that differ from run to run.
func masked(raw json.RawMessage) string { return anyID.ReplaceAllString(string(raw), "ID") }

// graphDid is what the run of a graph left behind.
type graphDid struct {
	Output string
	Error  string
	Nodes  []string
	Calls  []string
	Events []string // Sorted: nodes run beside others.
	Made   map[string]int
}

// publishPlayed publishes tools of every kind, whose calls a player makes.
func (s *site) publishPlayed() {
	s.t.Helper()
	quick := func(x tool.Execution) tool.Execution {
		x.TimeoutSeconds, x.MaxAttempts = 20, 3
		return x
	}
	s.publish("pure", functionTool("pure", quick(tool.Execution{Pure: true})), tool.Policy{})
	s.publish("idempotent", functionTool("idempotent", quick(tool.Execution{Idempotent: true})), tool.Policy{})
	s.publish("once", functionTool("once", quick(tool.Execution{})), tool.Policy{})
	strict := functionTool("strict", quick(tool.Execution{Pure: true}))
	strict.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	s.publish("strict", strict, tool.Policy{})
}

func graphDrivenBy(t *testing.T, config string, lane tool.Lane, losses *rand.Rand) graphDid {
	t.Helper()
	s := newSite(t)
	s.publishPlayed()
	both := composition(`{"steps":[
		{"id":"a","tool":"pure","arguments":{"do":"ok","name":{"$from":"/input/name"}}},
		{"id":"b","tool":"once","arguments":{"do":{"$from":"/input/do"},"name":{"$from":"/steps/a/text"}}}]}`, tool.Execution{})
	both.InputSchema = json.RawMessage(`{"type":"object"}`)
	s.publish("both", both, tool.Policy{})
	s.publish("drawn", graphTool(config, tool.Execution{Lane: lane}), tool.Policy{})
	e := &player{tries: map[string]int{}, made: map[string]int{}}
	s.startWith(&losing{Store: s.Store, random: losses}, e, play())
	_, id, result, err := s.toolCall("drawn", `{}`)
	out := graphDid{Made: e.made}
	if err != nil {
		out.Error = tool.AsError(failure.Decode(err)).Msg
	} else {
		out.Output = masked(result.Structured)
	}
	for path, r := range (&everySite{&counter{site: s}}).records(id) {
		out.Nodes = append(out.Nodes, fmt.Sprint(path, " ", r.Kind, " ", r.Status, " ", r.Attempts, " ", r.Case, " ", r.Text,
			" ", masked(r.Result), " ", string(r.State), " ", r.ErrorKind, " ", r.Error))
	}
	for _, c := range s.invocations(id) {
		require.True(t, c.Status.Final(), c.CallID)
		out.Calls = append(out.Calls, fmt.Sprint(c.CallID, " ", c.Slug, " ", c.Status, " ", c.ErrorKind, " ", c.Error))
	}
	for _, kind := range s.kinds(id) {
		if kind != tool.EventStarted {
			out.Events = append(out.Events, string(kind))
		}
	}
	slices.Sort(out.Nodes)
	slices.Sort(out.Calls)
	slices.Sort(out.Events)
	return out
}

// Generated graphs come to the same records, ledger, events and output, whether one process takes
// all their steps or the workflow each, and although answers of the database are lost.
func TestGraphDriversDoTheSame(t *testing.T) {
	t.Parallel()

	for seed := range uint64(*driverScripts) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()

			g := &graphDrawer{Rand: rand.New(rand.NewPCG(seed, 3))}
			raw, err := json.Marshal(map[string]any{"nodes": g.body(0, false)})
			require.NoError(t, err)
			want := graphDrivenBy(t, string(raw), tool.LaneAuto, nil)
			require.NotEmpty(t, want.Nodes)
			require.Equal(t, want, graphDrivenBy(t, string(raw), tool.LaneFast, nil), "in place: %s", raw)
			lost := rand.New(rand.NewPCG(seed, 4))
			require.Equal(t, want, graphDrivenBy(t, string(raw), tool.LaneFast, lost), "with answers that were lost: %s", raw)
		})
	}
}
