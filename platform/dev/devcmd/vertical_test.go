package devcmd_test

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// blur hides what differs from one run to the next.
func blur(text string) string {
	text = regexp.MustCompile(
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	).ReplaceAllString(text, "ID")
	return regexp.MustCompile(` *\d+ ms`).ReplaceAllString(text, " N ms")
}

// A run is started, followed and looked at.
func TestRun(t *testing.T) {
	t.Parallel()
	require.Equal(t, `run ID of greeter
  greet@1.0.0                  function       production completed N ms
  greet@1.0.0                  function       production completed, answered no N ms
  lookUp@1.0.0                 http           production completed N ms
completed after N ms, 2 turns

Greeted.
`, blur(ok(t, "run", "start", "greeter", "--input", "hello", "--wait")))

	var done struct {
		Run         v1.Run          `json:"run"`
		Invocations []v1.Invocation `json:"invocations"`
	}
	require.NoError(
		t,
		json.Unmarshal([]byte(ok(t, "run", "start", "greeter", "-i", "hello", "--wait", "--json")), &done),
	)
	require.Equal(t, agent.RunCompleted, done.Run.Status)
	require.Equal(t, "1.0.0", done.Run.AgentVersion)
	require.Len(t, done.Run.Tools, 2)
	require.Len(t, done.Invocations, 3)

	events := shared.dev.Temporal().GetWorkflowHistory(t.Context(), done.Run.WorkflowID, "", false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	require.NoError(t, err)
	require.True(t, first.GetWorkflowExecutionStartedEventAttributes().GetEagerExecutionAccepted(),
		"API and worker share a client")

	id := done.Run.ID
	require.Contains(t, ok(t, "run", "get", id), "greet@1.0.0 lookUp@1.0.0")
	require.Contains(t, ok(t, "run", "messages", id), `→ a greet({"name":"Ada"})`)
	require.Contains(t, ok(t, "run", "events", id), "run.completed")
	require.Contains(t, ok(t, "run", "events", id, "--after", "3"), "\n4 ")
	require.Contains(t, ok(t, "run", "list", "--agent", "greeter"), id)
	list := ok(t, "invocations", "list", "--run", id)
	require.Contains(t, list, "greet@1.0.0")
	require.Contains(t, list, "completed (no)")
	require.NotContains(t, ok(t, "invocations", "list", "--run", id, "--tool", "lookUp"), "greet")
	require.Contains(t, ok(t, "invocations", "show", done.Invocations[0].ID), "Hello Ada")
}

// A version may stand behind the name of a tool.
func TestCallOfAVersion(t *testing.T) {
	t.Parallel()
	require.Contains(t, ok(t, "tool", "call", "datetime_utils@^2", "--arg", "operation=now"), "unix")
	code, _, errs := toolcrib(t.Context(), "tool", "call", "datetime_utils@9.9.9", "--arg", "operation=now")
	require.Equal(t, cli.ExitNotFound, code)
	require.Contains(t, errs, "no published version that meets 9.9.9")
	code, _, errs = toolcrib(t.Context(), "tool", "test", "datetime_utils@2", "--version", "2", "--arg", "operation=now")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, errs, "give one of --version and datetime_utils@2")
}

// A call with an id is made once, however often it is asked for; the id is no
// good for another call.
func TestCallOnce(t *testing.T) {
	t.Parallel()
	call := func(args string) (code int, c v1.Call) {
		code, out, _ := toolcrib(t.Context(), "tool", "call", "count", "--id", "once", "--args", args, "--json")
		if out != "" {
			require.NoError(t, json.Unmarshal([]byte(out), &c))
		}
		return code, c
	}
	_, first := call(`{"by":1}`)
	_, again := call(`{ "by": 1 }`)
	require.Equal(t, agent.RunCompleted, first.Status)
	require.Equal(t, first, again)
	require.EqualValues(t, 1, shared.counted.Load())
	code, _ := call(`{"by":2}`)
	require.Equal(t, cli.ExitConflict, code)
	require.EqualValues(t, 1, shared.counted.Load())
}

// How a call ends is the command's exit code, and a run that can be looked at.
func TestHowCallsEnd(t *testing.T) {
	t.Parallel()
	code, out, _ := toolcrib(t.Context(), "tool", "call", "greet", "--args", `{"name":"nobody"}`)
	require.Equal(t, cli.ExitFailure, code)
	require.Equal(t, "answered no:\nthere is nobody of that name\n", out)

	code, _, stderr := toolcrib(t.Context(), "tool", "call", "greet", "--args", `{"nome":"Ada"}`, "--json")
	require.Equal(t, cli.ExitInvalid, code)
	var failed struct {
		Error v1.Problem `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(stderr), &failed))
	require.Equal(t, tool.Invalid, failed.Error.Code)
	require.Regexp(t, `^/v1/runs/`, failed.Error.Instance)
	run := ok(t, "run", "get", failed.Error.Instance[len("/v1/runs/"):])
	require.Contains(t, run, "failed")
	require.Contains(t, run, "tool_call")

	code, _, _ = toolcrib(t.Context(), "tool", "call", "nothing")
	require.Equal(t, cli.ExitNotFound, code)
}

// A run that is cancelled stops the call under way.
func TestCancel(t *testing.T) {
	t.Parallel()
	var run v1.Run
	require.NoError(t, json.Unmarshal([]byte(ok(t, "run", "start", "holder", "-i", "x", "--json")), &run))
	require.Eventually(t, func() bool { return shared.held.Load() > 0 }, 20*time.Second, 10*time.Millisecond)
	ok(t, "run", "cancel", run.ID)
	code, out, _ := toolcrib(t.Context(), "run", "wait", run.ID)
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, out, "cancelled")
	require.Eventually(t, func() bool { return shared.held.Load() == 0 }, 20*time.Second, 10*time.Millisecond)
	code, _, stderr := toolcrib(t.Context(), "run", "cancel", run.ID)
	require.Equal(t, cli.ExitConflict, code)
	require.Contains(t, stderr, "already")
}

// A call made without waiting is found as a run.
func TestCallWithoutWaiting(t *testing.T) {
	t.Parallel()
	var call v1.Call
	require.NoError(
		t,
		json.Unmarshal([]byte(ok(t, "tool", "call", "greet", "--args", `{"name":"Ada"}`, "--wait", "0s", "--json")), &call),
	)
	require.Equal(t, agent.RunRunning, call.Status)
	ok(t, "run", "wait", call.RunID)
}

// Another tenant sees nothing of it all.
func TestForeignTenant(t *testing.T) {
	t.Parallel()
	platform, err := store.OpenPlatform(t.Context(), shared.dev.Stack().DatabaseURL(), store.Options{MaxConns: 1})
	require.NoError(t, err)
	defer platform.Close()
	tenant, err := platform.CreateTenant(t.Context(), store.Tenant{Slug: "t-" + uuid.NewString()})
	require.NoError(t, err)
	_, key, err := shared.dev.Store().CreateKey(t.Context(), store.Key{
		Tenant: tenant.ID, Name: "k", Permissions: []string{"*"},
	})
	require.NoError(t, err)

	var run v1.Run
	require.NoError(t, json.Unmarshal([]byte(ok(t, "run", "start", "greeter", "-i", "x", "--json")), &run))
	for _, args := range [][]string{
		{"run", "get", run.ID},
		{"run", "wait", run.ID},
		{"run", "cancel", run.ID},
		{"run", "messages", run.ID},
		{"run", "events", run.ID},
		{"run", "start", "greeter", "-i", "x"},
		{"tool", "call", "greet"},
		{"tool", "show", "greet"},
		{"agent", "show", "greeter"},
		{"invocations", "list", "--run", run.ID},
	} {
		code, _, _ := toolcribAs(t.Context(), key, args...)
		require.Equal(t, cli.ExitNotFound, code, args)
	}
}
