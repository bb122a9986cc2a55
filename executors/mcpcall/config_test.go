package mcpcall_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/tool"
)

func TestCheckConfig(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct{ config, path string }{
		"no server":                  {`{"tool_name": "a"}`, "/server_url"},
		"no tool":                    {`{"server_url": "https://a.example/mcp"}`, "/tool_name"},
		"a tool's name with a space": {`{"server_url": "https://a.example/mcp", "tool_name": "a b"}`, "/tool_name"},
		"another type":               {`{"type": "http", "server_url": "https://a.example", "tool_name": "a"}`, "/type"},
		"an unknown member":          {`{"server_url": "https://a.example", "tool_name": "a", "url": "x"}`, "/url"},
		"a member of another type":   {`{"server_url": 7, "tool_name": "a"}`, "/server_url"},
		"another scheme":             {`{"server_url": "file:///etc/passwd", "tool_name": "a"}`, "/server_url"},
		"no host":                    {`{"server_url": "https:///x", "tool_name": "a"}`, "/server_url"},
		"a user in the address":      {`{"server_url": "https://me:pass@a.example", "tool_name": "a"}`, "/server_url"},
		"a secret in the address":    {`{"server_url": "https://a.example?api_key=x", "tool_name": "a"}`, "/server_url"},
		"a template for a host":      {`{"server_url": "https://{host}/x", "tool_name": "a"}`, "/server_url"},
		"another transport": {
			`{"server_url": "https://a.example", "tool_name": "a", "transport": "pigeon"}`, "/transport",
		},
		"a literal secret": {
			`{"server_url": "https://a.example", "tool_name": "a", "headers": {"X-Api-Key": "x"}}`, "/headers/X-Api-Key",
		},
		"a header of the protocol": {
			`{"server_url": "https://a.example", "tool_name": "a", "headers": {"mcp-session-id": "x"}}`,
			"/headers/mcp-session-id",
		},
		"a header of the platform": {
			`{"server_url": "https://a.example", "tool_name": "a", "headers": {"Idempotency-Key": "x"}}`,
			"/headers/Idempotency-Key",
		},
		"a header with a line break": {
			`{"server_url": "https://a.example", "tool_name": "a", "headers": {"X-A": "x\r\nY: z"}}`, "/headers/X-A",
		},
		"a header that is a list": {
			`{"server_url": "https://a.example", "tool_name": "a", "headers": {"X-A": ["x"]}}`, "/headers/X-A",
		},
		"two credentials": {
			`{"server_url": "https://a.example", "tool_name": "a", "headers": {"X-A": {"credentials_ref": "k"}}, "auth": {"type": "bearer", "credentials_ref": "k"}}`,
			"/auth",
		},
		"a credential without a name": {
			`{"server_url": "https://a.example", "tool_name": "a", "auth": {"type": "bearer", "credentials_ref": "../k"}}`,
			"/auth/credentials_ref",
		},
		"auth of another type": {
			`{"server_url": "https://a.example", "tool_name": "a", "auth": {"type": "digest", "credentials_ref": "k"}}`,
			"/auth/type",
		},
		"a path for a command":     {`{"transport": "stdio", "command": "/bin/sh", "tool_name": "a"}`, "/command"},
		"a command with arguments": {`{"transport": "stdio", "command": "sh -c id", "tool_name": "a"}`, "/command"},
		"a command with an address": {
			`{"transport": "stdio", "command": "sh", "server_url": "https://a.example", "tool_name": "a"}`, "/server_url",
		},
		"a command over HTTP":         {`{"server_url": "https://a.example", "command": "sh", "tool_name": "a"}`, "/command"},
		"an attached server and more": {`{"server": "a", "server_url": "https://a.example", "tool_name": "a"}`, "/server"},
		"a slug that is none":         {`{"server": "../a", "tool_name": "a"}`, "/server"},
		"a digest that is none": {
			`{"server": "a", "tool_name": "a", "definition_digest": "abc"}`, "/definition_digest",
		},
		"too long answers": {`{"server": "a", "tool_name": "a", "max_bytes": 99999999}`, "/max_bytes"},
		"too much":         {`{"server": "a", "tool_name": "` + strings.Repeat("a", 1<<17) + `"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := mcpcall.CheckConfig([]byte(tt.config))
			var e *tool.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.NotEmpty(t, e.Msg)
		})
	}
	for _, config := range []string{
		`{"server_url": "https://a.example/mcp", "tool_name": "a"}`,
		`{"type": "mcp", "server_url": "http://10.0.0.1:8080/mcp?team=desk", "tool_name": "a.b/c-d_e", "transport": "sse"}`,
		`{"server_url": "https://a.example", "tool_name": "a", "headers": {"X-Team": "desk", "Authorization": {"credentials_ref": "k"}}}`,
		`{"server_url": "https://a.example", "tool_name": "a", "auth": {"type": "header", "credentials_ref": "k", "header": "X-Api-Key"}}`,
		`{"transport": "stdio", "command": "files", "tool_name": "read"}`,
		`{"server": "files", "tool_name": "read", "definition_digest": "` + strings.Repeat("0", 64) + `", "max_bytes": 1000}`,
	} {
		require.NoError(t, mcpcall.CheckConfig([]byte(config)), config)
	}
}
