package mcpcall_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// An approval is bound to the server as it is attached: to its address, headers and credential.
func TestApprovalsAreBoundToTheServer(t *testing.T) {
	t.Parallel()

	servers := attached{}
	_, client := newClient(t, "http://127.0.0.1:1", mcpcall.Options{Servers: servers})
	target := func(config string) wait.Target {
		found, err := mcpcall.Type(client).Target(t.Context(), wait.Aim{
			Tenant: "t1", Content: "content", Config: json.RawMessage(config),
		})
		require.NoError(t, err)
		return found
	}
	const named = `{"server": "orders", "tool_name": "order"}`
	seen := map[string]string{}
	for name, s := range map[string]remote.Server{
		"as it is": {URL: "https://orders.example.com/mcp"},
		"path":     {URL: "https://orders.example.com/other"},
		"host":     {URL: "https://elsewhere.example.com/mcp"},
		"header":   {URL: "https://orders.example.com/mcp", Headers: map[string]remote.Header{"X-Shop": {Literal: "2"}}},
		"credential": {
			URL: "https://orders.example.com/mcp", Auth: &remote.Auth{Type: remote.AuthBearer, CredentialsRef: "shop"},
		},
	} {
		servers["t1/orders"] = s
		found := target(named)
		require.Equal(t, s.Name(), found.Host, name)
		require.Equal(t, s.CredentialsRef(), found.Credential, name)
		bound := found.Bind("arguments")
		require.Equal(t, bound, target(named).Bind("arguments"), name)
		require.NotContains(t, seen, bound, "%s and %s", name, seen[bound])
		seen[bound] = name
	}
	inPlace := target(`{"server_url": "https://orders.example.com/mcp", "tool_name": "order"}`)
	require.Equal(t, wait.Target{Content: "content", Host: "orders.example.com"}, inPlace, "its content has the server")

	_, err := mcpcall.Type(client).Target(t.Context(), wait.Aim{
		Tenant: "t2", Content: "content", Config: json.RawMessage(named),
	})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}
