package views

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// A secret with hidden characters in it is hidden as one without.
func TestSecretsAreFoundBehindHiddenCharacters(t *testing.T) {
	t.Parallel()

	const hidden = "\u200b"
	require.Equal(t, clean("https://ada:hunter2@x.example/"), clean("https://ada:hunt"+hidden+"er2@x."+hidden+"example/"))
	for _, raw := range []string{
		`{"pass\u200bword":"hunter2"}`, `{"pass` + hidden + `word":"hunter2"}`, `["--pass\u200bword hunter2"]`,
		`{"https://ada:hunter2@x.example/":1}`, `{"a":{"https://ada:hunter2@x.example/":1}}`,
		`{"link":"https://ada:hunt\u200ber2@x.example/"}`, `[{"https://ada:hunter2@x.example/":1}]`,
	} {
		shown, err := json.Marshal(ofJSON(json.RawMessage(raw)))
		require.NoError(t, err)
		require.NotContains(t, string(shown), "hunter2", raw)
		require.Contains(t, string(shown), tool.Redacted, raw)
	}
	require.Equal(t, block{Rows: []row{{Name: `a"b\`, Value: "1 < 2 & 3"}, {Name: "c", Value: "7"}}},
		ofJSON(json.RawMessage(`{"a\"b\\":"1 < 2 & 3","c":7}`)))
}
