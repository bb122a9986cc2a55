package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

func TestReadProviderTool(t *testing.T) {
	t.Parallel()

	const raw = `{"type": "web_search_20250305", "name": "web_search", "max_uses": 9007199254740993}`
	got, err := agent.ReadProviderTool(
		"searchWeb", json.RawMessage(`{"type": "provider", "provider": "anthropic", "tool": `+raw+`}`),
	)
	require.NoError(t, err)
	require.Equal(t, agent.ProviderTool{Name: "searchWeb", Provider: "anthropic", Tool: json.RawMessage(raw)}, got,
		"it is passed on as it stands")
	require.Equal(t, "web_search_20250305", got.Type())
	require.Equal(t, "web_search", got.CalledAs())
	require.NoError(t, got.Fits("anthropic/claude"))
	require.ErrorContains(t, got.Fits("openai/gpt"), `run by the model provider "anthropic", and the model "openai/gpt"`)

	for config, path := range map[string]string{
		``:                                       "/provider",
		`{}`:                                     "/provider",
		`[]`:                                     "",
		`{"`:                                     "",
		`{}1`:                                    "",
		`{"provider": 1}`:                        "/provider",
		`{"provider": "a/b", "tool": {}}`:        "/provider",
		`{"type": "http"}`:                       "/type",
		`{"provider": "a", "tols": {}}`:          "",
		`{"provider": "a"}`:                      "/tool",
		`{"provider": "a", "tool": null}`:        "/tool",
		`{"provider": "a", "tool": "x"}`:         "/tool",
		`{"provider": "a", "tool": {}}`:          "/tool/type",
		`{"provider": "a", "tool": {"type": 1}}`: "/tool/type",
		`{"provider": "a", "tool": {"type": "function", "function": {}}}`:                                     "/tool/type",
		`{"provider": "a", "tool": {"type": "custom"}}`:                                                       "/tool/type",
		`{"provider": "a", "tool": {"type": "x", "y": "` + strings.Repeat("y", agent.MaxProviderTool) + `"}}`: "/tool",
	} {
		_, err := agent.ReadProviderTool("x", json.RawMessage(config))
		require.Equal(t, tool.Invalid, tool.KindOf(err), config)
		require.Equal(t, path, tool.AsError(err).Path, config)
	}
}

func TestProviderBlock(t *testing.T) {
	t.Parallel()

	provider, ok := agent.BlockProvider(agent.ProviderBlock("anthropic", json.RawMessage(`{}`)))
	require.True(t, ok)
	require.Equal(t, "anthropic", provider)
	for _, c := range []tool.Content{tool.Text("x"), tool.JSON(json.RawMessage(`{}`))} {
		_, ok := agent.BlockProvider(c)
		require.False(t, ok)
	}
}

// FuzzReadProviderTool: what is read can be passed on, and what is not says
// where it is wrong.
func FuzzReadProviderTool(f *testing.F) {
	for _, seed := range []string{
		`{"provider": "a", "tool": {"type": "x", "name": "y"}}`, `{"provider": "", "tool": 1}`, `null`,
		`{"provider":"a","tool":{"type":"function"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := agent.ReadProviderTool("x", raw)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		require.True(t, json.Valid(got.Tool))
		require.NotEmpty(t, got.Type())
		require.NotEmpty(t, got.Provider)
		require.NoError(t, got.Fits(got.Provider+"/m"))
	})
}
