package wait_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

func TestReadResult(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]*tool.Result{
		`"found"`:                        {Content: []tool.Content{tool.Text("found")}, Structured: []byte(`"found"`)},
		` {"a":1} `:                      tool.JSONResult([]byte(`{"a":1}`)),
		`null`:                           tool.JSONResult([]byte(`null`)),
		`[1,2]`:                          tool.JSONResult([]byte(`[1,2]`)),
		`[]`:                             tool.JSONResult([]byte(`[]`)),
		`[{"type":"text","text":"hi"}]`:  {Content: []tool.Content{tool.Text("hi")}},
		`[{"type":"json","json":[1]}]`:   {Content: []tool.Content{tool.JSON([]byte(`[1]`))}},
		`[{"type":"text","words":"hi"}]`: tool.JSONResult([]byte(`[{"type":"text","words":"hi"}]`)),
		`[{"type":"cat","text":"hi"}]`:   tool.JSONResult([]byte(`[{"type":"cat","text":"hi"}]`)),
	} {
		got, err := wait.ReadResult([]byte(raw))
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
	}
	for _, raw := range []string{``, `{`, `nothing`} {
		_, err := wait.ReadResult([]byte(raw))
		require.Equal(t, tool.Invalid, tool.KindOf(err), raw)
	}
}

// A result is waited for unless the definition gives one, and asks for no other.
func TestDefaultResult(t *testing.T) {
	t.Parallel()

	given := json.RawMessage(`{"success":true}`)
	for name, c := range map[string]struct {
		interaction tool.Interaction
		want        *tool.Result
	}{
		"nothing said":      {tool.Interaction{}, nil},
		"a default":         {tool.Interaction{DefaultResult: given}, tool.JSONResult(given)},
		"a response too":    {tool.Interaction{DefaultResult: given, RequiresResponse: true}, nil},
		"it is in no hurry": {tool.Interaction{DefaultResult: given, Async: true}, nil},
	} {
		got, err := wait.DefaultResult(&c.interaction)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}
