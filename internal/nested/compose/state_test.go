package compose_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/nested/compose"
	"github.com/toolcrib/toolcrib/tool"
)

// bound is a composition whose second step has the given arguments.
func bound(t require.TestingT, arguments, output string) *compose.Config {
	raw := `{"steps":[{"id":"order","tool":"find","on_error":"continue"},{"id":"mail","tool":"send","arguments":` +
		arguments + `}]`
	if output != "" {
		raw += `,"output":` + output
	}
	c, err := compose.ParseConfig(json.RawMessage(raw + "}"))
	require.NoError(t, err)
	return c
}

func answered(structured string, texts ...string) compose.StepResult {
	r := &tool.Result{Structured: json.RawMessage(structured)}
	for _, s := range texts {
		r.Content = append(r.Content, tool.Text(s))
	}
	return compose.StepResult{Result: r}
}

func TestArgumentsAreBound(t *testing.T) {
	t.Parallel()

	order := answered(`{"id":9007199254740993,"items":[{"sku":"A","price":1.50}],"note":"<b>&</b>","gone":null}`,
		"Order found.", "Two lines.")
	no := compose.StepResult{Result: tool.ErrorResult("no such order")}
	failed := compose.StepResult{Kind: tool.Unavailable, Msg: "the shop does not answer"}
	tests := []struct {
		name, arguments string
		step            compose.StepResult
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

			got, err := bound(t, tt.arguments, "").Arguments(1, compose.State{
				Input: json.RawMessage(`{"sku":"X","list":[1,2]}`), Steps: map[string]compose.StepResult{"order": tt.step},
			})
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
	got, err := bound(t, `{}`, "").Arguments(0, compose.State{})
	require.NoError(t, err)
	require.Equal(t, `{}`, string(got), "a step without arguments has an empty object")
}

func TestNothingThereIsToldPrecisely(t *testing.T) {
	t.Parallel()

	const arguments = `{"to":{"name":{"$from":"/steps/order/result/customer/name"}}}`
	tests := []struct {
		name  string
		steps map[string]compose.StepResult
		want  string
	}{
		{
			"NoSuchMember",
			map[string]compose.StepResult{"order": answered(`{}`)},
			`step "mail", /to/name: there is nothing at /steps/order/result/customer/name`,
		},
		{
			"WordsAlone",
			map[string]compose.StepResult{"order": answered(``, "found")},
			`customer/name: step "order" returned text only, at /steps/order/text`,
		},
		{
			"AnsweredNo",
			map[string]compose.StepResult{"order": {Result: tool.ErrorResult("no")}},
			`customer/name: step "order" returned an error`,
		},
		{
			"Failed",
			map[string]compose.StepResult{"order": {Kind: tool.Denied, Msg: "not yours"}},
			`customer/name: step "order" failed (denied): not yours`,
		},
		{"NotRun", nil, `customer/name: step "order" was not run`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, err := bound(t, arguments, "").Arguments(1, compose.State{Steps: tt.steps})
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, "/steps/1/arguments/to/name", e.Path)
			require.Contains(t, e.Msg, tt.want)
		})
	}
	_, err := bound(t, `{}`, `{"x":{"$from":"/input/y"}}`).Output(compose.State{})
	require.ErrorContains(t, err, "the output, /x: there is nothing at /input/y")
}

func TestOutput(t *testing.T) {
	t.Parallel()

	state := func(last compose.StepResult) compose.State {
		return compose.State{Steps: map[string]compose.StepResult{"order": answered(`{"n":1}`), "mail": last}}
	}
	tests := []struct {
		name, output string
		last         compose.StepResult
		want         string
	}{
		{"Bound", `{"order":{"$from":"/steps/order/result/n"}}`, answered(`2`), `{"order":1}`},
		{"LastResult", ``, answered(`{"sent":true}`, "sent"), `{"sent":true}`},
		{"LastText", ``, answered(``, "sent"), `"sent"`},
		{"NoAnswer", ``, compose.StepResult{Kind: tool.Timeout}, `null`},
		{"Null", `null`, answered(`2`), `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := bound(t, `{}`, tt.output).Output(state(tt.last))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

func TestArgumentsAreBounded(t *testing.T) {
	t.Parallel()

	c := bound(t, `{"a":{"$from":"/input/x"},"b":{"$from":"/input/x"}}`, "")
	_, err := c.Arguments(1, compose.State{
		Input: json.RawMessage(`{"x":"` + strings.Repeat("x", compose.MaxBound/2) + `"}`),
	})
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
		state := compose.State{
			Input: json.RawMessage(`{"secret":"s","v":` + string(v) + `}`),
			Steps: map[string]compose.StepResult{"order": {Result: tool.JSONResult(v)}},
		}
		got, err := bound(t, `{"x":[{"$from":"/steps/order/result"}],"y":{"$from":"/input/v"}}`, "").Arguments(1, state)
		require.NoError(t, err)
		var compact map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got, &compact))
		require.JSONEq(t, "["+string(v)+"]", string(compact["x"]))
		require.Equal(t, string(v), string(compact["y"]))

		literal, err := bound(t, `{"x":{"$literal":`+string(v)+`}}`, "").Arguments(1, compose.State{})
		require.NoError(t, err)
		require.Equal(t, `{"x":`+string(v)+`}`, string(literal))
	})
}
