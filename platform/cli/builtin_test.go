package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// migrate leaves the platform's own tools in the database, for every tenant to
// see and bind.
func TestBuiltinsAreSeeded(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	first := s.ok(t, "migrate")
	var listed struct {
		Items []struct {
			Slug    string `json:"slug"`
			Scope   string `json:"scope"`
			Status  string `json:"status"`
			Builtin string `json:"builtin_key"`
		} `json:"items"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tool", "list", "--tool-type", "built_in", "--json")), &listed))
	var keys []string
	for _, item := range listed.Items {
		keys = append(keys, item.Builtin)
		require.Contains(t, first, "created "+item.Slug+"@")
		require.Equal(t, []string{item.Builtin, "global", "published"}, []string{item.Slug, item.Scope, item.Status})
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
	require.Equal(t, "up to date\n", s.ok(t, "migrate"))
}

// A key in a tenant's own web_search is accepted, warned of, and shown nowhere.
func TestBuiltinWithAKeyInTheOpen(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	s.ok(t, "migrate")
	const planted = "pl4nted-s3arch-k3y"
	definition := func(key string) string {
		return "kind: tool\nslug: web_search\ndescription: Searches.\npublish: true\nimplementation_type: internal\n" +
			"implementation_config: {builtin: web_search, api_key: " + key + "}\n"
	}
	file := s.write(t, "search.yaml", definition(planted))
	applied := s.run(t, "apply", "-f", file)
	require.Equal(t, cli.ExitOK, applied.code, applied.err)
	require.Contains(t, applied.out+applied.err, "credentials_ref", "it is warned of")
	other := s.write(t, "other.yaml", definition("an0ther-"+planted))
	for _, command := range [][]string{
		{"tool", "show", "web_search"},
		{"tool", "show", "web_search", "--json"},
		{"tool", "versions", "web_search", "--json"},
		{"tool", "list", "--json"},
		{"tool", "explain", "web_search", "--json"},
		{"tool", "diff", "-f", other},
		{"tool", "diff", "-f", other, "--json"},
		{"apply", "-f", other, "--json"},
	} {
		got := s.run(t, command...)
		require.NotContains(t, applied.out+applied.err+got.out+got.err, planted, "%v", command)
	}
	require.Contains(t, s.ok(t, "tool", "show", "web_search"), "[redacted]")

	wrong := s.write(
		t, "wrong.yaml",
		"kind: tool\nslug: clock\nimplementation_type: internal\nimplementation_config: {builtin: datetime_utils}\n",
	)
	got := s.run(t, "apply", "-f", wrong)
	require.Equal(t, cli.ExitInvalid, got.code)
	require.Contains(t, got.err, "wrong.yaml:4")
}
