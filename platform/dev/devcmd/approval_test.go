package devcmd_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

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
	require.Regexp(t, "waits for an approval by somebody else: toolcrib approvals approve [^ ]+ --context approver\n", out)
	id := strings.Fields(strings.SplitAfter(out, "approvals approve ")[1])[0]
	run := strings.TrimSpace(strings.SplitAfter(out, "run follow ")[1])

	code, _, errs = toolcrib(t.Context(), "approvals", "approve", id)
	require.Equal(t, cli.ExitDenied, code, "who called it does not approve it")
	require.Contains(t, errs, "does not decide")
	require.Contains(t, errs, "toolcrib dev keeps a key for that: toolcrib approvals approve "+id+" --context approver")
	require.Equal(t, "approved scrawl@1.0.0\n", ok(t, "approvals", "approve", id, "--context", "approver"))
	require.Contains(t, ok(t, "run", "wait", run), "scrawl")
	var call v1.Invocation
	require.NoError(t, json.Unmarshal([]byte(ok(t, "invocations", "show", id, "--json")), &call))
	require.Equal(t, "completed", string(call.Status))
	require.Equal(t, "approved", string(call.ApprovalStatus))
	require.Contains(t, string(call.Output.Structured), "Hello Ada")
}

// A test that waits for an approval says so, with the command that gives it; who interrupts it can go on watching.
func TestTestOfAWritingToolWaits(t *testing.T) {
	t.Parallel()

	ok(t, "apply", "-f", write(t, `slug: scribble
implementation_type: function
version: 1.0.0
egress_class: write
implementation_config: {function_name: greet}
input_schema: {type: object, properties: {name: {type: string}}}
`))
	w := watch(t, "tool", "test", "scribble", "--arg", "name=Ada", "--allow-writes")
	asked := func() string {
		_, rest, _ := strings.Cut(w.errs.String(), "toolcrib approvals approve ")
		id, rest, found := strings.Cut(rest, " ")
		if !found || !strings.HasPrefix(rest, "--context approver\n") {
			return ""
		}
		return id
	}
	require.Eventually(t, func() bool { return asked() != "" }, time.Minute, 20*time.Millisecond, "%s", &w.errs)
	require.Contains(t, w.errs.String(), "scribble@1.0.0-draft waits for an approval: ")
	w.interrupt()
	require.Equal(t, cli.ExitInterrupted, w.end(t))
	_, again, hinted := strings.Cut(strings.TrimSpace(w.errs.String()), "watch it again with: toolcrib ")
	require.True(t, hinted, &w.errs)

	ok(t, "approvals", "approve", asked(), "--context", "approver")
	require.Contains(t, ok(t, strings.Fields(again)...), "completed")
}
