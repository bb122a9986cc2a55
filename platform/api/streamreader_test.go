package api_test

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/sse"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// stream is an open stream.
type stream struct {
	t     *testing.T
	read  func() (sse.Event, error, bool)
	close func()
}

// frame is one server-sent event, or a comment.
type frame struct {
	id, event, data, comment string
	retry                    time.Duration
}

// stream opens a stream as the bundle's key does, or as another.
func (b *bundle) stream(t *testing.T, path string, header http.Header, key ...string) *stream {
	t.Helper()
	resp, cancel := b.openStream(t, path, header, key...)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, v1.StreamType, resp.Header.Get("Content-Type"))
	require.Contains(t, resp.Header.Values("Vary"), "Accept")
	read, stop := iter.Pull2(sse.Read(resp.Body, 1<<20, func() {}))
	s := &stream{t: t, read: read, close: func() { cancel(); _ = resp.Body.Close() }}
	t.Cleanup(stop)
	t.Cleanup(s.close)
	return s
}

func (b *bundle) openStream(
	t *testing.T, path string, header http.Header, key ...string,
) (*http.Response, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+path, nil)
	require.NoError(t, err)
	maps.Copy(req.Header, header)
	req.Header.Set("Accept", v1.StreamType)
	if req.Header.Get("Cookie") == "" { // Of a browser that is signed in.
		req.Header.Set("Authorization", "Bearer "+append(key, b.key)[0])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp, cancel
}

// next returns the next frame, and false when the stream breaks off.
func (s *stream) next() (f frame, ok bool) {
	e, err, ok := s.read()
	return frame{e.ID, e.Type, string(e.Data), e.Comment, e.Retry}, ok && err == nil
}

// event returns the next event, past comments and the like. It fails the test
// when the stream breaks off.
func (s *stream) event() (frame, tool.Event) {
	s.t.Helper()
	for {
		f, ok := s.next()
		require.True(s.t, ok, "the stream broke off")
		if f.data == "" {
			continue
		}
		var e tool.Event
		require.NoError(s.t, json.Unmarshal([]byte(f.data), &e), f.data)
		return f, e
	}
}

// rest returns what comes until the stream closes, comments left out.
func (s *stream) rest() (frames []frame) {
	for {
		e, err, ok := s.read()
		require.NoError(s.t, err)
		if !ok {
			return frames
		}
		if len(e.Data) > 0 {
			frames = append(frames, frame{id: e.ID, event: e.Type, data: string(e.Data)})
		}
	}
}

// record makes a run that has begun: its first event is written.
func (b *bundle) record(t *testing.T) agent.Run {
	t.Helper()
	run, err := b.Store.BeginRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindToolCall, WorkflowID: "w-" + storetest.NewID(t), FirstRunID: "first",
		Mode: tool.Production,
	})
	require.NoError(t, err)
	return run
}

// say adds output to a run.
func (b *bundle) say(t *testing.T, run agent.Run, turn, attempt int, text string) {
	t.Helper()
	require.NoError(t, b.Store.AppendOutput(t.Context(), agent.Output{
		Tenant: b.tenant, RunID: run.ID, Turn: turn, Attempt: attempt, Text: text,
	}))
}

// settle adds the event of a call that ended so.
func (b *bundle) settle(t *testing.T, run agent.Run, status tool.InvocationStatus) {
	t.Helper()
	s := ledger.Settlement{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				InvocationID: storetest.NewID(t),
				Principal:    tool.Principal{Tenant: b.tenant, Subject: "test"},
				RunID:        run.ID,
				CallID:       "c",
				Mode:         tool.Production,
			}, VersionIdentity: tool.VersionIdentity{Slug: "say"},
		},
		Status: status, Kind: tool.Denied, Msg: "a line\nand another",
	}
	if status == tool.StatusCompleted {
		s.Kind, s.Msg, s.Result = "", "", tool.JSONResult(json.RawMessage(`{"a":1}`))
	}
	_, err := b.Store.Settle(t.Context(), s)
	require.NoError(t, err)
}

func (b *bundle) finish(t *testing.T, run agent.Run) {
	t.Helper()
	require.NoError(
		t, b.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: b.tenant, RunID: run.ID, Status: agent.RunCompleted}),
	)
}

func events(run agent.Run) string { return "/v1/runs/" + run.ID + "/events" }

// from is the header of a client that comes back.
func from(id string) http.Header { return http.Header{"Last-Event-Id": {id}} }

func number(seq int64) string { return strconv.FormatInt(seq, 10) }
