package field_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema/field"
)

// Models are given the schema without what only forms read; a property of that
// name, and values that look like it, stay.
func TestBare(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		`{"type":"object","x-toolcrib-field":{"order":["b","a"]},"properties":{"a":{"type":"array","x-toolcrib-field":{"section":"S"},"items":{"anyOf":[{"x-toolcrib-field":{}}]}}}}`: `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{}]}}}}`,
		`{"properties":{"x-toolcrib-field":{"type":"string"}},"default":{"x-toolcrib-field":1},"enum":[{"x-toolcrib-field":1}]}`:                                                      `{"properties":{"x-toolcrib-field":{"type":"string"}},"default":{"x-toolcrib-field":1},"enum":[{"x-toolcrib-field":1}]}`,
		`{"$defs":{"a":{"x-toolcrib-field":{},"maximum":12345678901234567890}}}`:                                                                                                      `{"$defs":{"a":{"maximum":12345678901234567890}}}`,
		`{ "type": "object" }`: `{ "type": "object" }`,
		`x-toolcrib-field`:     `x-toolcrib-field`,
		`true`:                 `true`,
	} {
		got := string(field.Bare(json.RawMessage(raw)))
		if json.Valid([]byte(raw)) {
			require.JSONEq(t, want, got)
			require.Equal(t, strings.Contains(want, "12345678901234567890"), strings.Contains(got, "12345678901234567890"),
				"no digit is lost")
			continue
		}
		require.Equal(t, want, got)
	}
}
