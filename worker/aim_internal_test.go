package worker

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// oneServer is a server that is attached as orders.
type oneServer struct{ url string }

func (s oneServer) Server(_ context.Context, _ tool.TenantID, slug, _ string) (remote.Server, error) {
	if slug != "orders" {
		return remote.Server{}, &tool.Error{Kind: tool.NotFound, Msg: "no such server"}
	}
	return remote.Server{URL: s.url}, nil
}

func (s oneServer) Trusted(_ context.Context, tenant tool.TenantID, slug string) (bool, error) {
	if slug != "orders" {
		return false, &tool.Error{Kind: tool.NotFound, Msg: "no such server"}
	}
	return tenant == "t1", nil
}

// Results of an attached server that an administrator trusts taint nothing, unless the tool says so.
func TestTrustedServersDoNotTaint(t *testing.T) {
	t.Parallel()

	client := mcpcall.NewClient(mcpcall.Options{Servers: oneServer{"https://orders.example.com/mcp"}})
	types := parts{builtins: builtins.Described(mcpcall.CheckConfig), servers: client}.types()
	taints := func(tenant tool.TenantID, builtin, config string, trust tool.Trust) bool {
		implementation := tool.MCP
		if builtin != "" {
			implementation = tool.Internal
		}
		return types.Taints(t.Context(), wait.Aim{
			Tenant: tenant, Implementation: implementation, Builtin: builtin, Config: json.RawMessage(config),
		}, trust)
	}
	const own = `{"server":"orders","tool_name":"get"}`
	require.False(t, taints("t1", "", own, ""))
	require.True(t, taints("t1", "", own, tool.Untrusted), "the tool's own trust comes first")
	require.True(t, taints("t2", "", own, ""), "another tenant did not say so")
	require.False(t, taints("t2", "", own, tool.Trusted))
	require.True(t, taints("t1", "", `{"server":"others","tool_name":"get"}`, ""), "it is not attached")
	require.True(t, taints("t1", "", `{"server_url":"https://orders.example.com/mcp","tool_name":"get"}`, ""))
	require.True(t, taints("t1", "mcp_call", "", ""), "it may name any server")
}

// The approval of a call of the built-in mcp_call is bound to the server as it is attached, no
// matter whether the tool's configuration or the call's arguments name it.
func TestApprovalsOfMCPCallAreBoundToTheServer(t *testing.T) {
	t.Parallel()

	target := func(at, builtin, config, arguments string) (wait.Target, error) {
		client := mcpcall.NewClient(mcpcall.Options{Servers: oneServer{at}})
		types := parts{builtins: builtins.Described(mcpcall.CheckConfig), servers: client}.types()
		aimed := types.Aims(tool.Internal, builtin, json.RawMessage(config), json.RawMessage(arguments))
		require.NotContains(t, string(aimed), "secret", "only what names the server")
		return types.Target(t.Context(), wait.Aim{
			Tenant: "t1", Implementation: tool.Internal, Builtin: builtin, Content: "content",
			Config: json.RawMessage(config), Arguments: aimed,
		})
	}
	const here, there = "https://orders.example.com/mcp", "https://elsewhere.example.com/mcp"
	for name, call := range map[string][3]string{
		"by arguments":     {"mcp_call", "", `{"server":"orders","tool_name":"get","arguments":{"a":"secret"}}`},
		"by configuration": {"", `{"builtin":"mcp_call","server":"orders"}`, `{"tool_name":"get","arguments":{"a":"secret"}}`},
	} {
		asked, err := target(here, call[0], call[1], call[2])
		require.NoError(t, err, name)
		require.Equal(t, "orders.example.com", asked.Host, name)
		again, err := target(here, call[0], call[1], call[2])
		require.NoError(t, err)
		require.Equal(t, asked, again, name)
		moved, err := target(there, call[0], call[1], call[2])
		require.NoError(t, err)
		require.Equal(t, "elsewhere.example.com", moved.Host, name)
		require.NotEqual(t, asked.Bind("arguments"), moved.Bind("arguments"), name)
	}
	inPlace, err := target(here, "mcp_call", "", `{"server_url":"https://api.example.org/mcp","tool_name":"get"}`)
	require.NoError(t, err)
	require.Equal(t, wait.Target{Content: "content", Host: "api.example.org"}, inPlace, "the arguments have the address")
	_, err = target(here, "mcp_call", "", `{"server":"none","tool_name":"get"}`)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	for _, nonsense := range []string{`{}`, `{"server":"orders","server_url":"https://x.example","tool_name":"a"}`, `[]`} {
		found, err := target(here, "mcp_call", "", nonsense)
		require.NoError(t, err)
		require.Equal(t, wait.Target{Content: "content"}, found, "the call will be refused")
	}
	other, err := target(here, "datetime_utils", "", `{"operation":"now","server":"orders"}`)
	require.NoError(t, err)
	require.Equal(t, wait.Target{Content: "content"}, other)
}
