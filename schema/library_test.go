package schema_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
)

// TestJudgesLikeTheLibrary compares our verdicts with those of the library that
// compiles the schemas, on small values where it can be asked.
func TestJudgesLikeTheLibrary(t *testing.T) {
	t.Parallel()

	accepted := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		raw, err := json.Marshal(map[string]any{
			"allOf": []any{drawKeywords(r, 3)}, "$defs": map[string]any{"d": drawKeywords(r, 1)},
		})
		require.NoError(t, err)
		ours, err := schema.New(1).Compile(raw)
		if err != nil {
			continue // A cycle, for one.
		}
		theirs, err := jsonschema.CompileString("schema.json", string(raw))
		require.NoError(t, err)
		for range 10 {
			payload, err := json.Marshal(drawJudged(r, 3))
			require.NoError(t, err)
			dec := json.NewDecoder(strings.NewReader(string(payload)))
			dec.UseNumber()
			var v any
			require.NoError(t, dec.Decode(&v))
			want, got := theirs.Validate(v), ours.Validate(t.Context(), payload)
			require.Equal(t, want == nil, got == nil, "%s\n%s\ntheirs: %v\nours: %v", raw, payload, want, got)
			if got == nil {
				accepted++
			}
		}
	}
	require.Greater(t, accepted, 1000, "both verdicts are compared")
}

// drawKeywords draws a schema of a few keywords.
func drawKeywords(r *rand.Rand, depth int) any {
	if depth == 0 || r.IntN(12) == 0 {
		return []any{
			true, false,
			map[string]any{},
			map[string]any{"type": "integer"},
			map[string]any{"type": []string{"string", "null"}},
		}[r.IntN(5)]
	}
	sub := func() any { return drawKeywords(r, depth-1) }
	list := func() []any { return []any{sub(), sub()} }
	draws := map[string]func() any{
		"type":                  func() any { return []string{"object", "array", "integer", "number", "string"}[r.IntN(5)] },
		"enum":                  func() any { return []any{1, "a", nil, []any{1}, map[string]any{"a": 1.0}} },
		"const":                 func() any { return []any{1, "a", map[string]any{"a": 1}}[r.IntN(3)] },
		"minimum":               func() any { return r.IntN(3) },
		"multipleOf":            func() any { return 0.5 },
		"maxLength":             func() any { return r.IntN(3) },
		"pattern":               func() any { return "^a" },
		"minItems":              func() any { return r.IntN(3) },
		"maxProperties":         func() any { return r.IntN(3) },
		"uniqueItems":           func() any { return true },
		"properties":            func() any { return map[string]any{"a": sub(), "b": sub()} },
		"required":              func() any { return []string{"a"} },
		"patternProperties":     func() any { return map[string]any{"^a": sub(), "b$": sub()} },
		"additionalProperties":  sub,
		"propertyNames":         func() any { return map[string]any{"maxLength": r.IntN(3)} },
		"dependentRequired":     func() any { return map[string]any{"a": []string{"b"}} },
		"dependentSchemas":      func() any { return map[string]any{"a": sub()} },
		"items":                 sub,
		"prefixItems":           func() any { return list() },
		"contains":              sub,
		"minContains":           func() any { return r.IntN(3) },
		"maxContains":           func() any { return r.IntN(3) },
		"allOf":                 func() any { return list() },
		"anyOf":                 func() any { return list() },
		"oneOf":                 func() any { return list() },
		"not":                   sub,
		"if":                    sub,
		"then":                  sub,
		"else":                  sub,
		"unevaluatedProperties": sub,
		"unevaluatedItems":      sub,
		"$ref":                  func() any { return []string{"#/$defs/d", "#"}[r.IntN(8)/7] },
	}
	names := make([]string, 0, len(draws))
	for name := range draws {
		names = append(names, name)
	}
	out := make(map[string]any)
	slices.Sort(names)
	for range 1 + r.IntN(4) {
		name := names[r.IntN(len(names))]
		out[name] = draws[name]()
	}
	return out
}

// drawJudged draws a value for such schemas.
func drawJudged(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n < 3 && depth > 0:
		out := make(map[string]any)
		for range r.IntN(4) {
			out[[]string{"a", "b", "ab", "c"}[r.IntN(4)]] = drawJudged(r, depth-1)
		}
		return out
	case n < 5 && depth > 0:
		out := []any{}
		for range r.IntN(4) {
			out = append(out, drawJudged(r, depth-1))
		}
		return out
	case n == 5:
		return []any{nil, true, false}[r.IntN(3)]
	case n == 6:
		return json.Number([]string{"0", "1", "1.0", "10e-1", "2", "0.25", "1e2", "-3"}[r.IntN(8)])
	default:
		return []string{"", "a", "ab", "b"}[r.IntN(4)]
	}
}
