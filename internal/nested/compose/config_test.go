package compose_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/nested/compose"
	"github.com/toolcrib/toolcrib/tool"
)

const closed = `{"type":"object","additionalProperties":false,"properties":{"sku":{"type":"string"},"n":{"type":"integer"}}}`

func TestCheckConfigAccepts(t *testing.T) {
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
		require.NoError(t, compose.CheckConfig(json.RawMessage(raw), json.RawMessage(closed)), raw)
	}
}

func TestCheckConfigRefuses(t *testing.T) {
	t.Parallel()

	arguments := func(s string) string {
		return `{"steps":[{"id":"one","tool":"find"},{"id":"two","tool":"find","arguments":` + s +
			`},{"id":"three","tool":"find"}]}`
	}
	deep := strings.Repeat(`{"x":`, compose.MaxDepth) + `1` + strings.Repeat(`}`, compose.MaxDepth)
	many := `[` + strings.Repeat(`{"$from":"/input/sku"},`, compose.MaxFrom) + `{"$from":"/input/sku"}]`
	var steps []string
	for i := range compose.MaxSteps + 1 {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","tool":"find"}`, i))
	}
	tests := []struct{ name, raw, path, want string }{
		{"Empty", ``, "/steps", "no steps"},
		{"NoSteps", `{"steps":[]}`, "/steps", "want 1 to 50"},
		{"TooManySteps", `{"steps":[` + strings.Join(steps, ",") + `]}`, "/steps", "51 steps"},
		{"TooLarge", `{"steps":[{"id":"` + strings.Repeat("x", compose.MaxConfig) + `"}]}`, "", "at most 262144"},
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
		{"TooDeep", arguments(deep), "/steps/1/arguments" + strings.Repeat("/x", compose.MaxDepth), "deeper"},
		{
			"TooManyPlaces", arguments(`{"x":` + many + `}`), fmt.Sprintf("/steps/1/arguments/x/%d/$from", compose.MaxFrom),
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

			err := compose.CheckConfig(json.RawMessage(tt.raw), json.RawMessage(closed))
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.Contains(t, e.Msg, tt.want)
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{
		`{"steps":[{"id":"one","tool":"find"}]}`,
		`{"steps":[{"id":"one","tool":"find","arguments":{"x":{"$from":"/input/a/0","$default":[]}}},{"id":"two","tool":"b@1","arguments":{"y":[{"$literal":{}}]}}],"output":{"$from":"/steps/one"}}`,
		`{"steps":[{}]}`, `[`,
	} {
		f.Add(seed, `{"a":[1]}`)
	}
	f.Fuzz(func(t *testing.T, raw, input string) {
		c, err := compose.ParseConfig(json.RawMessage(raw))
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		if !json.Valid([]byte(input)) {
			return
		}
		state := compose.State{Input: json.RawMessage(input)}
		for i := range c.Steps {
			got, err := c.Arguments(i, state)
			if err != nil {
				require.Equal(t, tool.Invalid, tool.KindOf(err))
				continue
			}
			require.True(t, json.Valid(got), "%s", got)
		}
	})
}
