package remote_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/schema/project"
)

// Every name gets one that is allowed and its own, and finds its way back.
func TestNames(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 65)
	ours := []string{"getOrder", "get.order", "get/order", "größe", long, long + "y", strings.Repeat("ü", 200), "a"}
	req := &agent.ModelRequest{Messages: []agent.Message{{Calls: []agent.Call{{Name: "from the transcript"}, {Name: ""}}}}}
	for _, name := range ours {
		req.Tools = append(req.Tools, agent.ToolSpec{Name: name})
	}
	names := remote.NewNames(req)
	seen := make(map[string]bool)
	for _, name := range append(ours, "from the transcript", "") {
		wire := names.Wire(name)
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, wire)
		require.False(t, seen[wire], wire)
		seen[wire] = true
		require.Equal(t, name, names.Ours(wire))
		require.Equal(t, wire, remote.NewNames(req).Wire(name), "the same at every turn")
	}
	require.Equal(t, "getOrder", names.Wire("getOrder"))
	require.Equal(t, "made_up", names.Ours("made_up"))

	// A tool may be called what another would be made into.
	// What the provider calls a tool of its own, ours are not called; a call of
	// that name is one of the provider's tool.
	names = remote.NewNames(&agent.ModelRequest{
		Tools: []agent.ToolSpec{{Name: "web_search"}},
		ProviderTools: []agent.ProviderTool{
			{Name: "searchWeb", Tool: json.RawMessage(`{"type":"x","name":"web_search"}`)},
			{Name: "run", Tool: json.RawMessage(`{"type":"y"}`)},
		},
	})
	require.Equal(t, "searchWeb", names.Ours("web_search"))
	require.Regexp(t, "^web_search_[0-9a-f]{8}$", names.Wire("web_search"))
	require.Equal(t, "web_search", names.Ours(names.Wire("web_search")))

	taken := remote.NewNames(&agent.ModelRequest{Tools: []agent.ToolSpec{{Name: "get.order"}}}).Wire("get.order")
	names = remote.NewNames(&agent.ModelRequest{Tools: []agent.ToolSpec{{Name: "get.order"}, {Name: taken}}})
	require.Equal(t, taken, names.Wire(taken))
	require.NotEqual(t, taken, names.Wire("get.order"))
	require.Equal(t, "get.order", names.Ours(names.Wire("get.order")))
}

// A tool whose schema has no form at the provider is left out, alone, with the reason.
func TestProjectTools(t *testing.T) {
	t.Parallel()

	tools, omitted := remote.ProjectTools([]agent.ToolSpec{
		{Name: "a", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"minimum":9007199254740993}}}`)},
		{Name: "list", InputSchema: json.RawMessage(`{"type":"array"}`)},
		{Name: "broken", InputSchema: json.RawMessage(`{`)},
		{Name: "b"},
	}, project.OpenAI)
	require.Equal(t, []agent.OmittedTool{
		{Name: "list", Reason: "input schema: it accepts no object"}, {Name: "broken", Reason: "input schema: it is not JSON"},
	}, omitted)
	require.Equal(t, []string{"a", "b"}, remote.ToolNames(tools))
	got, err := json.Marshal(tools[0].Schema)
	require.NoError(t, err)
	require.Contains(t, string(got), "9007199254740993", "numbers lose nothing")
}

func TestArguments(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		``: `{}`, ` `: `{}`, `{"a":1}`: `{"a":1}`, `[1]`: `[1]`, `"x"`: `"x"`, `{'a'`: `"{'a'"`, "\xff": `"\ufffd"`,
	} {
		require.Equal(t, want, string(remote.ReadArguments(text)), text)
	}
	for raw, want := range map[string]string{
		`{ "a" : 9007199254740993 }`: `{"a":9007199254740993}`, `[1]`: `{"malformed_arguments":"[1]"}`,
		`"{'a'"`: `{"malformed_arguments":"{'a'"}`, ``: `{"malformed_arguments":""}`, `{`: `{"malformed_arguments":"{"}`,
	} {
		require.JSONEq(t, want, string(remote.WriteArguments(json.RawMessage(raw))), raw)
	}
}
