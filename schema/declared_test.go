package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
)

func TestUndeclared(t *testing.T) {
	t.Parallel()

	const order = `{"type":"object","additionalProperties":false,"properties":{
		"id":{"type":"string"},"open":{"type":"object","properties":{"x":{}}},"other":{"$ref":"#/$defs/other"},"any":true,
		"items":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"sku":{}}}}}}`
	tests := []struct {
		path string
		want int
	}{
		{"id", -1},
		{"ids", 0},
		{"id/x", -1}, // A type says nothing of names.
		{"open/y", -1},
		{"other/x", -1},
		{"any/x", -1},
		{"items/0/sku", -1},
		{"items/0/price", 2},
		{"items/x", -1},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, schema.Undeclared(json.RawMessage(order), strings.Split(tt.path, "/")), tt.path)
	}
	require.Equal(t, -1, schema.Undeclared(nil, []string{"x"}))
	require.Equal(
		t, -1,
		schema.Undeclared(json.RawMessage(`{"patternProperties":{"^x":{}},"additionalProperties":false}`), []string{"x"}),
	)
	require.Equal(t, 0, schema.Undeclared(json.RawMessage(`{"additionalProperties":false}`), []string{"x"}))
}
