package mcpbridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/mcpbridge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// local is a client at its end of a bridge.
type local struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	ended chan error
}

// newLocal connects to a server that answers by handle.
func newLocal(t *testing.T, handle http.HandlerFunc, patience time.Duration) *local {
	t.Helper()
	server := httptest.NewServer(handle)
	c, err := client.New(client.Config{Server: server.URL, Key: "tck_test"})
	require.NoError(t, err)
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	l := &local{t: t, in: theirs, lines: bufio.NewScanner(ours), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		l.ended <- mcpbridge.Run(ctx, mcpbridge.Config{Server: c.MCP(""), In: in, Out: out, Patience: patience})
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = theirs.Close()
		cancel()
		_, _ = io.Copy(io.Discard, ours)
		require.NoError(t, <-l.ended)
		_ = in.Close()
		c.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return l
}

func (l *local) say(line string) {
	l.t.Helper()
	_, err := io.WriteString(l.in, line+"\n")
	require.NoError(l.t, err)
}

// hear returns the next message.
func (l *local) hear() (m struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
	}
},
) {
	l.t.Helper()
	require.True(l.t, l.lines.Scan())
	require.NoError(l.t, json.Unmarshal(l.lines.Bytes(), &m), l.lines.Text())
	return m
}

const hello = `{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`

// opens answers an initialize with a session, and reports whether it was one.
func opens(w http.ResponseWriter, body, session string) bool {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal([]byte(body), &m) != nil || m.Method != "initialize" {
		return false
	}
	w.Header().Set("Mcp-Session-Id", session)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"protocolVersion":"2025-11-25"}}`)
	return true
}

func bodyOf(r *http.Request) string {
	raw, _ := io.ReadAll(r.Body)
	return string(raw)
}

// Whatever a client writes, it gets an answer that says what is wrong, and goes on.
func TestWrongLines(t *testing.T) {
	t.Parallel()

	l := newLocal(t, func(w http.ResponseWriter, r *http.Request) { opens(w, bodyOf(r), "s1") }, time.Minute)
	for _, c := range []struct {
		line, says string
		code       int
	}{
		{`{"jsonrpc":`, "no JSON", -32700},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "batches", -32600},
		{`{"jsonrpc":"2.0"}`, "neither", -32600},
		{`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, "initialize", -32601},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "first request", -32000},
	} {
		l.say(c.line)
		got := l.hear()
		require.Equal(t, c.code, got.Error.Code, c.line)
		require.Contains(t, got.Error.Message, c.says)
	}
	l.say("")
	l.say(hello)
	require.JSONEq(t, `"h"`, string(l.hear().ID))
	l.say(hello)
	require.Contains(t, l.hear().Error.Message, "sent once")
}

// What the server refuses is passed on at once, in its words, and so is an absence that lasts too long.
func TestRefusals(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		status     int
		body, says string
	}{
		{http.StatusUnauthorized, `{"code":"denied","detail":"the key is not valid"}`, "the key is not valid"},
		{http.StatusRequestEntityTooLarge, `{"jsonrpc":"2.0","error":{"message":"too large"}}`, "too large"},
		{http.StatusNotFound, `not here`, "no MCP endpoint"},
		{http.StatusTeapot, `short`, "answered 418"},
		{http.StatusOK, `<html>`, "no MCP server"},
		{http.StatusBadGateway, ``, "is not answering"},
	} {
		l := newLocal(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}, time.Millisecond)
		l.say(hello)
		require.Contains(t, l.hear().Error.Message, c.says)
	}
}

// The client's answer to a question of a session that is gone is not taken for an answer to one of the next.
func TestAnswersBelongToTheirSession(t *testing.T) {
	t.Parallel()

	const ask = `data: {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}` + "\n\n"
	answers := make(chan string, 10)
	var sessions, calls atomic.Int32
	l := newLocal(t, func(w http.ResponseWriter, r *http.Request) {
		body, session := bodyOf(r), r.Header.Get("Mcp-Session-Id")
		switch {
		case strings.Contains(body, `"initialize"`):
			opens(w, body, strings.Repeat("s", int(sessions.Add(1))))
		case strings.Contains(body, `"tools/call"`) && session == "s" && calls.Add(1) > 1:
			w.WriteHeader(http.StatusNotFound) // Another process serves now.
		case strings.Contains(body, `"tools/call"`):
			if !strings.Contains(body, `"toolcrib/call-id":"bridge-`) {
				t.Errorf("the call has no id: %s", body)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ask)
			_ = http.NewResponseController(w).Flush()
			if session == "ss" {
				<-r.Context().Done()
			}
		case strings.Contains(body, `"action"`):
			answers <- session + " " + body
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}, time.Minute)
	l.say(hello)
	l.hear()
	l.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look"}}`)
	first, second := l.hear(), l.hear()
	require.NotEqual(t, string(first.ID), string(second.ID))
	l.say(`{"jsonrpc":"2.0","id":` + string(first.ID) + `,"result":{"action":"accept"}}`)
	l.say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
	l.say(`{"jsonrpc":"2.0","id":` + string(second.ID) + `,"result":{"action":"decline"}}`)
	got := <-answers
	require.True(t, strings.HasPrefix(got, "ss "), got)
	require.Contains(t, got, "decline")
	require.Contains(t, got, `"id":1`)
}
