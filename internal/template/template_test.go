package template_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/template"
	"github.com/toolcrib/toolcrib/tool"
)

func TestRenderPutsArgumentsIn(t *testing.T) {
	t.Parallel()

	const arguments = `{"name":"Ada","n":9007199254740993,"x":1.0,"none":null,"order":{"b": 1, "a": ["x", {"deep":"é"}]},"a/b":"slash","":"nameless","{{n}}":"odd"}`
	tests := []struct{ name, template, want string }{
		{"Literal", "no placeholder", "no placeholder"},
		{"Empty", "", ""},
		{"Name", "Dear {{name}},", "Dear Ada,"},
		{"Space", "Dear {{ name\t}},", "Dear Ada,"},
		{"Neighbours", "{{name}}{{name}}", "AdaAda"},
		{"NumbersKeepTheirSpelling", "{{n}} {{x}}", "9007199254740993 1.0"},
		{"Null", "{{none}}", "null"},
		{"Missing", "[{{absent}}]", "[]"},
		{"Object", "{{order}}", `{"b":1,"a":["x",{"deep":"é"}]}`},
		{"Pointer", "{{/order/a/1/deep}}", "é"},
		{"PointerToNothing", "[{{/order/a/2}}{{/order/a/-}}{{/name/x}}]", "[]"},
		{"EscapedToken", "{{/a~1b}}", "slash"},
		{"NameWithSlash", "{{a/b}}", "slash"},
		{"NamelessByPointer", "{{/}}", "nameless"},
		{"EscapedBraces", `\{{name}}`, "{{name}}"},
		{"BackslashThenPlaceholder", `C:\\{{name}}`, `C:\Ada`},
		{"BackslashesThenBraces", `\\\{{name}}`, `\{{name}}`},
		{"BackslashElsewhere", `a\b\\c {{name}}`, `a\b\\c Ada`},
		{"BracesElsewhere", `{"x":{"y":{{x}}}} }}`, `{"x":{"y":1.0}} }}`},
		{"OtherSyntaxIsText", `${name} {%name%} <%=name%> {name}`, `${name} {%name%} <%=name%> {name}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			parsed, err := template.Parse(tt.template)
			require.NoError(t, err)
			got, err := parsed.Render(json.RawMessage(arguments))
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestRenderRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()

	parsed, err := template.Parse("{{x}}")
	require.NoError(t, err)
	for _, raw := range []string{"[]", "null", `"x"`, "{", `{"x":1} 2`} {
		_, err := parsed.Render(json.RawMessage(raw))
		require.Equal(t, tool.Invalid, tool.KindOf(err), raw)
	}
	got, err := parsed.Render(nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestCheckSaysWhere(t *testing.T) {
	t.Parallel()

	const closed = `{"type":"object","additionalProperties":false,"properties":{
		"name":{"type":"string"},
		"open":{"type":"object"},
		"order":{"type":"object","additionalProperties":false,"properties":{"id":{},"items":{"type":"array","items":{"type":"object","properties":{"sku":{}},"additionalProperties":false}}}}}}`
	tests := []struct{ name, template, want string }{
		{"NotClosed", "a\né{{name", "line 2, column 2: {{ is not closed"},
		{"NoName", "{{ }}", "line 1, column 1: a placeholder without a name"},
		{"Braces", "{{{name}}}", "line 1, column 1: \"{name\" is no name"},
		{"LineBreak", "{{na\nme}}", "is no name"},
		{"BadPointer", "{{/a~2}}", "neither ~0 nor ~1"},
		{"UnknownName", "{{name}}\n  {{nome}}", `line 2, column 3: the input schema declares no "/nome"`},
		{"UnknownBelow", "{{/order/items/0/price}}", `declares no "/order/items/0/price"`},
		{"TooLong", strings.Repeat("x", template.MaxTemplate+1), "at most 32768"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := template.Check(tt.template, json.RawMessage(closed))
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.ErrorContains(t, err, tt.want)
		})
	}
	for _, fine := range []string{"{{name}}", "{{/order/items/17/sku}}", "{{/open/any/thing}}", "{{/name/0}}"} {
		require.NoError(t, template.Check(fine, json.RawMessage(closed)), fine)
	}
	require.NoError(t, template.Check("{{anything}}", json.RawMessage(`{"type":"object","properties":{"x":{}}}`)),
		"an open schema has room for it")
	require.NoError(t, template.Check("{{anything}}", nil))
}

func TestRenderIsBounded(t *testing.T) {
	t.Parallel()

	parsed, err := template.Parse("{{x}}{{x}}")
	require.NoError(t, err)
	_, err = parsed.Render(json.RawMessage(`{"x":"` + strings.Repeat("x", template.MaxRendered/2) + `"}`))
	require.NoError(t, err)
	_, err = parsed.Render(json.RawMessage(`{"x":"` + strings.Repeat("x", template.MaxRendered/2+1) + `"}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "262144")
}

// Whatever an argument holds stands in the text as it is, and is not read
// again as a template.
func TestArgumentsAreLiteral(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringMatching(`[a-z{ }\n]{0,8}[a-z]`).Filter(func(s string) bool {
			return !strings.Contains(s, "{{")
		}).Draw(t, "before")
		value := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\{}a/]{0,12}`)).Filter(func(s string) bool {
			return strings.ToValidUTF8(s, "") == s
		}).Draw(t, "value")
		arguments, err := json.Marshal(map[string]string{"a": value, "b": "secret"})
		require.NoError(t, err)
		parsed, err := template.Parse(before + "{{a}}!")
		require.NoError(t, err)
		got, err := parsed.Render(arguments)
		require.NoError(t, err)
		require.Equal(t, before+value+"!", got)
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{{name}}", `\{{name}}`, `\\{{/a/0}}`, "{{{a}}}", "{{", "}}", "{{/~1~0}}", "a\n{{ b }}",
	} {
		f.Add(seed, `{"name":"x","a":[1]}`)
	}
	f.Fuzz(func(t *testing.T, text, arguments string) {
		parsed, err := template.Parse(text)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		got, err := parsed.Render(json.RawMessage(arguments))
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		require.LessOrEqual(t, len(got), template.MaxRendered)
		if !strings.Contains(text, "{{") {
			require.Equal(t, text, got)
		}
	})
}
