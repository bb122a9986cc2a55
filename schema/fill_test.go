package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// TestPrepareFilling proves that defaults are filled in where an argument is left out and nowhere else, in
// canonical form, and that the result is validated as a whole.
func TestPrepareFilling(t *testing.T) {
	t.Parallel()

	s, err := schema.New(0).Compile(json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},
		"b/c":{"type":"string"},"z":{"type":"string"}},"maxProperties":2}`))
	require.NoError(t, err)
	defaults := map[string]json.RawMessage{"b/c": json.RawMessage(`"<x>"`)}
	for given, want := range map[string]string{
		``: `{"b/c":"<x>"}`, `{}`: `{"b/c":"<x>"}`, `{"a": 1}`: `{"a":1,"b/c":"<x>"}`,
		`{"z":"y"}`: `{"b/c":"<x>","z":"y"}`, `{"b/c":"mine"}`: `{"b/c":"mine"}`,
		`{"a":"1"}`: `{"a":1,"b/c":"<x>"}`,
	} {
		got, receipt, err := s.PrepareFilling(t.Context(), json.RawMessage(given), defaults)
		require.NoError(t, err, given)
		require.Equal(t, want, string(got), given)
		filled := receipt != nil && receipt[len(receipt)-1] == schema.Edit{
			Path: "/b~1c", From: "nothing", To: "default", Rule: schema.RuleOverride,
		}
		require.Equal(t, given != `{"b/c":"mine"}`, filled, given)
	}
	_, _, err = s.PrepareFilling(t.Context(), json.RawMessage(`{"a":1,"z":"y"}`), defaults)
	require.Equal(t, tool.Invalid, tool.KindOf(err), "the whole does not fit with the default")
	got, receipt, err := s.PrepareFilling(t.Context(), json.RawMessage(`{"a":1}`), nil)
	require.NoError(t, err)
	require.Empty(t, receipt)
	require.JSONEq(t, `{"a":1}`, string(got))
}
