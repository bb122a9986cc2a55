package field_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// shipment has fields under conditions of each kind.
const shipment = `[
	{"key":"kind","type":"enum","options":[{"value":"letter"},{"value":"parcel"},{"value":"freight"}]},
	{"key":"weight","type":"number","required":true,"visible_when":[{"field":"kind","in":["parcel","freight"]}]},
	{"key":"pallets","type":"number","integer":true,"required":true,"visible_when":[{"field":"kind","in":["freight"]},{"field":"insured","in":[true]}]},
	{"key":"insured","type":"boolean","visible_when":[{"field":"kind","not_in":["letter"]}]},
	{"key":"extras","type":"enum","multiple":true,"options":[{"value":"gift"},{"value":"other"}]},
	{"key":"which","type":"text","required":true,"visible_when":[{"field":"extras","in":["other"]}]},
	{"key":"value","type":"number","visible_when":[{"field":"weight"}]}]`

// The schema of fields with conditions knows them: what is hidden is not required, and is refused.
func TestConditions(t *testing.T) {
	t.Parallel()

	var fields []field.Field
	require.NoError(t, json.Unmarshal([]byte(shipment), &fields))
	raw, err := field.Compile(fields)
	require.NoError(t, err)
	require.Empty(t, schema.LoosePlaces(raw), "clients see the properties")
	s, err := schema.New(1).Compile(raw)
	require.NoError(t, err)
	for value, refusal := range map[string]string{
		`{}`:                                                        "",
		`{"insured":false}`:                                         "",
		`{"kind":"letter"}`:                                         "",
		`{"kind":"letter","weight":2}`:                              "at /weight expected no value here",
		`{"kind":"letter","insured":true}`:                          "at /insured expected no value here",
		`{"weight":2}`:                                              "at /weight expected no value here",
		`{"kind":"parcel"}`:                                         "at /weight",
		`{"kind":"parcel","weight":2}`:                              "",
		`{"kind":"parcel","weight":"much"}`:                         "at /weight expected number",
		`{"kind":"freight","weight":2}`:                             "",
		`{"kind":"freight","weight":2,"value":9}`:                   "",
		`{"kind":"letter","value":9}`:                               "at /value expected no value here",
		`{"kind":"freight","weight":2,"insured":true}`:              "at /pallets",
		`{"kind":"freight","weight":2,"insured":true,"pallets":3}`:  "",
		`{"kind":"freight","weight":2,"insured":false,"pallets":3}`: "at /pallets expected no value here",
		`{"extras":["gift"]}`:                                       "",
		`{"extras":["gift","other"]}`:                               "at /which",
		`{"extras":["gift","other"],"which":"A bow"}`:               "",
		`{"extras":["gift"],"which":"A bow"}`:                       "at /which expected no value here",
		`{"kind":"parcel","weight":1,"insured":true,"pallets":3}`:   "at /pallets expected no value here",
	} {
		err := s.Validate(t.Context(), json.RawMessage(value))
		if refusal == "" {
			require.NoError(t, err, value)
			continue
		}
		require.ErrorContains(t, err, refusal, value)
	}
}

// What [field.Hidden] says, the schema says.
func TestHiddenIsWhatTheSchemaRefuses(t *testing.T) {
	t.Parallel()

	var fields []field.Field
	require.NoError(t, json.Unmarshal([]byte(shipment), &fields))
	raw, err := field.Compile(fields)
	require.NoError(t, err)
	s, err := schema.New(1).Compile(raw)
	require.NoError(t, err)
	may := map[string][]string{
		"kind": {`"letter"`, `"parcel"`, `"freight"`}, "weight": {`1`, `2.50`}, "pallets": {`3`}, "insured": {`true`, `false`},
		"extras": {`[]`, `["gift"]`, `["other"]`}, "which": {`"a"`}, "value": {`1e3`},
	}
	rapid.Check(t, func(t *rapid.T) {
		values := make(map[string]json.RawMessage)
		for i := range fields {
			key := fields[i].Key
			if rapid.Bool().Draw(t, key) {
				values[key] = json.RawMessage(rapid.SampledFrom(may[key]).Draw(t, key+" value"))
			}
		}
		hidden := field.Hidden(fields, values)
		fits := true
		for i := range fields {
			_, given := values[fields[i].Key]
			fits = fits && (!given || !hidden[fields[i].Key]) && (given || hidden[fields[i].Key] || !fields[i].Required)
		}
		err := s.Validate(t.Context(), json.RawMessage(encoded(t, values)))
		if fits != (err == nil) {
			t.Fatalf("%s hides %v: %v", encoded(t, values), hidden, err)
		}
	})
}

func TestConditionsThatAreRefused(t *testing.T) {
	t.Parallel()

	kind := field.Field{Key: "kind", Type: field.Enum, Options: []field.Option{{Value: json.RawMessage(`"a"`)}}}
	on := func(c ...field.Condition) field.Field {
		return field.Field{Key: "x", Type: field.Text, VisibleWhen: c}
	}
	values := func(texts ...string) []json.RawMessage {
		out := make([]json.RawMessage, len(texts))
		for i, text := range texts {
			out[i] = json.RawMessage(text)
		}
		return out
	}
	group := field.Field{Key: "g", Type: field.Object, Fields: []field.Field{on(field.Condition{Field: "kind"})}}
	inner := on(field.Condition{Field: "kind"})
	inner.Key = ""
	item := field.Field{Key: "l", Type: field.Array, Items: &inner}
	for name, c := range map[string]struct {
		fields []field.Field
		path   string
	}{
		"a field that is not there": {[]field.Field{kind, on(field.Condition{Field: "other"})}, "/1/visible_when/0/field"},
		"itself":                    {[]field.Field{on(field.Condition{Field: "x"})}, "/0/visible_when"},
		"a field of another object": {[]field.Field{kind, group}, "/1/fields/0/visible_when/0/field"},
		"an item":                   {[]field.Field{kind, item}, "/1/items"},
		"in and not_in":             {[]field.Field{kind, on(field.Condition{Field: "kind", In: values(`"a"`), NotIn: values(`"a"`)})}, "/1/visible_when/0"},
		"what is no option":         {[]field.Field{kind, on(field.Condition{Field: "kind", In: values(`"a"`, `"b"`)})}, "/1/visible_when/0/in/1"},
		"what is no plain value":    {[]field.Field{kind, on(field.Condition{Field: "kind", NotIn: values(`{}`)})}, "/1/visible_when/0/not_in/0"},
		"too many": {
			[]field.Field{kind, on(slices.Repeat([]field.Condition{{Field: "kind"}}, 17)...)}, "/1/visible_when",
		},
		"each other": {[]field.Field{
			{Key: "a", Type: field.Text, VisibleWhen: []field.Condition{{Field: "b"}}},
			{Key: "b", Type: field.Text, VisibleWhen: []field.Condition{{Field: "a"}}},
		}, "/0/visible_when"},
	} {
		_, err := field.Compile(c.fields)
		require.Equal(t, tool.Invalid, tool.KindOf(err), name)
		require.Equal(t, c.path, tool.AsError(err).Path, name)
	}

	form := read(t, []byte(`{"type":"object","properties":{"kind":{"type":"string"}},"if":{"required":["kind"]},"then":{"minProperties":2}}`))
	form.Fields = append(form.Fields, on(field.Condition{Field: "kind"}))
	_, err := field.CompileForm(form)
	require.Equal(t, "/keywords/if", tool.AsError(err).Path)
}
