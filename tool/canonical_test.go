package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestCanonical(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, in, want string }{
		{"SortsKeys", `{"b":1,"a":{"d":1,"c":2}}`, `{"a":{"c":2,"d":1},"b":1}`},
		{"DropsSpace", " [ 1 ,\n2 ] ", `[1,2]`},
		{"KeepsNumbers", `{"id":9007199254740993,"x":1.0,"y":1e400}`, `{"id":9007199254740993,"x":1.0,"y":1e400}`},
		{"KeepsHTML", `"<a>&"`, `"<a>&"`},
		{"EmptyIsAnObject", "", `{}`},
		{"NullStays", "null", "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := tool.Canonical(json.RawMessage(tt.in))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
	for _, in := range []string{"{", "{} {}", "nope", `{"a":}`} {
		_, err := tool.Canonical(json.RawMessage(in))
		require.Error(t, err, in)
	}
}

// Equal content has one digest; any change of content has another.
func TestSnapshotDigest(t *testing.T) {
	t.Parallel()

	base := tool.Definition{
		Name: "Search", InputSchema: json.RawMessage(`{"type":"object","required":["q"]}`), Implementation: tool.HTTP,
	}
	digest := func(change func(*tool.Definition)) string {
		d := base
		change(&d)
		got, err := tool.Snapshot{Definition: d}.Digest()
		require.NoError(t, err)
		return got
	}
	same := digest(func(d *tool.Definition) { d.InputSchema = json.RawMessage(`{ "required":["q"], "type":"object" }`) })
	require.Equal(t, digest(func(*tool.Definition) {}), same)
	for name, change := range map[string]func(*tool.Definition){
		"Name":        func(d *tool.Definition) { d.Name = "Find" },
		"Description": func(d *tool.Definition) { d.Description = "x" },
		"Schema":      func(d *tool.Definition) { d.InputSchema = json.RawMessage(`{"type":"object"}`) },
		"Config":      func(d *tool.Definition) { d.Config = json.RawMessage(`{"url":"x"}`) },
		"Type":        func(d *tool.Definition) { d.Implementation = tool.Function },
		"Execution":   func(d *tool.Definition) { d.Execution.Pure = true },
		"Interaction": func(d *tool.Definition) { d.Interaction.Intent = tool.Act },
	} {
		require.NotEqual(t, same, digest(change), name)
	}
}
