package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
)

// drawComposition draws a composition whose steps end in every way, each bound to those before.
func drawComposition(random *rand.Rand) string {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var steps []map[string]any
	for i := range 1 + random.IntN(5) {
		name := map[string]any{"$from": "/input/name"}
		if i > 0 && random.IntN(3) > 0 {
			name = map[string]any{"$from": fmt.Sprintf("/steps/s%d/text", random.IntN(i)), "$default": "none"}
			if random.IntN(4) == 0 {
				name["$from"] = fmt.Sprintf("/steps/s%d/result/missing", random.IntN(i))
			}
		}
		step := map[string]any{
			"id": fmt.Sprint("s", i), "tool": pick("pure", "pure", "idempotent", "once", "strict"),
			"arguments": map[string]any{"do": pick("ok", "ok", "ok", "no", "fail", "flaky", "worse", "halfway"), "name": name},
		}
		if random.IntN(2) == 0 {
			step["on_error"] = "continue"
		}
		steps = append(steps, step)
	}
	output := map[string]any{}
	for i := range steps {
		output[fmt.Sprint("s", i)] = map[string]any{"$from": fmt.Sprintf("/steps/s%d/text", i)}
	}
	raw, err := json.Marshal(map[string]any{"steps": steps, "output": output})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// sequenceDid is what a call of a composition, or of a graph, left behind.
type sequenceDid struct {
	Answer string // The output, or the kind of failure.
	Calls  []string
	Made   map[string]int
}

func sequenceOf(t *testing.T, d tool.Definition) sequenceDid {
	t.Helper()
	s := newSite(t)
	s.publishPlayed()
	s.publish("sequence", d, tool.Policy{})
	e := &player{tries: map[string]int{}, made: map[string]int{}}
	s.startWith(s.Store, e, play())
	_, id, result, err := s.toolCall("sequence", `{"name":"x"}`)
	out := sequenceDid{Made: e.made}
	switch {
	case err != nil:
		out.Answer = string(tool.KindOf(failure.Decode(err)))
	case d.Implementation == tool.Graph:
		out.Answer = string(result.Structured)
	default:
		whole := composedOf(t, result)
		out.Answer = string(whole.Output)
		if whole.Error != nil {
			out.Answer = string(whole.Error.Kind)
		}
	}
	for _, c := range s.invocations(id) {
		if c.ParentID != "" {
			out.Calls = append(out.Calls, fmt.Sprint(c.CallID, " ", c.Slug, " ", string(c.Input), " ", c.Status, " ", c.Attempt,
				" ", c.IsError, " ", c.ErrorKind, " ", c.Error))
		}
	}
	return out
}

// A composition and the graph that it stands for make the same calls, with the same arguments, in the
// same order and with the same ends, and answer the same, whichever driver takes their steps.
func TestCompositionIsAGraph(t *testing.T) {
	t.Parallel()

	for seed := range uint64(*driverScripts) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()

			config := drawComposition(rand.New(rand.NewPCG(seed, 5)))
			g, err := graph.ParseComposition(json.RawMessage(config), nil)
			require.NoError(t, err)
			def, err := g.AsGraph()
			require.NoError(t, err)
			written, err := json.Marshal(def)
			require.NoError(t, err)
			require.NotContains(t, string(written), `"/steps/`)

			visible := tool.Execution{Lane: tool.LaneVisible}
			want := sequenceOf(t, composition(config, visible))
			require.NotEmpty(t, want.Calls)
			if strings.HasPrefix(want.Answer, "{") {
				require.Contains(t, want.Answer, `"s0"`)
			}
			for name, d := range map[string]tool.Definition{
				"composition in place": composition(config, tool.Execution{}),
				"graph, visible":       graphTool(string(written), visible),
				"graph, in place":      graphTool(string(written), tool.Execution{Lane: tool.LaneFast}),
			} {
				require.Equal(t, want, sequenceOf(t, d), "%s: %s", name, config)
			}
		})
	}
}
