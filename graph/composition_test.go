package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/tool"
)

const closed = `{"type":"object","additionalProperties":false,"properties":{"sku":{"type":"string"},"n":{"type":"integer"}}}`

func checkComposition(raw string) error {
	_, err := graph.ParseComposition(json.RawMessage(raw), json.RawMessage(closed))
	return err
}

// argumentsOf binds a step to the calls of those before it.
func argumentsOf(g *graph.Graph, step, input string, calls map[string]graph.Call) (json.RawMessage, error) {
	return g.Arguments(flow.Step{Node: step, Do: flow.PhaseCall}, dataOf(g, input, calls))
}

func dataOf(g *graph.Graph, input string, calls map[string]graph.Call) *graph.Data {
	d := &graph.Data{Input: json.RawMessage(input), Records: map[string]*graph.Record{}}
	for id, call := range calls {
		d.Records[id] = g.StepRecord(id, &call)
	}
	return d
}

func TestCompositionAccepts(t *testing.T) {
	t.Parallel()

	for _, raw := range []string{
		`{"steps":[{"id":"one","tool":"find"}]}`,
		`{"type":"composition","steps":[{"id":"one","tool":"find@^1.2","arguments":{},"on_error":"continue"}]}`,
		`{"steps":[{"id":"one","tool":"find","arguments":{"sku":{"$from":"/input/sku"}}},
			{"id":"two","tool":"find","arguments":{"all":[1.0,{"$from":"/steps/one"},{"x":{"$from":"/steps/one/result/items/0","$default":null}}],"e":{"$from":"/steps/one/is_error"}}}],
			"output":{"text":{"$from":"/steps/two/text"},"why":{"$from":"/steps/one/error/kind","$default":""}}}`,
		`{"steps":[{"id":"one","tool":"find","arguments":{"query":{"$literal":{"$from":"users","$default":1}}}}]}`,
		`{"steps":[{"id":"one","tool":"find","arguments":{"all":{"$from":"/input"}}}]}`,
	} {
		require.NoError(t, checkComposition(raw), raw)
	}
}

func TestCompositionRefuses(t *testing.T) {
	t.Parallel()

	arguments := func(s string) string {
		return `{"steps":[{"id":"one","tool":"find"},{"id":"two","tool":"find","arguments":` + s +
			`},{"id":"three","tool":"find"}]}`
	}
	deep := strings.Repeat(`{"x":`, binding.MaxDepth) + `1` + strings.Repeat(`}`, binding.MaxDepth)
	many := `[` + strings.Repeat(`{"$from":"/input/sku"},`, binding.MaxFrom) + `{"$from":"/input/sku"}]`
	var steps []string
	for i := range graph.MaxSequence + 1 {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","tool":"find"}`, i))
	}
	tests := []struct{ name, raw, path, want string }{
		{"Empty", ``, "/steps", "no steps"},
		{"NoSteps", `{"steps":[]}`, "/steps", "want 1 to 50"},
		{"TooManySteps", `{"steps":[` + strings.Join(steps, ",") + `]}`, "/steps", "51 steps"},
		{"TooLarge", `{"steps":[{"id":"` + strings.Repeat("x", graph.MaxDefinition) + `"}]}`, "", "at most 262144"},
		{"Array", `[]`, "", "array"},
		{"OtherType", `{"type":"task","steps":[{"id":"one","tool":"find"}]}`, "/type", "not composition"},
		{"UnknownMember", `{"steps":[{"id":"one","tool":"find","when":true}]}`, "/steps/0/when", "when"},
		{"NoID", `{"steps":[{"tool":"find"}]}`, "/steps/0/id", "want a letter"},
		{"SameID", `{"steps":[{"id":"one","tool":"find"},{"id":"one","tool":"find"}]}`, "/steps/1/id", `"one" too`},
		{"NoTool", `{"steps":[{"id":"one"}]}`, "/steps/0/tool", "want the tool"},
		{"BadTool", `{"steps":[{"id":"one","tool":"a b"}]}`, "/steps/0/tool", "tool reference"},
		{"OnError", `{"steps":[{"id":"one","tool":"find","on_error":"retry"}]}`, "/steps/0/on_error", "stop or continue"},
		{"ArgumentsNoObject", arguments(`[1]`), "/steps/1/arguments", "want an object"},
		{"FromNoText", arguments(`{"x":{"$from":7}}`), "/steps/1/arguments/x/$from", "JSON Pointer"},
		{"FromNothing", arguments(`{"x":{"$from":""}}`), "/steps/1/arguments/x/$from", "JSON Pointer"},
		{"FromNoPointer", arguments(`{"x":{"$from":"input/x"}}`), "/steps/1/arguments/x/$from", "slash"},
		{"FromElsewhere", arguments(`{"x":[{"$from":"/secrets/x"}]}`), "/steps/1/arguments/x/0/$from", "is not a reference"},
		{"FromAllSteps", arguments(`{"x":{"$from":"/steps"}}`), "/steps/1/arguments/x/$from", "is not a reference"},
		{"FromNoStep", arguments(`{"x":{"$from":"/steps/four/text"}}`), "/steps/1/arguments/x/$from", `no step "four"`},
		{"FromItself", arguments(`{"x":{"$from":"/steps/two/text"}}`), "/steps/1/arguments/x/$from", "which runs later"},
		{"FromLater", arguments(`{"x":{"$from":"/steps/three/text"}}`), "/steps/1/arguments/x/$from", "which runs later"},
		{"FromNoPart", arguments(`{"x":{"$from":"/steps/one/output"}}`), "/steps/1/arguments/x/$from", `no "output"`},
		{
			"FromTwoParts", arguments(`{"x":{"$from":"/steps/one/result text"}}`), "/steps/1/arguments/x/$from",
			`no "result text"`,
		},
		{
			"FromUndeclaredInput", arguments(`{"a/b":{"$from":"/input/price"}}`), "/steps/1/arguments/a~1b/$from",
			`declares no "/price"`,
		},
		{"MoreBesideFrom", arguments(`{"x":{"$from":"/input/sku","y":1}}`), "/steps/1/arguments/x", "allows only $default"},
		{"DefaultAlone", arguments(`{"x":{"$default":1}}`), "/steps/1/arguments/x", "without $from"},
		{"MoreBesideLiteral", arguments(`{"x":{"$literal":1,"y":1}}`), "/steps/1/arguments/x", "stands alone"},
		{"Twice", arguments(`{"x":1,"x":2}`), "/steps/1/arguments", "twice"},
		{"TooDeep", arguments(deep), "/steps/1/arguments" + strings.Repeat("/x", binding.MaxDepth), "deeper"},
		{
			"TooManyPlaces", arguments(`{"x":` + many + `}`), fmt.Sprintf("/steps/1/arguments/x/%d/$from", binding.MaxFrom),
			"more than 200",
		},
		{
			"OutputFromNoStep", `{"steps":[{"id":"one","tool":"find"}],"output":{"$from":"/steps/two"}}`, "/output/$from",
			`no step "two"`,
		},
		{
			"OutputFromUndeclaredInput", `{"steps":[{"id":"one","tool":"find"}],"output":[{"$from":"/input/x"}]}`,
			"/output/0/$from", `declares no "/x"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := checkComposition(tt.raw)
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.Contains(t, e.Msg, tt.want)
		})
	}
}

func FuzzParseComposition(f *testing.F) {
	for _, seed := range []string{
		`{"steps":[{"id":"one","tool":"find"}]}`,
		`{"steps":[{"id":"one","tool":"find","arguments":{"x":{"$from":"/input/a/0","$default":[]}}},{"id":"two","tool":"b@1","arguments":{"y":[{"$literal":{}}]}}],"output":{"$from":"/steps/one"}}`,
		`{"steps":[{}]}`, `[`,
	} {
		f.Add(seed, `{"a":[1]}`)
	}
	f.Fuzz(func(t *testing.T, raw, input string) {
		g, err := graph.ParseComposition(json.RawMessage(raw), nil)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		if !json.Valid([]byte(input)) {
			return
		}
		for _, n := range g.Nodes {
			got, err := argumentsOf(g, n.ID, input, nil)
			if err != nil {
				require.Equal(t, tool.Invalid, tool.KindOf(err))
				continue
			}
			require.True(t, json.Valid(got), "%s", got)
		}
	})
}

// boundStep is a composition whose second step has the given arguments.
func boundStep(t require.TestingT, arguments, output string) *graph.Graph {
	raw := `{"steps":[{"id":"order","tool":"find","on_error":"continue"},{"id":"mail","tool":"send","arguments":` +
		arguments + `}]`
	if output != "" {
		raw += `,"output":` + output
	}
	g, err := graph.ParseComposition(json.RawMessage(raw+"}"), nil)
	require.NoError(t, err)
	return g
}

func answered(structured string, texts ...string) graph.Call {
	r := &tool.Result{Structured: json.RawMessage(structured)}
	for _, s := range texts {
		r.Content = append(r.Content, tool.Text(s))
	}
	return graph.Call{Result: r}
}

func TestStepArgumentsAreBound(t *testing.T) {
	t.Parallel()

	order := answered(`{"id":9007199254740993,"items":[{"sku":"A","price":1.50}],"note":"<b>&</b>","gone":null}`,
		"Order found.", "Two lines.")
	no := graph.Call{Result: tool.ErrorResult("no such order")}
	failed := graph.Call{Kind: tool.Unavailable, Msg: "the shop does not answer"}
	tests := []struct {
		name, arguments string
		step            graph.Call
		want            string
	}{
		{"Literal", `{"a": 1.0, "b": [true, null]}`, order, `{"a": 1.0, "b": [true, null]}`},
		{"Input", `{"sku":{"$from":"/input/sku"}}`, order, `{"sku":"X"}`},
		{"AllInput", `{"all":{"$from":"/input"}}`, order, `{"all":{"sku":"X","list":[1,2]}}`},
		{
			"NumbersKeepTheirDigits",
			`{"id":{"$from":"/steps/order/result/id"},"p":{"$from":"/steps/order/result/items/0/price"}}`, order,
			`{"id":9007199254740993,"p":1.50}`,
		},
		{"Text", `{"t":{"$from":"/steps/order/text"}}`, order, `{"t":"Order found.\nTwo lines."}`},
		{
			"InAList", `{"l":[0,{"$from":"/input/list/1"},{"deep":{"$from":"/input/list"}}]}`, order,
			`{"l":[0,2,{"deep":[1,2]}]}`,
		},
		{"Null", `{"x":{"$from":"/steps/order/result/gone","$default":1}}`, order, `{"x":null}`},
		{"Default", `{"x":{"$from":"/steps/order/result/absent","$default":{"a":[]}}}`, order, `{"x":{"a":[]}}`},
		{
			"NotEscaped", `{"x":{"$from":"/steps/order/result/note"},"<":{"$from":"/input/sku"}}`, order,
			`{"x":"<b>&</b>","<":"X"}`,
		},
		{"LiteralObject", `{"q":{"$literal":{"$from":"users"}}}`, order, `{"q":{"$from":"users"}}`},
		{
			"WholeStep", `{"s":{"$from":"/steps/order"}}`, answered(`7`, "seven"),
			`{"s":{"result":7,"text":"seven","is_error":false}}`,
		},
		{
			"AnsweredNo", `{"no":{"$from":"/steps/order/is_error"},"t":{"$from":"/steps/order/text"}}`, no,
			`{"no":true,"t":"no such order"}`,
		},
		{
			"DidNotAnswer",
			`{"no":{"$from":"/steps/order/is_error"},"k":{"$from":"/steps/order/error/kind"},"t":{"$from":"/steps/order/text"}}`,
			failed, `{"no":true,"k":"unavailable","t":"the shop does not answer"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := argumentsOf(boundStep(t, tt.arguments, ""), "mail", `{"sku":"X","list":[1,2]}`,
				map[string]graph.Call{"order": tt.step})
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
	got, err := argumentsOf(boundStep(t, `{}`, ""), "order", ``, nil)
	require.NoError(t, err)
	require.Equal(t, `{}`, string(got), "a step without arguments has an empty object")
}

func TestNothingThereIsToldPrecisely(t *testing.T) {
	t.Parallel()

	const arguments = `{"to":{"name":{"$from":"/steps/order/result/customer/name"}}}`
	tests := []struct {
		name  string
		steps map[string]graph.Call
		want  string
	}{
		{
			"NoSuchMember",
			map[string]graph.Call{"order": answered(`{}`)},
			`step "mail", /to/name: there is nothing at /steps/order/result/customer/name`,
		},
		{
			"WordsAlone",
			map[string]graph.Call{"order": answered(``, "found")},
			`customer/name: step "order" returned text only, at /steps/order/text`,
		},
		{
			"AnsweredNo",
			map[string]graph.Call{"order": {Result: tool.ErrorResult("no")}},
			`customer/name: step "order" returned an error`,
		},
		{
			"Failed",
			map[string]graph.Call{"order": {Kind: tool.Denied, Msg: "not yours"}},
			`customer/name: step "order" failed (denied): not yours`,
		},
		{"NotRun", nil, `customer/name: step "order" was not run`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, err := argumentsOf(boundStep(t, arguments, ""), "mail", ``, tt.steps)
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, "/steps/1/arguments/to/name", e.Path)
			require.Contains(t, e.Msg, tt.want)
		})
	}
	g := boundStep(t, `{}`, `{"x":{"$from":"/input/y"}}`)
	_, err := g.Output(dataOf(g, ``, nil))
	require.ErrorContains(t, err, "the output, /x: there is nothing at /input/y")
}

func TestCompositionOutput(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, output string
		last         graph.Call
		want         string
	}{
		{"Bound", `{"order":{"$from":"/steps/order/result/n"}}`, answered(`2`), `{"order":1}`},
		{"LastResult", ``, answered(`{"sent":true}`, "sent"), `{"sent":true}`},
		{"LastText", ``, answered(``, "sent"), `"sent"`},
		{"NoAnswer", ``, graph.Call{Kind: tool.Timeout}, `null`},
		{"Null", `null`, answered(`2`), `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			g := boundStep(t, `{}`, tt.output)
			got, err := g.Output(dataOf(g, ``, map[string]graph.Call{"order": answered(`{"n":1}`), "mail": tt.last}))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

func TestStepArgumentsAreBounded(t *testing.T) {
	t.Parallel()

	g := boundStep(t, `{"a":{"$from":"/input/x"},"b":{"$from":"/input/x"}}`, "")
	_, err := argumentsOf(g, "mail", `{"x":"`+strings.Repeat("x", graph.MaxBound/2)+`"}`, nil)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "1048576")
}

// Whatever a step answered comes out where it is bound, byte by byte: it is
// never read as a binding.
func TestWhatIsBoundIsData(t *testing.T) {
	t.Parallel()

	value := rapid.Custom(func(t *rapid.T) json.RawMessage {
		leaf := rapid.OneOf(
			rapid.Just(json.RawMessage(`{"$from":"/input/secret"}`)), rapid.Just(json.RawMessage(`{"$literal":1}`)),
			rapid.Just(json.RawMessage(`null`)), rapid.Just(json.RawMessage(`1.00e2`)),
			rapid.Custom(func(t *rapid.T) json.RawMessage {
				raw, err := json.Marshal(rapid.String().Draw(t, "text"))
				require.NoError(t, err)
				return raw
			}),
		)
		raw := leaf.Draw(t, "leaf")
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			if rapid.Bool().Draw(t, "array") {
				raw = json.RawMessage(`[ ` + string(raw) + `,2]`)
			} else {
				raw = json.RawMessage(`{"b": ` + string(raw) + `,"a":1}`)
			}
		}
		return raw
	})
	rapid.Check(t, func(t *rapid.T) {
		v := value.Draw(t, "value")
		g := boundStep(t, `{"x":[{"$from":"/steps/order/result"}],"y":{"$from":"/input/v"}}`, "")
		got, err := argumentsOf(g, "mail", `{"secret":"s","v":`+string(v)+`}`,
			map[string]graph.Call{"order": {Result: tool.JSONResult(v)}})
		require.NoError(t, err)
		var compact map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got, &compact))
		require.JSONEq(t, "["+string(v)+"]", string(compact["x"]))
		require.Equal(t, string(v), string(compact["y"]))

		literal, err := argumentsOf(boundStep(t, `{"x":{"$literal":`+string(v)+`}}`, ""), "mail", ``, nil)
		require.NoError(t, err)
		require.Equal(t, `{"x":`+string(v)+`}`, string(literal))
	})
}

func TestStepFailure(t *testing.T) {
	t.Parallel()

	g := boundStep(t, `{}`, "")
	err := g.StepFailure(g.StepRecord("b", &graph.Call{Result: tool.ErrorResult("no such order")}))
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, `step "b" returned an error: no such order`)
	err = g.StepFailure(g.StepRecord("b", &graph.Call{Kind: tool.Timeout, Msg: "too slow"}))
	require.Equal(t, tool.Timeout, tool.KindOf(err))
	require.ErrorContains(t, err, `step "b": too slow`)
}

func TestCompositionAsGraph(t *testing.T) {
	t.Parallel()

	g, err := graph.ParseComposition(json.RawMessage(`{"steps":[
		{"id":"order","tool":"find@^1.0","arguments":{"id":{"$from":"/input/steps/0"},"n":1.50}},
		{"id":"mail","tool":"send","on_error":"continue","arguments":{
			"to":[{"$from":"/steps/order/result/to","$default":{"$from":"/steps/order"}}],
			"literal":{"$literal":{"$from":"/steps/order/text"}}}}],
		"output":{"$from":"/steps/mail/is_error"}}`), nil)
	require.NoError(t, err)
	d, err := g.AsGraph()
	require.NoError(t, err)
	written, err := json.Marshal(d)
	require.NoError(t, err)
	require.JSONEq(t, `{"nodes":[
		{"id":"order","kind":"tool","tool":"find@^1.0","arguments":{"id":{"$from":"/input/steps/0"},"n":1.50}},
		{"id":"mail","kind":"tool","tool":"send","on_error":"continue","arguments":{
			"to":[{"$from":"/nodes/order/result/to","$default":{"$from":"/steps/order"}}],
			"literal":{"$literal":{"$from":"/steps/order/text"}}}}],
		"output":{"$from":"/nodes/mail/is_error"}}`, string(written))
	require.Contains(t, string(written), "1.50")
	plain, err := graph.Parse(written, nil)
	require.NoError(t, err)
	same, err := plain.AsGraph()
	require.NoError(t, err)
	require.Equal(t, &plain.Definition, same)
	require.JSONEq(t, `{"$from":"/steps/mail/is_error"}`, string(g.Definition.Output), "the composition stays as it is")
}
