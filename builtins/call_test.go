package builtins_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/tool"
)

// mcpBench is a bench with an mcp executor that keeps what it was called with.
func mcpBench(t *testing.T) (b *bench, cfg builtins.Config, last func() *tool.Call) {
	t.Helper()
	b = newBench(t, func(http.ResponseWriter, *http.Request) {})
	var called *tool.Call
	cfg = builtins.Config{
		CheckMCP: mcpcall.CheckConfig, MCP: executorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
			called = call
			return tool.JSONResult([]byte(`{"done": true}`)), nil
		}),
	}
	return b, cfg, func() *tool.Call { return called }
}

// A call of mcp_call is one of an mcp tool, with everything it was admitted under.
func TestMCPCall(t *testing.T) {
	t.Parallel()

	b, cfg, last := mcpBench(t)
	_, res := b.ok(
		t, cfg, "mcp_call", `{"server_url": "https://mcp.example/mcp", "tool_name": "lookUp", "arguments": {"id": 1.10}}`,
	)
	require.JSONEq(t, `{"done": true}`, string(res.Structured))
	require.Equal(t, tool.MCP, last().Version.Snapshot.Implementation)
	require.JSONEq(t, `{"server_url": "https://mcp.example/mcp", "tool_name": "lookUp"}`,
		string(last().Version.Snapshot.Config))
	require.Equal(t, `{"id":1.10}`, string(last().Arguments), "to the digit")
	require.Equal(t, tool.EgressWrite, last().Egress)
	require.Equal(t, "effect-1", last().EffectID)
	require.Equal(t, tool.TenantID("t1"), last().Principal.Tenant)

	b.ok(t, cfg, "mcp_call", `{"server": "tracker", "tool_name": "lookUp"}`)
	require.JSONEq(t, `{"server": "tracker", "tool_name": "lookUp"}`, string(last().Version.Snapshot.Config))
	require.Equal(t, `{}`, string(last().Arguments))
}

func TestMCPCallRefuses(t *testing.T) {
	t.Parallel()

	b, cfg, last := mcpBench(t)
	for args, want := range map[string]string{
		`{"tool_name": "x"}`: "either server_url or server",
		`{"tool_name": "x", "server": "a", "server_url": "https://mcp.example/"}`: "either server_url or server",
		`{"tool_name": "x", "server_url": "file:///etc/passwd"}`:                  "server_url",
		`{"tool_name": "x", "server": "../a b"}`:                                  "server",
	} {
		require.Contains(t, b.no(t, cfg, "mcp_call", args), want, args)
	}
	for _, args := range []string{
		`{"tool_name": "x", "server": "a", "headers": {"Authorization": "Bearer x"}}`,
		`{"tool_name": "x", "server": "a", "transport": "stdio", "command": "sh"}`,
	} {
		_, err := b.run(t, cfg, "mcp_call", args)
		require.Equal(t, tool.Invalid, tool.KindOf(err), "a model names no credential and no command: %s", args)
	}
	for _, lesser := range []tool.Egress{tool.EgressReadOnly, tool.EgressNone, ""} {
		_, err := b.run(t, cfg, "mcp_call", `{"server": "tracker", "tool_name": "lookUp"}`, class(lesser))
		require.Equal(t, tool.Denied, tool.KindOf(err), "a policy that asks nobody lets no unknown tool be called")
	}
	require.Nil(t, last(), "nothing was called")
}

// A tenant's own mcp_call is for the server that its configuration names.
func TestMCPCallOfOneServer(t *testing.T) {
	t.Parallel()

	b, cfg, last := mcpBench(t)
	own := b.configured(`{"builtin": "mcp_call", "server_url": "https://mcp.example/mcp", "allowed_tools": ["lookUp"],
		"auth": {"type": "bearer", "credentials_ref": "mcp"}}`)
	b.ok(t, cfg, "mcp_call", `{"tool_name": "lookUp"}`, own)
	require.JSONEq(t, `{"server_url": "https://mcp.example/mcp", "tool_name": "lookUp", "auth": {"type": "bearer", "credentials_ref": "mcp"}}`,
		string(last().Version.Snapshot.Config))
	require.Contains(t, b.no(t, cfg, "mcp_call", `{"tool_name": "drop"}`, own), "lookUp only")
	require.Contains(t, b.no(t, cfg, "mcp_call", `{"tool_name": "lookUp", "server_url": "https://evil.example/"}`, own),
		"leave them out",
		"its credential goes to no other server")
}

type convertInput struct {
	Metres float64 `json:"metres"`
}

type convertOutput struct {
	Feet float64 `json:"feet"`
}

func functions(t *testing.T) builtins.Config {
	t.Helper()
	reg := function.NewRegistry()
	convert := func(_ context.Context, in convertInput) (convertOutput, error) {
		if in.Metres < 0 {
			return convertOutput{}, errors.New("nothing is that short")
		}
		return convertOutput{in.Metres / 0.3048}, nil
	}
	require.NoError(t, function.Define(reg, "toFeet", "Converts.", convert, function.Callable()))
	require.NoError(t, function.Define(reg, "hidden", "Not by name.", convert))
	require.NoError(t, function.Define(reg, "forT2", "For another.", convert, function.Callable(), function.Tenants("t2")))
	require.NoError(
		t,
		function.Define(reg, "writes", "Changes something.", convert, function.Callable(), function.Egress(tool.EgressWrite)),
	)
	return builtins.Config{Functions: function.New(reg)}
}

func TestFunctionCall(t *testing.T) {
	t.Parallel()

	b := newBench(t, nil)
	cfg := functions(t)
	out, _ := b.ok(t, cfg, "function_call", `{"function_name": "toFeet", "arguments": {"metres": 3.048}}`)
	require.InDelta(t, 10, out["feet"], 1e-9)
	require.Equal(
		t, "nothing is that short",
		b.no(t, cfg, "function_call", `{"function_name": "toFeet", "arguments": {"metres": -1}}`),
	)
	out, _ = b.ok(t, cfg, "function_call", `{"function_name": "forT2", "arguments": {"metres": 3.048}}`, tenant("t2"))
	require.InDelta(t, 10, out["feet"], 1e-9)
}

// Only what the host made callable is called, by those who may, with what fits.
func TestFunctionCallRefuses(t *testing.T) {
	t.Parallel()

	b := newBench(t, nil)
	cfg := functions(t)
	for _, name := range []string{"hidden", "forT2", "absent"} {
		text := b.no(t, cfg, "function_call", `{"function_name": "`+name+`", "arguments": {"metres": 1}}`)
		require.Equal(t, `no function "`+name+`" can be called by name: there are toFeet, writes`, text)
	}
	for args, want := range map[string]string{
		`{}`:                        "metres",
		`{"metres": "far"}`:         "metres",
		`{"metres": 1, "other": 2}`: "other",
	} {
		require.Contains(t, b.no(t, cfg, "function_call", `{"function_name": "toFeet", "arguments": `+args+`}`), want)
	}
	_, err := b.run(t, cfg, "function_call", `{"function_name": "writes", "arguments": {"metres": 1}}`)
	require.Equal(t, tool.Denied, tool.KindOf(err), "what writes needs a tool of its own")
	require.ErrorContains(t, err, "write")
}
