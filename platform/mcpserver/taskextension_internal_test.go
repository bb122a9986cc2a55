package mcpserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// longCall is a record of a call that does not end.
type longCall struct{ *oneTask }

func (longCall) Wait(ctx context.Context, _ runs.Call, _ time.Duration, _ runs.Wakes) (*tool.Result, bool, error) {
	<-ctx.Done()
	return nil, false, ctx.Err()
}

func (longCall) ReadStream(context.Context, tool.TenantID, string, int64, int) (store.StreamPage, error) {
	return store.StreamPage{}, nil
}

func (longCall) Subscribe(context.Context, tool.TenantID, string) (func() <-chan struct{}, func()) {
	return func() <-chan struct{} { return nil }, func() {}
}

// A client that declares the extension gets a task for a long call, and for every call when the server stops. Any other
// client gets the answer that the call continues.
func TestCallsBecomeTasks(t *testing.T) {
	t.Parallel()

	for _, stops := range []bool{false, true} {
		for _, tasks := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				_, c, one := desk(nil)
				record := longCall{one}
				stopping := make(chan struct{})
				s := &Server{cfg: Config{
					Record: record, Runs: record, Wakes: record, CallWait: time.Hour, TaskAfter: time.Minute,
					Stopping: func(context.Context) <-chan struct{} { return stopping },
				}}
				time.AfterFunc(time.Second, func() {
					if stops {
						close(stopping)
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				w := waiting{call: runs.Call{RunID: one.run.ID}, callID: "a", alone: true, tasks: tasks}
				switch answer := s.await(ctx, nil, c, w).(type) {
				case taskResult:
					require.True(t, tasks)
					state, ok := answer.answer.(taskState)
					require.True(t, ok)
					require.Equal(t, one.run.ID, state.ID)
					require.Equal(t, typeTask, state.ResultType)
					require.Equal(t, taskWorking, state.Status)
				case *mcp.CallToolResult:
					require.False(t, tasks)
					require.Equal(t, true, answer.Meta[metaGoesOn])
				default:
					require.Failf(t, "unexpected answer", "%T", answer)
				}
				synctest.Wait()
			})
		}
	}
}

// Messages of the extension are passed on as calls of tools, and others as they are.
func TestMessagesOfTheExtension(t *testing.T) {
	t.Parallel()

	const get = `{"jsonrpc":"2.0","id":"x","method":"tasks/get","params":{"taskId":"a","_meta":{"m":1}}}`
	for name, c := range map[string]struct {
		message, revision, method, about string
		passed                           string // The method; empty for a message as it is.
		refused                          bool
	}{
		"a task":                {get, "2026-07-28", "tasks/get", "a", "tasks/get", false},
		"the revision before":   {get, "2025-11-25", "", "", "", false},
		"another method":        {get, "2026-07-28", "tasks/cancel", "a", "", true},
		"another task":          {get, "2026-07-28", "tasks/get", "b", "", true},
		"no header":             {get, "2026-07-28", "tasks/get", "", "", true},
		"an id of another type": {strings.Replace(get, `"a"`, `7`, 1), "2026-07-28", "tasks/get", "7", "", true},
		"a list of tasks": {
			strings.Replace(get, "tasks/get", "tasks/list", 1), "2026-07-28", "tasks/list", "", "", false,
		},
		"parameters, a list": {`{"method":"tasks/get","params":[1]}`, "2026-07-28", "tasks/get", "a", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
			r.Header.Set(versionHeader, c.revision)
			r.Header.Set(methodHeader, c.method)
			r.Header.Set(nameHeader, c.about)
			w := httptest.NewRecorder()
			method, message, ok := asExtension(w, r, []byte(c.message))
			require.Equal(t, c.refused, !ok)
			require.Equal(t, c.passed, method)
			switch {
			case c.refused:
				require.Equal(t, http.StatusBadRequest, w.Code)
				require.Contains(t, w.Body.String(), `"id":"x"`)
			case c.passed == "":
				require.Equal(t, c.message, string(message))
			default:
				require.JSONEq(t, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{
					"name":"tasks/get","arguments":{"taskId":"a"},"_meta":{"m":1}}}`, string(message))
				require.Equal(t, "tools/call", r.Header.Get(methodHeader))
				require.Equal(t, "tasks/get", r.Header.Get(nameHeader))
			}
		})
	}
}
