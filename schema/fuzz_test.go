package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// FuzzPrepare sends anything at every schema of the cases: what comes back is
// canonical JSON that meets the schema, or a refusal.
func FuzzPrepare(f *testing.F) {
	cache := schema.New(0)
	for _, seed := range []string{
		``, `{}`, `null`, `"x"`, `5`, `[`, `{"query":"a"}`, `{'query':'a',}`, "```json\n{\"q\":1}\n```", `{"a":1}}`,
		`{"a":[1,2}`,
		`"\"{}\""`, `{"arguments":"{\"query\":\"a\"}"}`, `{query: a /* b */}`, `{"a":"\ud800"}`, "{\"a\":\"\x00\"}",
		`callback({"query":"a"})`,
		`{"n":"1e999999999"}`, `{"ids":"[1,[2,[3"}`, `{“query”: “a”}`, "`{`", `{"a": "b" + "c"}`, `{"query": NaN}`, `{"":""}`,
		`...`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for name, text := range schemas {
			s, err := cache.Compile(json.RawMessage(text))
			require.NoError(t, err)
			got, receipt, err := s.Prepare(t.Context(), raw)
			if err != nil {
				require.Equal(t, tool.Invalid, tool.KindOf(err), "%s: %v", name, err)
				continue
			}
			require.True(t, json.Valid(got), name)
			require.NoError(t, s.Validate(t.Context(), got), name)
			once, err := tool.Canonical(got)
			require.NoError(t, err)
			require.Equal(t, string(once), string(got), name)
			if same, err := tool.Canonical(raw); err == nil {
				require.True(t, len(receipt) > 0 || string(got) == string(same), name)
			}
		}
	})
}

// FuzzCheck compiles anything: a schema is refused, or can be used.
func FuzzCheck(f *testing.F) {
	for _, text := range schemas {
		f.Add([]byte(text))
	}
	for _, seed := range []string{
		`{"$ref":"#"}`, `{"pattern":"(?:a{9}){9}"}`, `{"enum":[]}`, `{"type":[]}`, `{"$id":"a#b"}`, `{"$id":":"}`,
		`{"$anchor":5}`, `{"items":[{}]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","if":true,"contentEncoding":"base64"}`,
		`{"$defs":{"":{}},"$ref":"#/$defs/"}`, `{"$ref":"#/%zz"}`,
		`{"$dynamicRef":"#x"}`, `{"multipleOf":1e-399}`, `{"required":[1]}`, `{"properties":{"~":{},"/":{}}}`,
		`{"not":{"not":{"not":{}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := schema.New(1).Compile(raw)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			return
		}
		for _, payload := range []string{`{}`, `[1,"2",null]`, `"x"`, `{"a":{"a":[{"a":1.5}]},"b":true}`} {
			_, _, err := s.Prepare(t.Context(), json.RawMessage(payload))
			if err != nil {
				require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			}
		}
		_, err = schema.Compare(raw, json.RawMessage(`{"type":"object"}`), schema.Input)
		require.NoError(t, err)
	})
}

func BenchmarkPrepareValid(b *testing.B) {
	s, err := schema.New(0).Compile(json.RawMessage(schemas["order"]))
	require.NoError(b, err)
	raw := json.RawMessage(`{"orderId":"1","status":"open","tags":["a","b"],"amount":1.5,"address":{"city":"x"},"lines":[{"sku":"a","count":1},{"sku":"b","count":2}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.Prepare(b.Context(), raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrepareMended(b *testing.B) {
	s, err := schema.New(0).Compile(json.RawMessage(schemas["order"]))
	require.NoError(b, err)
	raw := json.RawMessage("```json\n{'order_id': 7, 'status': 'Closed', 'tags': 'a', 'amount': '1.5',}\n```")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.Prepare(b.Context(), raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileCached(b *testing.B) {
	c := schema.New(0)
	raw := json.RawMessage(schemas["order"])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}
