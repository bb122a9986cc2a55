package mcpbridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/mcpbridge"
)

// asked is a request that a server got.
type asked struct {
	http, session string
	ID            any             `json:"id"`
	Method        string          `json:"method"`
	Params        json.RawMessage `json:"params"`
	Result        json.RawMessage `json:"result"`
	body          string
	at            time.Time
}

// callID returns the id that makes a call once.
func (a *asked) callID(t *testing.T) any {
	t.Helper()
	var p struct {
		Meta map[string]any `json:"_meta"` //nolint:tagliatelle // The protocol's name.
	}
	require.NoError(t, json.Unmarshal(a.Params, &p))
	return p.Meta["toolcrib/call-id"]
}

// server answers in memory, without a network, so that time is that of the test.
type server struct {
	answer func(ctx context.Context, a *asked) *http.Response // Nil is for what has no answer.

	mu  sync.Mutex
	got []*asked
}

func (s *server) MCP(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error) {
	a := &asked{http: method, session: header.Get("Mcp-Session-Id"), body: string(body), at: time.Now()}
	_ = json.Unmarshal(body, a)
	s.mu.Lock()
	s.got = append(s.got, a)
	s.mu.Unlock()
	if resp := s.answer(ctx, a); resp != nil {
		return resp, ctx.Err()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return status(http.StatusAccepted), nil
}

// of returns the requests of a method, or the answers of the client where it is empty.
func (s *server) of(method string) (out []*asked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.got {
		if a.http == http.MethodPost && a.Method == method {
			out = append(out, a)
		}
	}
	return out
}

func status(code int) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: http.NoBody}
}

func whole(text string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(text)),
	}
}

// answers is the answer to a request, under its id as a server writes it that reads numbers as integers.
func answers(a *asked, rest string) string {
	id := a.ID
	if n, ok := id.(float64); ok {
		id = int64(n)
	}
	raw, _ := json.Marshal(id)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, raw, rest)
}

// opened answers what opens a session.
func opened(a *asked, session string) *http.Response {
	resp := whole(answers(a, `"result":{"protocolVersion":"2025-11-25"}`))
	resp.Header.Set("Mcp-Session-Id", session)
	return resp
}

// streams is an answer that comes bit by bit, and ends with write or the request.
func streams(ctx context.Context, write func(w io.Writer)) *http.Response {
	read, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
	go func() {
		write(w)
		_ = w.Close()
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: read,
	}
}

// beats sends a comment every 15 s, as servers do.
func beats(ctx context.Context, w io.Writer, times int) {
	for range times {
		select {
		case <-ctx.Done():
			return
		case <-time.After(15 * time.Second):
			_, _ = io.WriteString(w, ": alive\n\n")
		}
	}
}

// hangs is a server that answers nothing.
func hangs(ctx context.Context) *http.Response {
	<-ctx.Done()
	return nil
}

// event is a message of a stream.
func event(message string) string { return "data: " + message + "\n\n" }

// near is a client at its end of a bridge whose server is in memory.
type near struct {
	t     *testing.T
	in    io.Writer
	lines chan string
	log   *bytes.Buffer // Read at the end only.
}

// bridged runs what a client does in a bubble, in which only the time of the test passes.
func bridged(t *testing.T, answer func(ctx context.Context, a *asked) *http.Response, run func(n *near, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: answer}
		in, theirs := io.Pipe()
		ours, out := io.Pipe()
		n := &near{t: t, in: theirs, lines: make(chan string, 1000), log: &bytes.Buffer{}}
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			ended <- mcpbridge.Run(ctx, mcpbridge.Config{
				Server: s, In: in, Out: out, Logger: slog.New(slog.NewTextHandler(n.log, nil)),
			})
			_ = out.Close()
		}()
		go func() {
			defer close(n.lines)
			for lines := bufio.NewScanner(ours); lines.Scan(); {
				n.lines <- lines.Text()
			}
		}()
		defer func() {
			cancel()
			_ = theirs.Close()
			require.NoError(t, <-ended)
			_ = in.Close()
		}()
		run(n, s)
	})
}

func (n *near) say(line string) {
	n.t.Helper()
	_, err := io.WriteString(n.in, line+"\n")
	require.NoError(n.t, err)
}

// hear returns the next message.
func (n *near) hear() string {
	n.t.Helper()
	select {
	case line := <-n.lines:
		return line
	case <-time.After(time.Hour):
		require.Fail(n.t, "there is no message")
		return ""
	}
}

// silent checks that nothing comes for a while.
func (n *near) silent(while time.Duration) {
	n.t.Helper()
	time.Sleep(while)
	synctest.Wait()
	require.Empty(n.t, n.lines)
}

// begins opens the client's session.
func (n *near) begins() {
	n.t.Helper()
	n.say(hello)
	require.Contains(n.t, n.hear(), `"id":"h"`)
}

const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look"}}`

// The connection of a call breaks, and the server stays: it still works on the call under the id of the first
// request, and takes no other request with it. The call is named the same, and the client gets the answer.
func TestABrokenAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()

	inFlight := map[any]bool{}
	bridged(t, func(ctx context.Context, a *asked) *http.Response {
		switch {
		case a.Method == "initialize":
			return opened(a, "s")
		case a.Method != "tools/call":
			return nil
		case inFlight[a.ID]:
			resp := whole(answers(a, `"error":{"code":-32600,"message":"duplicate in-flight request ID"}`))
			resp.StatusCode = http.StatusBadRequest
			return resp
		case len(inFlight) < 2:
			inFlight[a.ID] = true
			return streams(ctx, func(io.Writer) {})
		}
		return whole(answers(a, `"result":{"content":[]}`))
	}, func(n *near, s *server) {
		n.begins()
		n.say(call)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`, n.hear())
		got := s.of("tools/call")
		require.Len(t, got, 3)
		require.NotEmpty(t, got[0].callID(t))
		require.Equal(t, got[0].callID(t), got[2].callID(t))
	})
}

// A client gives its request up by its own id; the server knows it by that of the last attempt. A question that
// the server takes back is one that the client knows by another id too.
func TestCancelsNameWhatTheOtherSideKnows(t *testing.T) {
	t.Parallel()

	bridged(t, func(ctx context.Context, a *asked) *http.Response {
		switch a.Method {
		case "initialize":
			return opened(a, "s")
		case "tools/call":
			return streams(ctx, func(w io.Writer) {
				_, _ = io.WriteString(w, event(`{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{}}`)+
					event(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"r"}}`))
				<-ctx.Done()
			})
		}
		return nil
	}, func(n *near, s *server) {
		n.begins()
		n.say(strings.Replace(call, "7", "1.0", 1))
		var question, back struct {
			ID     string
			Params struct {
				RequestID string
				Reason    string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(n.hear()), &question))
		require.NoError(t, json.Unmarshal([]byte(n.hear()), &back))
		require.NotEmpty(t, question.ID)
		require.Equal(t, question.ID, back.Params.RequestID)
		require.Equal(t, "r", back.Params.Reason)

		n.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"no"}}`)
		synctest.Wait()
		gone := s.of("notifications/cancelled")
		require.Len(t, gone, 1)
		var p struct {
			RequestID any `json:"requestId"` //nolint:tagliatelle // The protocol's name.
			Reason    string
		}
		require.NoError(t, json.Unmarshal(gone[0].Params, &p))
		require.Equal(t, s.of("tools/call")[0].ID, p.RequestID)
		require.Equal(t, "no", p.Reason)
		n.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
		n.silent(time.Minute)
		require.Len(t, s.of("notifications/cancelled"), 1, "it cancels no request")
		require.Len(t, s.of("tools/call"), 1, "it is not sent again")
	})
}

// However a client writes an id, it gets one answer, under the id that it wrote.
func TestIDsOfClients(t *testing.T) {
	t.Parallel()

	for _, id := range []string{
		`1`, `1.0`, `1.5`, `-3e0`, `9007199254740993`, `123456789012345678901234567890`, `"caf\u00e9"`, `"a\/b"`, `"<&>"`, `""`,
	} {
		bridged(t, func(_ context.Context, a *asked) *http.Response {
			if a.Method == "initialize" {
				return opened(a, "s")
			}
			return whole(answers(a, `"result":{}`))
		}, func(n *near, s *server) {
			n.begins()
			n.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
			var got struct{ ID, Result json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(n.hear()), &got))
			require.JSONEq(t, id, string(got.ID))
			require.NotEmpty(t, got.Result)
			n.silent(time.Minute)
			require.Len(t, s.of("ping"), 1, id)
		})
	}
}

// A server whose answers break off, or are none, is asked for as long as one that is away, ever more rarely.
func TestBrokenAnswersAreBounded(t *testing.T) {
	t.Parallel()

	for name, answer := range map[string]func(ctx context.Context, a *asked) *http.Response{
		"breaks":  func(ctx context.Context, _ *asked) *http.Response { return streams(ctx, func(io.Writer) {}) },
		"strange": func(context.Context, *asked) *http.Response { return whole(`{"jsonrpc":"2.0","id":"x","result":{}}`) },
		"away":    func(context.Context, *asked) *http.Response { return status(http.StatusBadGateway) },
	} {
		for _, line := range []string{call, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`} {
			bridged(t, func(ctx context.Context, a *asked) *http.Response {
				if a.Method == "initialize" {
					return opened(a, "s")
				}
				return answer(ctx, a)
			}, func(n *near, s *server) {
				n.begins()
				began := time.Now()
				n.say(line)
				said := n.hear()
				require.Contains(t, said, "is not answering", name)
				require.Contains(t, said, `"id":7`)
				require.Equal(t, line == call, strings.Contains(said, "may have been made"), said)
				require.InDelta(t, mcpbridge.DefaultPatience.Seconds(), time.Since(began).Seconds(), 6)
				require.Less(t, len(s.of("tools/call"))+len(s.of("tools/list")), 40)
			})
		}
	}
}

// A call that the server is waiting for is asked for again however often its connection breaks, and however
// often the server stops.
func TestLongCallsAreAskedForAgain(t *testing.T) {
	t.Parallel()

	for name, answer := range map[string]func(ctx context.Context, a *asked) *http.Response{
		"a proxy ends it": func(ctx context.Context, _ *asked) *http.Response {
			return streams(ctx, func(w io.Writer) { beats(ctx, w, 4) })
		},
		"the server stops": func(_ context.Context, a *asked) *http.Response {
			return whole(answers(a, `"result":{"_meta":{"toolcrib/rejoin":true}}`))
		},
	} {
		bridged(t, func(ctx context.Context, a *asked) *http.Response {
			switch a.Method {
			case "initialize":
				return opened(a, "s")
			case "tools/call":
				if time.Since(a.at.Truncate(24*time.Hour)) > 40*time.Minute { // A bubble begins at midnight.
					return whole(answers(a, `"result":{"content":[]}`))
				}
				return answer(ctx, a)
			}
			return nil
		}, func(n *near, s *server) {
			n.begins()
			began := time.Now()
			n.say(call)
			require.Contains(t, n.hear(), `"content":[]`, name)
			require.Greater(t, time.Since(began), 30*time.Minute)
			require.Less(t, len(s.of("tools/call")), 1000)
		})
	}
}

// A server that takes requests and says nothing is one that is away.
func TestSilence(t *testing.T) {
	t.Parallel()

	most := mcpbridge.DefaultPatience + mcpbridge.DefaultSilence + 6*time.Second
	for name, answer := range map[string]func(ctx context.Context, a *asked) *http.Response{
		"to initialize": func(ctx context.Context, _ *asked) *http.Response { return hangs(ctx) },
		"to initialize, but for comments": func(ctx context.Context, _ *asked) *http.Response {
			return streams(ctx, func(w io.Writer) { beats(ctx, w, 1000) })
		},
		"to a call": func(ctx context.Context, a *asked) *http.Response {
			if a.Method == "initialize" {
				return opened(a, "s")
			}
			return hangs(ctx)
		},
		"to a call, in its answer": func(ctx context.Context, a *asked) *http.Response {
			if a.Method == "initialize" {
				return opened(a, "s")
			}
			return streams(ctx, func(io.Writer) { <-ctx.Done() })
		},
	} {
		bridged(t, answer, func(n *near, _ *server) {
			began := time.Now()
			n.say(hello)
			n.say(call)
			for range 2 {
				n.hear()
			}
			require.Less(t, time.Since(began), 2*most, name)
		})
	}

	var calls int
	bridged(t, func(ctx context.Context, a *asked) *http.Response {
		if a.Method == "initialize" {
			return opened(a, "s")
		}
		if calls++; calls == 1 {
			return streams(ctx, func(w io.Writer) {
				beats(ctx, w, 40)
				<-ctx.Done()
			})
		}
		return whole(answers(a, `"result":{"content":[]}`))
	}, func(n *near, _ *server) {
		n.begins()
		began := time.Now()
		n.say(call)
		require.Contains(t, n.hear(), `"content":[]`)
		require.InDelta(t, (11 * time.Minute).Seconds(), time.Since(began).Seconds(), 1, "it was silent for a minute")
	})
}

// What a client sends behind a request that waits is read, and a request that waits can be given up.
func TestNothingKeepsTheClientWaiting(t *testing.T) {
	t.Parallel()

	bridged(t, func(ctx context.Context, _ *asked) *http.Response { return hangs(ctx) }, func(n *near, s *server) {
		n.say(hello)
		n.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		n.say(call)
		n.say(`{`)
		require.Contains(t, n.hear(), "no JSON")
		n.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		synctest.Wait()
		n.say(call)
		n.say(`{`)
		require.Contains(t, n.hear(), "no JSON", "its id is free again")
		require.Len(t, s.of("initialize"), 1)
		require.Empty(t, s.of("tools/call"))
	})
}
