package yamlvalue_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/yamlvalue"
)

// Scalars are read as JSON has them, aliases are expanded within bounds, and what has no counterpart is refused.
func TestRead(t *testing.T) {
	t.Parallel()
	limits := yamlvalue.Limits{Nodes: 50, Depth: 5}
	got, err := yamlvalue.Read([]byte("a: &x {no: yes, n: 007, f: 1.50}\nb: *x\nc: {<<: *x, n: 2026-01-02}\n"), limits)
	require.NoError(t, err)
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":{"no":"yes","n":7,"f":1.50},"b":{"no":"yes","n":7,"f":1.50},"c":{"no":"yes","n":"2026-01-02","f":1.50}}`,
		string(raw))
	for text, says := range map[string]string{
		"a: 1\na: 2": `"a" is duplicate`, "{a: &a [*a]}": "recursive", "a: .nan": "not a number",
		"[[[[[[1]]]]]]": "nested more than 5 deep", "a: [1\n": "yaml", "? [1]\n: 2": "a name must be a string",
		"a: &a [1,1,1,1,1,1,1,1]\nb: [*a,*a,*a,*a,*a,*a]": "more than 50 values",
	} {
		_, err := yamlvalue.Read([]byte(text), limits)
		require.ErrorContains(t, err, says, text)
	}
}
