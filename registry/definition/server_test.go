package definition_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// Servers come with definitions, alone or with the agent that uses them.
func TestParseServers(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"a kind of its own": `{"kind":"mcp_server","slug":"files","server_url":"https://f.example/mcp","allowed_tools":["read_file"],"auth":{"type":"bearer","credentials_ref":"token"}}`,
		"in camel case":     `{"kind":"mcp_server","name":"files","serverUrl":"https://f.example/mcp","transport":"http","allowedTools":["read_file"],"credentialsRef":"token"}`,
		"a list":            `{"mcp_servers":[{"name":"files","url":"https://f.example/mcp","transport":"sse","allowedTools":["read_file"],"credential":"token"}]}`,
		"an agent's":        `{"mcp":{"servers":[{"name":"files","url":"https://f.example/mcp","transport":"http","allowedTools":["read_file"],"credential":"token"}]},"kind":"agent","slug":"desk"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := definition.ParseAll([]byte(raw))
			require.NoError(t, err)
			s := all[0].Server
			require.NotNil(t, s)
			require.Equal(t, "mcp_server", all[0].Kind())
			require.Equal(t, "files", all[0].Slug())
			require.Equal(t, "https://f.example/mcp", s.URL)
			want := map[bool]string{false: "streamable_http", true: "sse"}[strings.Contains(raw, `"sse"`)]
			require.EqualValues(t, want, s.Kind())
			require.Equal(t, []string{"read_file"}, s.AllowedTools)
			require.Equal(t, "token", s.Auth.CredentialsRef)
			require.Equal(t, "bearer", s.Auth.Type)
			if strings.Contains(raw, "agent") {
				require.Equal(t, "desk", all[1].Agent.Slug)
			}
		})
	}
	for name, tt := range map[string]struct{ raw, path, text string }{
		"a typo": {
			`{"kind":"mcp_server","slug":"a","allowed_tool":["x"]}`, "/allowed_tool", "did you mean allowed_tools?",
		},
		"a typo in a list": {
			`{"mcp_servers":[{"slug":"a"},{"slug":"b","urls":"x"}]}`, "/mcp_servers/1/urls", "unknown field",
		},
		"no list": {`{"mcp_servers":{}}`, "/mcp_servers", "expected a list"},
		"nothing": {`{"mcp_servers":[]}`, "/mcp_servers", "at least one"},
		"a tool's": {
			`{"slug":"a","mcp":{"servers":[{"name":"f","url":"https://f.example"}]}}`, "/mcp", "only an agent",
		},
		"two credentials": {
			`{"kind":"mcp_server","slug":"a","credential":"x","auth":{"type":"bearer","credentials_ref":"y"}}`,
			"/credentials_ref", "expected one of them",
		},
		"two addresses":     {`{"kind":"mcp_server","slug":"a","url":"x","server_url":"y"}`, "/url", "the same field"},
		"a number of a URL": {`{"kind":"mcp_server","slug":"a","url":5}`, "/server_url", "expected a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := definition.ParseAll([]byte(tt.raw))
			registrytest.RequireRefused(t, err, tool.Invalid, tt.path, tt.text)
		})
	}
	require.Equal(t, "github-issues-2", definition.ServerSlug("GitHub / Issues (2)"))
}
