package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// sse is an open stream.
type sse struct {
	t     *testing.T
	body  *bufio.Reader
	close func()
}

// frame is one server-sent event, or a comment.
type frame struct {
	id, event, data, retry, comment string
}

// stream opens a stream as the bundle's key does, or as another.
func (b *bundle) stream(t *testing.T, path string, header http.Header, key ...string) *sse {
	t.Helper()
	resp, cancel := b.openStream(t, path, header, key...)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, v1.StreamType, resp.Header.Get("Content-Type"))
	require.Contains(t, resp.Header.Values("Vary"), "Accept")
	s := &sse{t: t, body: bufio.NewReader(resp.Body), close: func() { cancel(); _ = resp.Body.Close() }}
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
	req.Header.Set("Authorization", "Bearer "+append(key, b.key)[0])
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp, cancel
}

// next returns the next frame, and false when the stream breaks off.
func (s *sse) next() (f frame, ok bool) {
	for {
		line, err := s.body.ReadString('\n')
		if err != nil {
			return frame{}, false
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			return f, true
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = value
		case "retry":
			f.retry = value
		case "":
			f.comment = value
		default:
			require.Fail(s.t, "no field of a stream", line)
		}
	}
}

// event returns the next event, past comments and the like. It fails the test
// when the stream breaks off.
func (s *sse) event() (frame, tool.Event) {
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
func (s *sse) rest() (frames []frame) {
	for {
		f, ok := s.next()
		if !ok {
			_, err := s.body.ReadByte()
			require.ErrorIs(s.t, err, io.EOF)
			return frames
		}
		if f.data != "" {
			frames = append(frames, f)
		}
	}
}

// record makes a run that has begun: its first event is written.
func (b *bundle) record(t *testing.T) agent.Run {
	t.Helper()
	run, err := b.Store.BeginRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.ToolCallRun, WorkflowID: "w-" + storetest.NewID(t), FirstRunID: "first",
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
