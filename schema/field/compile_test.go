package field_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

func fieldsOf(t *testing.T, raw string) []field.Field {
	t.Helper()
	var fields []field.Field
	require.NoError(t, json.Unmarshal([]byte(raw), &fields), raw)
	return fields
}

// Each type in each of its displays, with what its schema says beside the
// keywords that all have, and a value that it takes and one that it does not.
const referenceSchema = `{"type":"object","additionalProperties":false,"required":["file_id"],"properties":{
	"file_id":{"type":"string","format":"uuid"},"name":{"type":"string"},"media_type":{"type":"string"},
	"size":{"type":"integer","minimum":1},"sha256":{"type":"string"}}`

func TestEveryTypeAndDisplay(t *testing.T) {
	t.Parallel()

	x := func(hint string) string { return `,"x-toolcrib-field":` + hint + `}` }
	for _, c := range []struct{ field, schema, takes, refuses string }{
		{`"type":"text"`, `{"type":"string"}`, `"a"`, `1`},
		{
			`"type":"text","display":"textarea","min_length":1,"max_length":9`,
			`{"type":"string","minLength":1,"maxLength":9` + x(`{"display":"textarea"}`), `"a"`, `""`,
		},
		{`"type":"text","display":"markdown"`, `{"type":"string"` + x(`{"display":"markdown"}`), `"# a"`, `[]`},
		{
			`"type":"text","display":"code","pattern":"^SELECT"`,
			`{"type":"string","pattern":"^SELECT"` + x(`{"display":"code"}`), `"SELECT 1"`, `"DROP"`,
		},
		{
			`"type":"text","format":"uuid"`, `{"type":"string","format":"uuid"}`, `"01975c2e-7d1a-7c3e-9f00-0000000000a1"`,
			`"a"`,
		},
		{`"type":"number"`, `{"type":"number"}`, `1.5`, `"1"`},
		{`"type":"number","integer":true,"above":0`, `{"type":"integer","exclusiveMinimum":0}`, `1`, `0`},
		{
			`"type":"number","display":"slider","min":0,"max":10,"step":0.5`,
			`{"type":"number","minimum":0,"maximum":10,"multipleOf":0.5` + x(`{"display":"slider"}`), `9.5`, `0.3`,
		},
		{
			`"type":"number","display":"currency","unit":"EUR","step":0.01`,
			`{"type":"number","multipleOf":0.01` + x(`{"display":"currency","unit":"EUR"}`), `19.99`, `0.001`,
		},
		{
			`"type":"number","display":"percent","min":0,"below":100`,
			`{"type":"number","minimum":0,"exclusiveMaximum":100` + x(`{"display":"percent"}`), `99.9`, `100`,
		},
		{
			`"type":"number","display":"rating","integer":true,"min":1,"max":5`,
			`{"type":"integer","minimum":1,"maximum":5` + x(`{"display":"rating"}`), `5`, `6`,
		},
		{`"type":"boolean"`, `{"type":"boolean"}`, `true`, `"true"`},
		{
			`"type":"boolean","display":"checkbox","default":false`,
			`{"type":"boolean","default":false` + x(`{"display":"checkbox"}`), `false`, `0`,
		},
		{`"type":"date"`, `{"type":"string","format":"date"}`, `"2024-02-29"`, `"2023-02-29"`},
		{
			`"type":"date","display":"datetime"`, `{"type":"string","format":"date-time"}`, `"2026-05-01T12:00:00+02:00"`,
			`"2026-05-01"`,
		},
		{
			`"type":"date","display":"time"`,
			`{"type":"string","pattern":"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"` + x(`{"type":"date"}`), `"23:59"`,
			`"24:00"`,
		},
		{
			`"type":"file","accept":["image/*"],"max_bytes":1000`,
			referenceSchema + x(`{"type":"file","accept":["image/*"],"max_bytes":1000}`),
			`{"file_id":"01975c2e-7d1a-7c3e-9f00-0000000000a1"}`, `{"file_id":"a"}`,
		},
		{
			`"type":"file","display":"image","multiple":true,"max_items":2`,
			`{"type":"array","maxItems":2,"items":` + referenceSchema + `}` + x(`{"type":"file","display":"image"}`),
			`[{"file_id":"01975c2e-7d1a-7c3e-9f00-0000000000a1"}]`, `["01975c2e-7d1a-7c3e-9f00-0000000000a1"]`,
		},
		{
			`"type":"enum","options":[{"value":"s","label":"Small"},{"value":"l"}]`,
			`{"type":"string","enum":["s","l"]` + x(`{"labels":["Small",""]}`), `"s"`, `"m"`,
		},
		{
			`"type":"enum","display":"radio","options":[{"value":1},{"value":2}]`,
			`{"type":"integer","enum":[1,2]` + x(`{"display":"radio"}`), `2`, `"2"`,
		},
		{
			`"type":"enum","display":"chips","multiple":true,"max_items":2,"options":[{"value":"a"},{"value":"b"}]`,
			`{"type":"array","uniqueItems":true,"maxItems":2,"items":{"type":"string","enum":["a","b"]}` +
				x(`{"display":"chips"}`),
			`["b"]`, `["a","a"]`,
		},
		{`"type":"url"`, `{"type":"string","format":"uri"}`, `"https://example.com/a"`, `"a b"`},
		{
			`"type":"url","display":"link"`, `{"type":"string","format":"uri"` + x(`{"display":"link"}`),
			`"https://example.com"`, `7`,
		},
		{`"type":"email"`, `{"type":"string","format":"email"}`, `"ada@example.com"`, `"ada"`},
		{
			`"type":"email","display":"link"`, `{"type":"string","format":"email"` + x(`{"display":"link"}`),
			`"ada@example.com"`, `"@"`,
		},
		{
			`"type":"phone"`, `{"type":"string","pattern":"^\\+?[0-9][0-9 ()./-]{2,30}$"` + x(`{"type":"phone"}`),
			`"+49 30 1234-0"`, `"call me"`,
		},
		{
			`"type":"phone","display":"link","pattern":"^0"`,
			`{"type":"string","pattern":"^0"` + x(`{"type":"phone","display":"link"}`), `"030"`, `"+49"`,
		},
		{
			`"type":"media","accept":["application/pdf"],"max_bytes":1000`,
			`{"type":"string","format":"uri"` + x(`{"type":"media","accept":["application/pdf"],"max_bytes":1000}`),
			`"https://example.com/a.pdf"`, `"a.pdf"`,
		},
		{
			`"type":"media","display":"image","multiple":true,"min_items":1`,
			`{"type":"array","minItems":1,"items":{"type":"string","format":"uri"}` + x(`{"type":"media","display":"image"}`),
			`["data:image/png;base64,AA=="]`, `[]`,
		},
		{
			`"type":"media","display":"audio"`, `{"type":"string","format":"uri"` + x(`{"type":"media","display":"audio"}`),
			`"https://example.com/a"`, `null`,
		},
		{
			`"type":"media","display":"video","nullable":true`,
			`{"type":["string","null"],"format":"uri"` + x(`{"type":"media","display":"video"}`), `null`, `""`,
		},
		{
			`"type":"relation","entity_type":"order"`, `{"type":"string"` + x(`{"type":"relation","entity_type":"order"}`),
			`"SO-1"`, `1`,
		},
		{
			`"type":"relation","display":"select","multiple":true`,
			`{"type":"array","uniqueItems":true,"items":{"type":"string"}` + x(`{"type":"relation","display":"select"}`),
			`["a","b"]`, `["a","a"]`,
		},
		{
			`"type":"object","fields":[{"key":"zip","type":"text","required":true},{"key":"city","type":"text"}]`,
			`{"type":"object","additionalProperties":false,"required":["zip"],"properties":{"zip":{"type":"string"},"city":{"type":"string"}}` + x(`{"order":["zip","city"]}`),
			`{"zip":"1"}`, `{"city":"B"}`,
		},
		{
			`"type":"object","open":true,"fields":[{"key":"a","type":"boolean"}]`,
			`{"type":"object","properties":{"a":{"type":"boolean"}}}`, `{"b":1}`, `{"a":1}`,
		},
		{
			`"type":"object","display":"map","max_items":1,"items":{"type":"number"}`,
			`{"type":"object","maxProperties":1,"additionalProperties":{"type":"number"}}`, `{"x":1}`, `{"x":"1"}`,
		},
		{`"type":"object","display":"json"`, `{"type":"object"}`, `{"a":[]}`, `[]`},
		{
			`"type":"object","display":"json","label":"Filter","schema":{"anyOf":[{"type":"string"},{"type":"array"}]}`,
			`{"title":"Filter","anyOf":[{"type":"string"},{"type":"array"}]}`, `[]`, `{}`,
		},
		{
			`"type":"array","items":{"type":"date"}`, `{"type":"array","items":{"type":"string","format":"date"}}`,
			`["2026-01-01"]`, `["1"]`,
		},
		{
			`"type":"array","display":"table","items":{"type":"object","fields":[{"key":"n","type":"number","label":"N"}]}`,
			`{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"n":{"type":"number","title":"N"}}}` + x(`{"display":"table"}`), `[{"n":1}]`, `[{"m":1}]`,
		},
		{
			`"type":"array","display":"tags","unique":true,"min_items":1,"items":{"type":"text"}`,
			`{"type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string"}` + x(`{"display":"tags"}`), `["a"]`,
			`[]`,
		},
	} {
		raw, err := field.Compile(fieldsOf(t, `[{"key":"it","required":true,`+c.field+`}]`))
		require.NoError(t, err, c.field)
		require.JSONEq(
			t,
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"required":["it"],"properties":{"it":`+c.schema+`}}`,
			string(raw), c.field,
		)
		s, err := schema.New(1).Compile(raw)
		require.NoError(t, err)
		require.NoError(t, s.Validate(t.Context(), json.RawMessage(`{"it":`+c.takes+`}`)), c.field)
		require.Equal(t, tool.Invalid, tool.KindOf(s.Validate(t.Context(), json.RawMessage(`{"it":`+c.refuses+`}`))), c.field)
		require.Error(t, s.Validate(t.Context(), json.RawMessage(`{"it":`+c.takes+`,"more":1}`)), "the form is closed")
		require.Error(t, s.Validate(t.Context(), json.RawMessage(`{}`)))
	}
	shown := 0
	for _, kind := range field.Types() {
		require.GreaterOrEqual(t, len(field.Displays(kind)), 2, kind)
		shown += len(field.Displays(kind))
	}
	require.Len(t, field.Types(), 13)
	require.Equal(t, 37, shown)
	require.Empty(t, field.Displays("password"))
}

// What a field-derived schema refuses and mends is what the same schema written
// by hand refuses and mends: there is one validator.
func TestFieldsValidateAsWrittenByHand(t *testing.T) {
	t.Parallel()

	derived, err := field.Compile(fieldsOf(t, `[
		{"key":"customer","label":"Customer","type":"text","required":true,"min_length":2},
		{"key":"size","type":"enum","options":[{"value":"small"},{"value":"large"}],"section":"Details"},
		{"key":"amount","type":"number","integer":true,"min":1,"display":"rating","max":5}]`))
	require.NoError(t, err)
	byHand := `{"type":"object","additionalProperties":false,"required":["customer"],"properties":{"customer":{"type":"string","minLength":2},
		"size":{"type":"string","enum":["small","large"]},"amount":{"type":"integer","minimum":1,"maximum":5}}}`
	a, err := schema.New(1).Compile(derived)
	require.NoError(t, err)
	b, err := schema.New(1).Compile(json.RawMessage(byHand))
	require.NoError(t, err)
	for _, payload := range []string{
		`{"customer":"Ada","size":"small","amount":2}`, `{"customer":"A"}`, `{"customer":"Ada","size":"Small","amount":"2"}`,
		`{"customer":7}`,
		`{"customer":"Ada","more":1}`, `{}`, ``, `"Ada"`, `{'customer':'Ada',}`, `{"arguments":{"customer":"Ada"}}`,
		`{"customer":"Ada","amount":6}`, `[`, `null`,
	} {
		gotA, receiptA, errA := a.Prepare(t.Context(), json.RawMessage(payload))
		gotB, receiptB, errB := b.Prepare(t.Context(), json.RawMessage(payload))
		require.Equal(t, string(gotB), string(gotA), payload)
		require.Equal(t, receiptB, receiptA, payload)
		if errB == nil {
			require.NoError(t, errA, payload)
			continue
		}
		require.EqualError(t, errA, errB.Error(), payload)
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()

	many := strings.Repeat(`{"value":"a"},`, field.MaxOptions) + `{"value":"b"}`
	deep := strings.Repeat(`{"key":"a","type":"object","fields":[`, field.MaxDepth) + `{"key":"a","type":"text"}` +
		strings.Repeat(`]}`, field.MaxDepth)
	var fields []string
	for range field.MaxFields + 1 {
		fields = append(
			fields, `{"key":"k`+strings.Repeat("x", len(fields)%60)+string(rune('a'+len(fields)/60))+`","type":"text"}`,
		)
	}
	for name, c := range map[string]struct{ fields, path, text string }{
		"no key":          {`{"type":"text"}`, "/0/key", "expected a letter"},
		"a key of words":  {`{"key":"first name","type":"text"}`, "/0/key", "first name"},
		"a key twice":     {`{"key":"a","type":"text"},{"key":"a","type":"date"}`, "/1/key", "twice"},
		"no type":         {`{"key":"a"}`, "/0/type", "one of text, number"},
		"an unknown type": {`{"key":"a","type":"string"}`, "/0/type", `"string"`},
		"another type's display": {
			`{"key":"a","type":"text","display":"slider"}`, "/0/display", "one of input, textarea",
		},
		"another type's constraint": {`{"key":"a","type":"text","min":1}`, "/0/min", "has no min"},
		"a group with items": {
			`{"key":"a","type":"object","items":{"type":"text"},"fields":[{"key":"b","type":"text"}]}`, "/0/items",
			"has no items",
		},
		"a date with a unit":  {`{"key":"a","type":"date","unit":"d"}`, "/0/unit", "has no unit"},
		"a group of nothing":  {`{"key":"a","type":"object"}`, "/0/fields", "expected fields"},
		"an array of nothing": {`{"key":"a","type":"array"}`, "/0/items", "needs items"},
		"a map of nothing":    {`{"key":"a","type":"object","display":"map"}`, "/0/items", "needs items"},
		"items with a key": {
			`{"key":"a","type":"array","items":{"key":"b","type":"text"}}`, "/0/items", "neither key",
		},
		"a table of texts": {
			`{"key":"a","type":"array","display":"table","items":{"type":"text"}}`, "/0/items", "columns",
		},
		"tags of numbers": {
			`{"key":"a","type":"array","display":"tags","items":{"type":"number"}}`, "/0/items", "text or enum",
		},
		"an enum of nothing": {`{"key":"a","type":"enum"}`, "/0/options", "1 to 512"},
		"too many options":   {`{"key":"a","type":"enum","options":[` + many + `]}`, "/0/options", "513"},
		"an option twice": {
			`{"key":"a","type":"enum","options":[{"value":1},{"value":1}]}`, "/0/options/1/value", "twice",
		},
		"an option of an object": {
			`{"key":"a","type":"enum","options":[{"value":{}}]}`, "/0/options/0/value", "a string, a number",
		},
		"an option of nothing": {
			`{"key":"a","type":"enum","options":[{"label":"A"}]}`, "/0/options/0/value", "a string, a number",
		},
		"a slider without ends":   {`{"key":"a","type":"number","display":"slider","min":1}`, "/0/display", "min and max"},
		"a rating without a best": {`{"key":"a","type":"number","display":"rating"}`, "/0/display", "needs max"},
		"no number between":       {`{"key":"a","type":"number","min":2,"below":1}`, "/0/max", "no number"},
		"a step of nothing":       {`{"key":"a","type":"number","step":0}`, "/0/step", "more than 0"},
		"a number beyond reason":  {`{"key":"a","type":"number","min":1e9999}`, "/0/min", "reasonable"},
		"no length between": {
			`{"key":"a","type":"text","min_length":2,"max_length":1}`, "/0/max_length", "nothing is accepted",
		},
		"a negative length":      {`{"key":"a","type":"text","min_length":-1}`, "/0/min_length", "expected 0"},
		"a pattern that is none": {`{"key":"a","type":"text","pattern":"("}`, "/0", "RE2"},
		"a format of a type": {
			`{"key":"a","type":"text","format":"email"}`, "/0/format", "expected type date, url or email",
		},
		"a default it refuses":      {`{"key":"a","type":"number","max":3,"default":4}`, "/0/default", "its own default"},
		"a default of another type": {`{"key":"a","type":"date","default":"tomorrow"}`, "/0/default", "its own default"},
		"a media type that is none": {`{"key":"a","type":"media","accept":["pdf"]}`, "/0/accept/0", "image/png"},
		"a negative size":           {`{"key":"a","type":"media","max_bytes":-1}`, "/0/max_bytes", "or more"},
		"an annotation that bears": {
			`{"key":"a","type":"text","annotations":{"minLength":1}}`, "/0/annotations/minLength", "one of examples",
		},
		"a long label": {
			`{"key":"a","type":"text","label":"` + strings.Repeat("x", field.MaxText+1) + `"}`, "/0/label", "longer than",
		},
		"JSON of no schema": {
			`{"key":"a","type":"object","display":"json","schema":{"type":"text"}}`, "/0", "malformed",
		},
		"null for JSON": {
			`{"key":"a","type":"object","display":"json","nullable":true,"schema":{"type":"string"}}`, "/0/nullable",
			"has no nullable",
		},
		"a fault within": {
			`{"key":"a","type":"object","fields":[{"key":"b","type":"array","items":{"type":"enum"}}]}`,
			"/0/fields/0/items/options", "1 to 512",
		},
		"fields too deep": {deep, "/0" + strings.Repeat("/fields/0", field.MaxDepth), "deep"},
		"too many fields": {strings.Join(fields, ","), "/256", "more than 256"},
		"more than a schema may say": {
			`{"key":"a","type":"enum","options":[{"value":"` + strings.Repeat("x", 70<<10) + `"}]}`, "/0", "64 KiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := field.Compile(fieldsOf(t, `[`+c.fields+`]`))
			require.Error(t, err)
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, c.path, e.Path, e.Msg)
			require.Contains(t, e.Msg, c.text)
		})
	}
}

// No fields are a tool that takes nothing, and says so.
func TestCompileNothing(t *testing.T) {
	t.Parallel()

	raw, err := field.Compile(nil)
	require.NoError(t, err)
	require.JSONEq(
		t,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{},"additionalProperties":false}`,
		string(raw),
	)
	require.Empty(t, schema.LoosePlaces(raw))
}

// Compile leaves what it is given alone.
func TestCompileChangesNoField(t *testing.T) {
	t.Parallel()

	const raw = `[{"key":"a","type":"object","fields":[{"key":"b","type":"array","items":{"type":"phone"}}]}]`
	fields := fieldsOf(t, raw)
	_, err := field.Compile(fields)
	require.NoError(t, err)
	require.Equal(t, fieldsOf(t, raw), fields)
}
