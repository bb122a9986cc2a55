package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
)

func TestLoosePlaces(t *testing.T) {
	t.Parallel()

	type place struct {
		path, text string
		hidden     bool
	}
	any1, any2 := "any value", "an object of anything"
	for name, c := range map[string]struct {
		raw    string
		places []place
	}{
		"named and typed": {
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"enum":[1]}}}`, nil,
		},
		"none, and says so":       {`{"type":"object","properties":{},"additionalProperties":false}`, nil},
		"none, shut":              {`{"type":"object","additionalProperties":false}`, nil},
		"values under free names": {`{"type":"object","additionalProperties":{"type":"number"}}`, nil},
		"names by a pattern":      {`{"type":"object","patternProperties":{"^x":{"type":"number"}}}`, nil},
		"nothing":                 {``, []place{{"", "no properties", true}}},
		"any object":              {`{"type":"object"}`, []place{{"", "no properties", true}}},
		"none, but open":          {`{"type":"object","properties":{}}`, []place{{"", "no properties", true}}},
		"required only":           {`{"type":"object","required":["a"]}`, []place{{"", "no properties", true}}},
		"a map without types":     {`{"type":"object","additionalProperties":{}}`, []place{{"", "no properties", true}}},
		"a union": {
			`{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{}}}]}`,
			[]place{{"/oneOf", "Flatten it", true}, {"/oneOf/1/properties/b", any1, false}},
		},
		"a union beside properties": {
			`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]}`,
			[]place{{"/anyOf", "an action with an enum", true}},
		},
		"all of": {
			`{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}]}`, []place{{"/allOf", "Flatten it", true}},
		},
		"a reference": {
			`{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`,
			[]place{{"/$defs/a", any2, false}, {"/$ref", "in its place", true}},
		},
		"a property of anything": {
			`{"type":"object","properties":{"a":{},"b":true,"c":{"description":"x","default":1},"d":false}}`,
			[]place{{"/properties/a", any1, false}, {"/properties/b", any1, false}, {"/properties/c", any1, false}},
		},
		"an object of anything": {
			`{"type":"object","properties":{"a":{"type":["object","null"]},"b":{"type":"object","additionalProperties":true}}}`,
			[]place{{"/properties/a", any2, false}, {"/properties/b", any2, false}},
		},
		"an object, shut": {
			`{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}}}`, nil,
		},
		"an array of anything": {
			`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array","items":{}},"c":{"type":"array","items":{"type":"object"}}}}`,
			[]place{
				{"/properties/a", "an array of anything", false},
				{"/properties/b", "an array of anything", false},
				{"/properties/c/items", any2, false},
			},
		},
		"a tuple": {
			`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{}]}}}`,
			[]place{{"/properties/a/prefixItems/1", any1, false}},
		},
		"a tuple of old": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},true]}}}`,
			[]place{{"/properties/a/items/1", any1, false}},
		},
		"a union within": {
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"x":{}}},{"type":"null"}]}}}`,
			[]place{{"/properties/a/anyOf/0/properties/x", any1, false}},
		},
		"a map of anything, deeper": {
			`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"object"}}}}`,
			[]place{{"/properties/a/additionalProperties", any2, false}},
		},
		"a name to escape": {
			`{"type":"object","properties":{"a/b~":{}}}`, []place{{"/properties/a~1b~0", any1, false}},
		},
		"what is no object's schema": {`true`, nil},
		"what is no JSON":            {`{`, nil},
	} {
		var got []place
		for _, l := range schema.LoosePlaces(json.RawMessage(c.raw)) {
			require.NotEmpty(t, l.Msg, name)
			got = append(got, place{l.Path, l.Msg, l.Hidden})
		}
		require.Len(t, got, len(c.places), "%s: %v", name, got)
		for i, want := range c.places {
			require.Equal(t, want.path, got[i].path, name)
			require.Equal(t, want.hidden, got[i].hidden, name)
			require.Contains(t, got[i].text, want.text, name)
		}
	}
}

// FuzzLoosePlaces looks at anything: it ends, and what it names is there.
func FuzzLoosePlaces(f *testing.F) {
	for _, text := range schemas {
		f.Add([]byte(text))
	}
	for _, seed := range []string{
		`{"oneOf":5}`, `{"properties":[]}`, `{"type":["object",1],"items":[{}]}`, `{"additionalProperties":{"type":{}}}`,
		`[]`, `{"$defs":{"":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var doc any
		valid := json.Unmarshal(raw, &doc) == nil
		for _, l := range schema.LoosePlaces(raw) {
			if l.Path != "" {
				require.True(t, valid)
				require.Equal(t, byte('/'), l.Path[0])
			}
		}
	})
}
