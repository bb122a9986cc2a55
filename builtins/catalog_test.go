package builtins_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// means is a configuration with everything but a way out.
func means() builtins.Config {
	nothing := executorFunc(nil)
	return builtins.Config{
		Sandbox: box(nil), Reader: reader{}, MCP: nothing, CheckMCP: mcpcall.CheckConfig,
		Functions: function.New(function.NewRegistry()), Searcher: retrieval.NewEngine(nil, nil), Runs: runs{},
		Calls:  calls{},
		Spaces: newRoom(), Tools: noTools{},
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()

	gate, err := egress.New(egress.Config{})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	cfg := means()
	cfg.Gate = gate
	c := builtins.New(cfg)
	var keys []string
	for _, s := range c.Specs() {
		keys = append(keys, s.Key)
		require.True(t, tool.ValidSlug(s.Key))
		if s.Key != "request_input" && s.Key != "awaitSignal" { // A person, or a program, answers them.
			require.Equal(t, tool.Internal, s.Definition.Implementation)
		}
		require.True(t, s.Policy.EgressClass.Valid())
		if s.Policy.EgressClass == tool.EgressWrite {
			require.True(t, s.Policy.RequiresApproval, "nothing changes anything outside without a person's approval")
			require.False(t, s.Definition.Execution.Repeatable())
		}
		require.NotEmpty(t, s.Definition.Description)
		for _, raw := range []json.RawMessage{s.Definition.InputSchema, s.Definition.OutputSchema} {
			if raw == nil {
				continue // The answer is another tool's.
			}
			var schema jsonschema.Schema
			require.NoError(t, json.Unmarshal(raw, &schema), s.Key)
			_, err := schema.Resolve(nil)
			require.NoError(t, err, s.Key)
		}
		_, ok := c.Lookup(s.Key)
		require.True(t, ok)
	}
	require.Equal(
		t,
		[]string{
			"awaitSignal", "datetime_utils", "delete_goals", "delete_memories", "delete_plans", "enter_space", "function_call",
			"get_plans",
			"http_request", "json_transform", "leave_space", "listTools", "manageTools", "mcp_call", "read_messages",
			"read_result", "request_input", "retrieval_pipeline",
			"send_message", "set_goals", "set_memories", "set_plans", "skip", "task_status", "web_fetch", "web_search",
		},
		keys,
	)
	_, ok := c.Lookup("absent")
	require.False(t, ok)
	require.Equal(t, c.Specs(), builtins.Described(mcpcall.CheckConfig).Specs(), "what is described is what runs")
}

// A built-in without its means is missing, rather than broken.
func TestMissingMeans(t *testing.T) {
	t.Parallel()

	gate, err := egress.New(egress.Config{})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	keys := func(cfg builtins.Config) []string {
		var out []string
		for _, s := range builtins.New(cfg).Specs() {
			out = append(out, s.Key)
		}
		return out
	}
	require.Equal(t, []string{"awaitSignal", "datetime_utils", "request_input"}, keys(builtins.Config{}))
	require.Equal(t, []string{"awaitSignal", "datetime_utils", "request_input"}, keys(builtins.Config{Reader: reader{}}),
		"a reader without a way out")
	require.Equal(t, []string{"awaitSignal", "datetime_utils", "http_request", "request_input", "web_search"},
		keys(builtins.Config{Gate: gate}))
	require.Equal(t, []string{"awaitSignal", "datetime_utils", "function_call", "request_input"},
		keys(builtins.Config{Functions: function.New(function.NewRegistry())}))
}
