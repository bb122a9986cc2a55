package schema_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// TestPrepareNeverChangesValidInput proves that what is valid comes back in its
// canonical form, whatever the schema; and that what is mended is valid, and
// needs no second mending.
func TestPrepareNeverChangesValidInput(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(drawObject(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.New(0).Compile(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		payload, err := json.MarshalIndent(drawValue(t, 4), rapid.SampledFrom([]string{"", " "}).Draw(t, "prefix"), "\t")
		if err != nil {
			t.Fatal(err)
		}
		valid := s.Validate(t.Context(), payload) == nil
		got, receipt, err := s.Prepare(t.Context(), payload)
		switch {
		case valid && (err != nil || len(receipt) > 0 || !bytes.Equal(got, canonical(t, payload))):
			t.Fatalf("schema %s: valid %s became %s by %v: %v", raw, payload, got, receipt, err)
		case err != nil:
			if tool.KindOf(err) != tool.Invalid || got != nil {
				t.Fatalf("schema %s: %s gave %s and %v", raw, payload, got, err)
			}
		case !valid:
			if len(receipt) == 0 || s.Validate(t.Context(), got) != nil {
				t.Fatalf("schema %s: %s became %s by %v", raw, payload, got, receipt)
			}
			if again, more, err := s.Prepare(t.Context(), got); err != nil || len(more) > 0 || !bytes.Equal(again, got) {
				t.Fatalf("schema %s: %s was mended twice, to %s", raw, got, again)
			}
		}
	})
}

// TestPrepareNeverRunsWhatWasCutOff proves that no beginning of a payload is
// taken for the whole, wherever it was cut and however it was wrapped.
func TestPrepareNeverRunsWhatWasCutOff(t *testing.T) {
	t.Parallel()

	s, err := schema.New(0).Compile(json.RawMessage(`{"type":"object"}`))
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{rapid.String().Draw(t, "name"): drawValue(t, 3), "last": drawValue(t, 1)}
		whole, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		cut := whole[:rapid.IntRange(1, len(whole)-1).Draw(t, "cut")]
		wrapped, err := json.Marshal(string(cut))
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{cut, append([]byte("```json\n"), cut...), wrapped} {
			if got, _, err := s.Prepare(t.Context(), raw); err == nil {
				t.Fatalf("%s became %s", raw, got)
			}
		}
	})
}

// drawObject draws a schema of an object.
func drawObject(t *rapid.T, depth int) map[string]any {
	props := make(map[string]any)
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, "names") {
		props[name] = drawSchema(t, depth-1)
	}
	out := map[string]any{"type": "object", "properties": props}
	required := []string{}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if rapid.Bool().Draw(t, "required") {
			required = append(required, name)
		}
	}
	out["required"] = required
	if rapid.Bool().Draw(t, "closed") {
		out["additionalProperties"] = false
	}
	return out
}

var names = []string{"query", "q", "text", "userId", "user_id", "n", "list"}

func drawSchema(t *rapid.T, depth int) map[string]any {
	kinds := []string{"string", "integer", "number", "boolean", "enum", "null"}
	if depth > 0 {
		kinds = append(kinds, "object", "array", "anyOf")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "object":
		return drawObject(t, depth)
	case "array":
		return map[string]any{"type": "array", "items": drawSchema(t, depth-1)}
	case "anyOf":
		return map[string]any{"anyOf": []any{drawSchema(t, depth-1), drawSchema(t, depth-1)}}
	case "enum":
		return map[string]any{"enum": []any{"red", "dark_blue", 7}}
	default:
		return map[string]any{"type": kind}
	}
}

// drawValue draws what a model might send: often nearly right.
func drawValue(t *rapid.T, depth int) any {
	choices := 8
	if depth > 0 {
		choices = 12
	}
	switch rapid.IntRange(0, choices).Draw(t, "choice") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.IntRange(-9, 9).Draw(t, "int")
	case 3:
		return rapid.Float64Range(-9, 9).Draw(t, "float")
	case 4, 5:
		return rapid.SampledFrom([]string{
			"", "5", "true", "null", "None", "Red", "dark blue", "a, b", "[1]", `{"n":1}`, `{"n":`, "```json\n{}\n```", "007",
		}).Draw(t, "word")
	case 6:
		return rapid.StringN(0, 5, 20).Draw(t, "text")
	case 7, 8:
		return strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "digits"))
	case 9:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	default:
		object := make(map[string]any)
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(append(names, "Query", "N", "arguments", "search")), 0,
			4, rapid.ID).Draw(t, "names") {
			object[name] = drawValue(t, depth-1)
		}
		return object
	}
}

// canonical writes JSON as package tool does, independently of package schema.
func canonical(tb rapid.TB, raw []byte) []byte {
	out, err := tool.Canonical(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
