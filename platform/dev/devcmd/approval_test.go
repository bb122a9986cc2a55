package devcmd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// A tool that reads completes; one that writes waits until somebody else has approved it,
// with the key that toolcrib dev made for that (checklist S2-45).
func TestWritingToolWaits(t *testing.T) {
	t.Parallel()

	const tools = `slug: %SLUG
implementation_type: function
version: 1.0.0
publish: true
egress_class: %CLASS
implementation_config: {function_name: greet}
input_schema: {type: object, properties: {name: {type: string}}}
`
	for slug, class := range map[string]string{"peruse": "read_only", "scrawl": "write"} {
		ok(t, "apply", "-f", write(t, strings.NewReplacer("%SLUG", slug, "%CLASS", class).Replace(tools)))
	}
	require.Contains(t, ok(t, "tool", "call", "peruse", "--arg", "name=Ada"), "Hello Ada")

	explained := ok(t, "tool", "explain", "scrawl")
	require.Regexp(t, `approval +passed +the tool writes outside the platform`, explained)
	require.Contains(t, explained, "each call waits until a person has approved it")

	code, out, errs := toolcrib(t.Context(), "tool", "call", "scrawl", "--arg", "name=Ada", "--wait", "3s")
	require.Equal(t, cli.ExitRunning, code, errs)
	require.Contains(t, out, "waits for an approval by somebody else: toolcrib approvals approve ")
	id := strings.Fields(strings.SplitAfter(out, "approvals approve ")[1])[0]
	run := strings.TrimSpace(strings.SplitAfter(out, "run follow ")[1])

	code, _, errs = toolcrib(t.Context(), "approvals", "approve", id)
	require.Equal(t, cli.ExitDenied, code, "who called it does not approve it")
	require.Contains(t, errs, "does not decide")
	require.Equal(t, "approved scrawl@1.0.0\n", ok(t, "approvals", "approve", id, "--context", "approver"))
	require.Contains(t, ok(t, "run", "wait", run), "scrawl")
	var call v1.Invocation
	require.NoError(t, json.Unmarshal([]byte(ok(t, "invocations", "show", id, "--json")), &call))
	require.Equal(t, "completed", string(call.Status))
	require.Equal(t, "approved", string(call.ApprovalStatus))
	require.Contains(t, string(call.Output.Structured), "Hello Ada")
}
