package promptcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/promptcall"
	"github.com/toolcrib/toolcrib/tool"
)

func TestCheckConfig(t *testing.T) {
	t.Parallel()

	const closed = `{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`
	for config, want := range map[string]string{ // The path, and what is said.
		`{"mode": "direct", "prompt_template": "Sum up: {{text}}", "model": "a/b"}`:                                                                    "",
		`{"type": "prompt", "mode": "direct", "prompt_template": "x", "system": "{y}", "model": "a/b/c", "model_options": {"n": 1}, "output": "json"}`: "",
		``:                                 "/mode direct",
		`{}`:                               "/mode direct",
		`[]`:                               " array",
		`{"mode": "direct"} 1`:             " more than one",
		`{"mode": "direct", "agent": "a"}`: `/agent unknown field "agent"`,
		`{"mode": 1}`:                      "/mode number",
		`{"mode": "agent", "prompt_template": "x"}`:                  "/mode direct",
		`{"type": "http", "mode": "direct"}`:                         "/type not prompt",
		`{"mode": "direct", "model": "a/b"}`:                         "/prompt_template want the prompt",
		`{"mode": "direct", "model": "a/b", "prompt_template": " "}`: "/prompt_template want the prompt",
		`{"mode": "direct", "model": "a/b", "prompt_template": "{{x"}`: "/prompt_template line " +
			"1, column 1",
		`{"mode": "direct", "model": "a/b", "prompt_template": "{{txt}}"}`:                          `/prompt_template declares no "/txt"`,
		`{"mode": "direct", "prompt_template": "x"}`:                                                "/model provider/name",
		`{"mode": "direct", "prompt_template": "x", "model": "gpt"}`:                                "/model provider/name",
		`{"mode": "direct", "prompt_template": "x", "model": "/gpt"}`:                               "/model provider/name",
		`{"mode": "direct", "prompt_template": "x", "model": "a/"}`:                                 "/model provider/name",
		`{"mode": "direct", "prompt_template": "x", "model": "a/b c"}`:                              "/model provider/name",
		`{"mode": "direct", "prompt_template": "x", "model": "a/b", "output": "xml"}`:               "/output text or json",
		`{"mode": "direct", "prompt_template": "x", "model": "a/b", "model_options": [1]}`:          "/model_options JSON object",
		`{"mode": "direct", "prompt_template": "x", "model": "a/b", "system": "You serve {{who}}"}`: "/system prompt_template",
		`{"mode": "direct", "prompt_template": "x", "model": "a/b", "system": "` +
			strings.Repeat("x", promptcall.MaxSystem+1) + `"}`: "/system at most",
	} {
		err := promptcall.CheckConfig(json.RawMessage(config), json.RawMessage(closed))
		if want == "" {
			require.NoError(t, err, config)
			continue
		}
		path, says, _ := strings.Cut(want, " ")
		require.Equal(t, tool.Invalid, tool.KindOf(err), config)
		require.Equal(t, path, tool.AsError(err).Path, config)
		require.Contains(t, tool.AsError(err).Msg, says, config)
	}
	require.Equal(
		t, "a", promptcall.Provider(json.RawMessage(`{"mode": "direct", "prompt_template": "x", "model": "a/b"}`)),
	)
	require.Empty(t, promptcall.Provider(json.RawMessage(`{"mode": "agent", "target_agent_slug": "x"}`)))
}

// FuzzCheckConfig: a configuration is read, or what is wrong with it is said.
func FuzzCheckConfig(f *testing.F) {
	for _, seed := range []string{
		`{"mode": "direct", "prompt_template": "Sum up: {{text}} {{/a/0}}", "model": "a/b", "model_options": {"n": 1}, "output": "json"}`,
		`{"mode": "skill"}`, `{"mode": "direct", "system": "{{"}`, `null`, `{"model": 1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := promptcall.CheckConfig(raw, nil)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.NotEmpty(t, tool.AsError(err).Msg)
			return
		}
		require.NotEmpty(t, promptcall.Provider(raw))
	})
}
