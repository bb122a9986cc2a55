package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// The output check is content: a version pins it, and a change of it demands the
// bump of the promise that it makes or drops.
func TestOutputCheck(t *testing.T) {
	t.Parallel()

	output := func(check tool.OutputCheck, schema string) func(*definition.ToolSpec) {
		return func(s *definition.ToolSpec) {
			s.OutputCheck = check
			if schema != "" {
				s.OutputSchema = json.RawMessage(schema)
			}
		}
	}
	const schema = `{"type":"object"}`
	for name, tt := range map[string]struct {
		before, after tool.OutputCheck
		schema        string
		least, says   string
	}{
		"dropping the promise": {
			"", tool.OutputWarn, schema, "2.0.0", "output_check: answers outside the output schema are passed on now (major)",
		},
		"making it": {
			tool.OutputWarn, tool.OutputRefuse, schema, "1.1.0",
			"output_check: answers outside the output schema are refused now (minor)",
		},
		"spelling the default out": {"", tool.OutputRefuse, schema, "1.0.1", ""},
		"nothing to promise":       {"", tool.OutputWarn, "", "1.0.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ref := tool.Ref{Slug: "findOrder"}
			_, _, err := b.registry.Create(
				t.Context(),
				b.ada,
				spec("findOrder", version("1.0.0"), output(tt.before, tt.schema)),
			)
			require.NoError(t, err)
			_, first, err := b.registry.Publish(t.Context(), b.ada, ref)
			require.NoError(t, err)
			require.Equal(t, tt.before, first.Snapshot.OutputCheck)
			_, _, err = b.registry.Update(t.Context(), b.ada, ref,
				spec("findOrder", version("1.0.0"), output(tt.after, tt.schema)))
			require.NoError(t, err)

			diff, err := b.registry.Compare(t.Context(), b.ada, ref, "", "")
			require.NoError(t, err)
			require.Equal(t, tt.least, diff.Least)
			require.Len(t, diff.Changes, 1)
			require.Equal(t, "output_check", diff.Changes[0].Path)
			if tt.says != "" {
				require.Equal(t, tt.says, diff.Changes[0].String())
			}
			_, _, err = b.registry.Version(t.Context(), b.ada, ref, "1.0.0")
			registrytest.RequireRefused(t, err, tool.Conflict, "/version", "at least "+tt.least)
			_, second, err := b.registry.Version(t.Context(), b.ada, ref, tt.least)
			require.NoError(t, err)
			require.NotEqual(t, first.Digest, second.Digest)
		})
	}

	b := setup(t)
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder", output("ignore", schema)))
	registrytest.RequireRefused(t, err, tool.Invalid, "/output_check", "expected refuse or warn")
	d, err := definition.Parse(
		json.RawMessage(
			`{"slug":"x","implementation_type":"internal","output_schema":{"type":"object"},"output_check":"warn"}`,
		),
	)
	require.NoError(t, err)
	require.Equal(t, tool.OutputWarn, d.Tool.OutputCheck)
}
