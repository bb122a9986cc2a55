package fuzz_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutNulls returns the value without the members that are null and need not
// be there: to the API they are not.
func (d *document) withoutNulls(schema node, v any) any {
	schema = d.resolve(schema)
	switch v := v.(type) {
	case node:
		kept := node{}
		for name, value := range v {
			member, described := object(schema["properties"])[name]
			if value == nil && described && !slices.Contains(list(schema["required"]), any(name)) {
				continue
			}
			kept[name] = d.withoutNulls(object(member), value)
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = d.withoutNulls(object(schema["items"]), v[i])
		}
		return kept
	}
	return v
}

func TestNullsThatNeedNotBeThere(t *testing.T) {
	t.Parallel()
	d, err := parseDocument([]byte(toyDocument))
	require.NoError(t, err)
	for _, o := range d.operationsNamed("makeThing") {
		schema := o.bodies["application/json"]
		require.Equal(t, node{"name": "x"}, d.withoutNulls(schema, node{"name": "x", "note": nil}))
		require.Equal(t, node{"name": nil, "other": nil}, d.withoutNulls(schema, node{"name": nil, "other": nil}))
	}
}
