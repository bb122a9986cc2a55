package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

func TestCheckAccepts(t *testing.T) {
	t.Parallel()

	for name, raw := range map[string]string{
		"nothing":                ``,
		"white space":            " \n",
		"a boolean":              `true`,
		"an open object":         `{}`,
		"draft 7":                `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"}}}`,
		"2020-12":                `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"a":{"$anchor":"a"}},"$ref":"#a"}`,
		"recursion":              `{"properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`,
		"an id and a reference":  `{"$id":"https://example.com/order","$defs":{"line":{"$id":"line","type":"string"}},"properties":{"l":{"$ref":"line"}}}`,
		"the meta-schema":        `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`,
		"a dynamic reference":    `{"$dynamicAnchor":"node","properties":{"kids":{"items":{"$dynamicRef":"#node"}}}}`,
		"keywords as properties": `{"type":"object","properties":{"$ref":{"type":"string"},"enum":{"type":"array"},"$schema":{"type":"string"},"pattern":{"type":"string"}}}`,
		"an enum in a default":   `{"default":{"enum":[]}}`,
		"percent in a name":      `{"properties":{"50% off/now~":{"type":"integer"}},"$ref":"#/$defs/a%25b","$defs":{"a%b":{}}}`,
		"words of tomorrow":      `{"x-ui":{"widget":"slider"}}`,
	} {
		require.NoError(t, schema.Check(json.RawMessage(raw)), name)
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()

	var doubling strings.Builder
	doubling.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&doubling, `"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	doubling.WriteString(`"a40":{}}}`)

	tests := []struct{ name, raw, path, text string }{
		{"no JSON", `{"type":`, "", "not JSON"},
		{"two values", `{} {}`, "", "more text"},
		{"a string", `"object"`, "", "expected an object or a boolean"},
		{"too large", `{"description":"` + strings.Repeat("x", 64<<10) + `"}`, "", "64 KiB"},
		{
			"too deep", strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70), strings.Repeat("/not", 64),
			"nested too deeply",
		},
		{"a type that does not exist", `{"properties":{"a":{"type":"text"}}}`, "/properties/a/type", "malformed"},
		{"an empty enum", `{"properties":{"a":{"enum":[]}}}`, "/properties/a/enum", "at least one"},
		{
			"an empty enum behind a reference", `{"$ref":"#/stash/x","stash":{"x":{"enum":[]}}}`, "/stash/x",
			"but this is not a schema",
		},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#"}`, "/$schema", "draft-07"},
		{"a dialect of somebody's own", `{"$schema":"https://example.com/schema"}`, "/$schema", "draft-07"},
		{
			"a dialect within", `{"properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}}`,
			"/properties/a/$schema", "at the top only",
		},
		{"a vocabulary", `{"$vocabulary":{"https://example.com/v":true}}`, "/$vocabulary", "not supported"},
		{"a remote reference", `{"$ref":"https://example.com/s.json"}`, "", "only references within"},
		{"a relative reference", `{"$ref":"other.json"}`, "", "only references within"},
		{"a file", `{"$ref":"file:///etc/passwd"}`, "/$ref", "only references within"},
		{
			"a remote reference behind an id", `{"$id":"https://example.com/a","properties":{"x":{"$ref":"b"}}}`, "",
			"only references within",
		},
		{"a reference to nothing", `{"$ref":"#/$defs/missing"}`, "", "not found"},
		{"a reference to itself", `{"$ref":"#"}`, "", "infinite loop"},
		{
			"a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`, "",
			"infinite loop",
		},
		{"lookahead", `{"pattern":"(?=x)y"}`, "/pattern", "RE2"},
		{"a malformed pattern", `{"patternProperties":{"(":{}}}`, "/patternProperties", "RE2"},
		{"a pattern that explodes", `{"pattern":"((a{90}){90}){90}"}`, "/pattern", "repeat count"},
		{"a pattern of repeats", `{"pattern":"(x+x+){500}y{900}[a-z]{900}(ab){1000}"}`, "/pattern", "expand too far"},
		{"a long pattern", `{"pattern":"` + strings.Repeat("a", 2000) + `"}`, "/pattern", "longer than"},
		{"a number beyond reason", `{"minimum":1e9999999}`, "/minimum", "out of range"},
		{"a length beyond reason", `{"maxLength":1e30}`, "/maxLength", "at most"},
		{"references that double", doubling.String(), "", "expand too far"},
		{
			"dynamic references among ids", `{"$defs":{"a":{"$id":"a","$dynamicAnchor":"x"}},"$dynamicRef":"a#x"}`, "",
			"dynamic references",
		},
		{"a negative length", `{"minLength":-1}`, "/minLength", "malformed"},
		{"properties that are no object", `{"properties":[]}`, "/properties", "malformed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := schema.Check(json.RawMessage(tt.raw))
			require.Error(t, err)
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path, e.Msg)
			require.Contains(t, e.Msg, tt.text)
			require.Less(t, len(e.Msg), 500)
		})
	}
}

func TestCheckInput(t *testing.T) {
	t.Parallel()

	require.NoError(t, schema.CheckInput(nil))
	require.NoError(t, schema.CheckInput(json.RawMessage(`{"type":"object"}`)))
	for _, raw := range []string{
		`{}`, `true`, `{"type":"array"}`, `{"type":["object","null"]}`, `{"anyOf":[{"type":"object"}]}`,
	} {
		require.Error(t, schema.CheckInput(json.RawMessage(raw)), raw)
	}
}

// A validator that visits each subtree once for every way that leads to it takes
// 2^60 steps here.
func TestValidateVisitsSubtreesOnce(t *testing.T) {
	t.Parallel()

	s, err := schema.New(0).Compile(json.RawMessage(
		`{"anyOf":[{"properties":{"n":{"$ref":"#"}},"required":["x"]},{"properties":{"n":{"$ref":"#"}},"required":["y"]}]}`))
	require.NoError(t, err)
	deep := strings.Repeat(`{"n":`, 60) + `{}` + strings.Repeat(`}`, 60)
	_, _, err = s.Prepare(t.Context(), json.RawMessage(deep))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	deep = strings.Repeat(`{"y":0,"n":`, 60) + `{"x":1}` + strings.Repeat(`}`, 60)
	require.NoError(t, s.Validate(t.Context(), json.RawMessage(deep)))
	require.NoError(t, s.Validate(t.Context(), json.RawMessage(`{"x":1,"n":{"y":2}}`)))
}

func TestValidateMessages(t *testing.T) {
	t.Parallel()

	secret := "sk-" + strings.Repeat("s", 60)
	tests := []struct{ name, schema, raw, path, msg string }{
		{
			"a type", `{"properties":{"n":{"type":"integer"}}}`, `{"n":"` + secret + `"}`, "/n",
			"at /n expected integer, got a string of 63 characters",
		},
		{
			"something missing", `{"required":["a"],"properties":{"a":{"type":"string"}}}`, `{}`, "/a",
			"at /a expected string (it is required), got nothing",
		},
		{
			"a stranger", `{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1}`, "/b",
			"at /b expected no such property (there are a), got an integer",
		},
		{
			"an enum", `{"properties":{"a":{"enum":["x","y"]}}}`, `{"a":"` + secret + `"}`, "/a",
			`at /a expected one of "x", "y", got a string of 63 characters`,
		},
		{"a constant", `{"properties":{"a":{"const":1}}}`, `{"a":2}`, "/a", "at /a expected 1, got an integer"},
		{
			"a minimum", `{"properties":{"a":{"minimum":5}}}`, `{"a":4}`, "/a",
			"at /a expected a number of at least 5, got an integer",
		},
		{
			"a length", `{"properties":{"a":{"maxLength":3}}}`, `{"a":"` + secret + `"}`, "/a",
			"at /a expected a string of at most 3 characters, got a string of 63 characters",
		},
		{
			"a pattern", `{"properties":{"a":{"pattern":"^[A-Z]<&$"}}}`, `{"a":"b"}`, "/a",
			"at /a expected a string that matches ^[A-Z]<&$, got a string of 1 character",
		},
		{
			"an item", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x",2]}`, "/a/1",
			"at /a/1 expected string, got an integer",
		},
		{
			"a name to escape", `{"properties":{"a/b~c %":{"type":"string"}}}`, `{"a/b~c %":1}`, "/a~1b~0c %",
			"at /a~1b~0c % expected string, got an integer",
		},
		{
			"alternatives", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":1}`, "/a",
			"at /a expected null or string, got an integer",
		},
		{
			"the alternative that is meant",
			`{"properties":{"a":{"anyOf":[{"type":"object","required":["x"]},{"type":"null"}]}}}`, `{"a":{}}`, "/a/x",
			"at /a/x expected a value (it is required), got nothing",
		},
		{
			"what is shut", `{"properties":{"a":false,"required":false}}`, `{"required":1}`, "/required",
			"at /required expected no value here, got an integer",
		},
		{
			"many at once",
			`{"properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"},"d":{"type":"null"},"e":{"type":"null"}}}`,
			`{"a":1,"b":1,"c":1,"d":1,"e":1}`, "/a",
			"at /a expected null, got an integer; at /b expected null, got an integer; at /c expected null, got an integer; " +
				"and 2 more",
		},
		{"the top", ``, `[1]`, "", "at the top expected object, got an array of 1 item"},
		{"no JSON", ``, `{"a":`, "", "not JSON: it ends early"},
		{"a number beyond reason", ``, `{"a":[1e99999]}`, "/a/0", "at /a/0: a number out of range"},
		{"digits beyond reason", ``, `{"a":` + strings.Repeat("9", 2000) + `}`, "/a", "at /a: a number with too many digits"},
		{
			"depth beyond reason", ``, strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200),
			strings.Repeat("/a", 120) + "…", "",
		},
		{"size beyond reason", ``, `{"a":"` + strings.Repeat("x", 2<<20) + `"}`, "", "larger than 1024 KiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s, err := schema.New(0).Compile(json.RawMessage(tt.schema))
			require.NoError(t, err)
			err = s.Validate(t.Context(), json.RawMessage(tt.raw))
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind, "%v", err)
			require.Equal(t, tt.path, e.Path)
			if tt.msg != "" {
				require.Equal(t, tt.msg, e.Msg)
			}
			require.NotContains(t, e.Error(), "sss", "values stay out of messages")
		})
	}
}

func TestCacheKeepsByContent(t *testing.T) {
	t.Parallel()

	c := schema.New(2)
	first, err := c.Compile(json.RawMessage(`{"type":"object"}`))
	require.NoError(t, err)
	again, err := c.Compile(json.RawMessage(`{"type":"object"}`))
	require.NoError(t, err)
	require.Same(t, first, again)
	_, err = c.Compile(json.RawMessage(`{"type":1}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}
