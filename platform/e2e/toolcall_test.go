package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// toolCall runs one call as a workflow of its own.
func (s *site) toolCall(name, args string) (client.WorkflowRun, string, *tool.Result, error) {
	s.t.Helper()
	id := newID(s.t)
	w, err := s.temporal.ExecuteWorkflow(s.t.Context(), client.StartWorkflowOptions{
		ID: wire.RunWorkflowID(s.principal.Tenant, id), TaskQueue: s.queue,
	}, wire.ToolCallWorkflow, wire.NewToolCall(s.principal, id,
		wire.Node{ID: "call", Tool: refs(s.t, name)[0], Arguments: json.RawMessage(args), Mode: tool.Production}))
	require.NoError(s.t, err)
	var result *tool.Result
	err = w.Get(s.t.Context(), &result)
	return w, id, result, err
}

// Every way a single call can end has its kind, its status, and a run that
// ended with it; and each history replays.
//
//nolint:paralleltest,tparallel // The cases share an upstream that counts its requests.
func TestToolCallEnds(t *testing.T) {
	t.Parallel()

	const planted = "tc-planted-cause-5f2e"
	functions := function.NewRegistry()
	define := func(name string, fn func(noteIn) (noteOut, error)) {
		require.NoError(
			t, function.Define(functions, name, name, func(_ context.Context, in noteIn) (noteOut, error) { return fn(in) }),
		)
	}
	define("answers", func(in noteIn) (noteOut, error) { return noteOut(in), nil })
	define("saysNo", func(noteIn) (noteOut, error) { return noteOut{}, errors.New("no such note") })
	define("breaks", func(noteIn) (noteOut, error) {
		return noteOut{}, &tool.Error{
			Kind: tool.Unavailable, Msg: "the notes are closed", Sent: true, Answered: true, Err: errors.New(planted),
		}
	})
	define("panics", func(noteIn) (noteOut, error) { panic(planted) })
	c := newCanary(t)
	c.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
		if n < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ok":true}`))
	}
	s := newSite(t)
	for _, name := range []string{"answers", "saysNo", "breaks", "panics"} {
		d := functionTool(name, tool.Execution{})
		d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
		s.publish(name, d, tool.Policy{})
	}
	s.publish("retries", httpTool(c.URL, tool.Execution{Pure: true, MaxAttempts: 3}), tool.Policy{
		EgressClass: tool.EgressReadOnly,
	})
	s.start(worker.Config{Functions: functions, Allow: allow(c)})

	tests := []struct {
		name, tool, args string
		status           tool.InvocationStatus
		kind             tool.Kind
		isError          bool
		run              agent.RunStatus
	}{
		{"Answered", "answers", `{"name":"x"}`, tool.StatusCompleted, "", false, agent.RunCompleted},
		{"Coerced", "answers", `{"Name":5}`, tool.StatusCompleted, "", false, agent.RunCompleted},
		{"SaidNo", "saysNo", `{"name":"x"}`, tool.StatusCompleted, "", true, agent.RunCompleted},
		{"BadArguments", "answers", `{}`, tool.StatusFailed, tool.Invalid, true, agent.RunFailed},
		{"FailedUpstream", "breaks", `{"name":"x"}`, tool.StatusFailed, tool.Unavailable, true, agent.RunFailed},
		{"Panicked", "panics", `{"name":"x"}`, tool.StatusUnknown, tool.Unknown, true, agent.RunFailed},
		{"Retried", "retries", `{}`, tool.StatusCompleted, "", false, agent.RunCompleted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, id, result, err := s.toolCall(tt.tool, tt.args)
			calls := s.invocations(id)
			require.Len(t, calls, 1)
			require.Equal(t, tt.status, calls[0].Status, calls[0].Error)
			require.Equal(t, tt.isError, calls[0].IsError)
			if tt.kind == "" {
				require.NoError(t, err)
				require.Equal(t, tt.isError, result.IsError)
			} else {
				require.Equal(t, tt.kind, tool.KindOf(failure.Decode(err)), "%v", err)
				require.Equal(t, tt.kind, calls[0].ErrorKind)
			}
			ended, err := s.FindRun(t.Context(), s.principal.Tenant, id)
			require.NoError(t, err)
			require.Equal(t, tt.run, ended.Status)

			h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
			require.NotContains(t, string(historyJSON(t, h)), planted, "a cause went into the history")
			requireReplays(t, h, "toolcall_"+strings.ToLower(tt.name))
		})
	}
}
