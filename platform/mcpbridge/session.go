package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/sse"
)

// session is a session at the server.
type session struct {
	id      string
	version string // Of the protocol.
	epoch   int    // Counts the sessions of the bridge.
	heard   bool   // Its own stream is read.
}

const eventStream = "text/event-stream"

// header returns the headers of a message within a session; nil is for the one that opens it.
func (s *session) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, " + eventStream}}
	if s != nil {
		h.Set("Mcp-Session-Id", s.id)
		h.Set("Mcp-Protocol-Version", s.version)
	}
	return h
}

var (
	errGone   = errors.New("the session is gone")
	errAway   = errors.New("the server is away")
	errBroken = errors.New("the answer of the server broke off")
)

// refused is an answer of the server that sending again does not change.
type refused struct{ text string }

func (e *refused) Error() string { return e.text }

// serve passes a request on until it has an answer, and answers itself where the server does not.
func (b *bridge) serve(ctx context.Context, m message) {
	body := m.raw
	if m.Method == methodCallTool {
		body = m.named()
	}
	pause := firstPause
	var since time.Time // The server is away.
	for {
		err := b.try(ctx, m, body)
		if err == nil || ctx.Err() != nil {
			return
		}
		if no, ok := errors.AsType[*refused](err); ok {
			b.write(failure(m.ID, codeUnavailable, no.text))
			return
		}
		if errors.Is(err, errBroken) { // It was there.
			since, pause = time.Time{}, firstPause
		} else if since.IsZero() {
			since = time.Now()
		}
		if !since.IsZero() && time.Since(since) > b.cfg.Patience {
			b.write(failure(m.ID, codeUnavailable, "the Toolcrib server is not answering: "+err.Error()))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// try sends a request once, and passes what comes on to the client.
func (b *bridge) try(ctx context.Context, m message, body []byte) error {
	if m.Method == methodInitialize {
		return b.open(ctx, m, true)
	}
	s, err := b.current(ctx)
	if err != nil {
		return err
	}
	err = b.post(ctx, s, m, body)
	if errors.Is(err, errGone) {
		b.lose(s)
	}
	return err
}

// current returns the session, which it opens anew where the last is gone.
func (b *bridge) current(ctx context.Context) (*session, error) {
	b.opening.Lock()
	defer b.opening.Unlock()
	b.mu.Lock()
	s, hello, ready := b.session, b.hello, b.ready
	b.mu.Unlock()
	switch {
	case s != nil:
		return s, nil
	case hello == nil:
		return nil, &refused{"the first request of a client is initialize"}
	}
	if err := b.reopen(ctx, *hello); err != nil {
		return nil, err
	}
	b.mu.Lock()
	s = b.session
	b.mu.Unlock()
	if ready {
		b.tell(ctx, s, []byte(`{"jsonrpc":"2.0","method":"`+methodInitialized+`"}`))
		b.listen(s)                                                               //nolint:contextcheck // It outlasts the request.
		b.write([]byte(`{"jsonrpc":"2.0","method":"` + methodListChanged + `"}`)) // Whatever happened meanwhile.
	}
	return s, nil
}

// open opens the session that the client asks for, and passes the answer on.
func (b *bridge) open(ctx context.Context, m message, shown bool) error {
	resp, err := b.send(ctx, nil, m.raw)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	id := resp.Header.Get("Mcp-Session-Id")
	answered := false
	err = b.each(resp, func(got message) error {
		if !got.answers() {
			return nil
		}
		answered = true
		var result struct {
			Version string `json:"protocolVersion"` //nolint:tagliatelle // The protocol's name.
		}
		if json.Unmarshal(got.Result, &result) == nil && result.Version != "" && id != "" {
			b.mu.Lock()
			b.epoch++
			b.session = &session{id: id, version: result.Version, epoch: b.epoch}
			b.mu.Unlock()
		} else if !shown {
			return &refused{"the server opens no session any more"}
		}
		if shown {
			b.write(got.with("id", m.ID))
		}
		return nil
	})
	if err == nil && !answered {
		return errBroken
	}
	return err
}

// reopen opens a session in the place of one that is gone.
func (b *bridge) reopen(ctx context.Context, hello message) error {
	hello.raw = hello.with("id", quoted("bridge"))
	b.log.InfoContext(ctx, "opening a session anew")
	return b.open(ctx, hello, false)
}

// lose forgets a session that is gone.
func (b *bridge) lose(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session == s {
		b.session = nil
	}
}

// leave ends the session. Its calls go on.
func (b *bridge) leave(ctx context.Context) {
	b.mu.Lock()
	s := b.session
	b.mu.Unlock()
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	if resp, err := b.cfg.Server.MCP(ctx, http.MethodDelete, s.header(), nil); err == nil {
		_ = resp.Body.Close() // It ends by itself too.
	}
}

// post sends a request within a session, and passes its answer on, with what comes before.
func (b *bridge) post(ctx context.Context, s *session, m message, body []byte) error {
	resp, err := b.send(ctx, s, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answered := false
	err = b.each(resp, func(got message) error {
		if answered || !got.answers() || string(got.ID) != string(m.ID) {
			return b.pass(s, got)
		}
		if m.Method == methodCallTool && got.interrupted() {
			return errBroken
		}
		answered = true
		return b.pass(s, got)
	})
	if answered {
		return nil
	}
	if err == nil {
		return errBroken
	}
	return err
}

// pass passes a message of the server on.
func (b *bridge) pass(s *session, got message) error {
	if got.asks() {
		b.write(got.with("id", fromServer(s.epoch, got.ID)))
		return nil
	}
	b.write(got.raw)
	return nil
}

// send posts a message, and fails unless the server serves it.
func (b *bridge) send(ctx context.Context, s *session, body []byte) (*http.Response, error) {
	resp, err := b.cfg.Server.MCP(ctx, http.MethodPost, s.header(), body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	err = statusError(resp)
	if s == nil && errors.Is(err, errGone) {
		err = &refused{"there is no MCP endpoint at the server: is it a Toolcrib server?"}
	}
	return nil, err
}

// statusError returns why the server did not serve a request.
func statusError(resp *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	switch resp.StatusCode {
	case http.StatusNotFound:
		return errGone
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("%w: it answered %d", errAway, resp.StatusCode)
	}
	var problem v1.Problem
	var rpc struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch {
	case err == nil && json.Unmarshal(raw, &problem) == nil && problem.Detail != "":
		return &refused{problem.Detail}
	case err == nil && json.Unmarshal(raw, &rpc) == nil && rpc.Error.Message != "":
		return &refused{rpc.Error.Message}
	}
	return &refused{fmt.Sprintf("the server answered %d", resp.StatusCode)}
}

// each calls fn for each message of a response. It fails with errBroken where the response breaks off.
func (b *bridge) each(resp *http.Response, fn func(message) error) error {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), eventStream) {
		raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return errBroken
		}
		got, err := read(raw)
		if err != nil {
			return &refused{"what answers there is no MCP server"}
		}
		return fn(got)
	}
	for e, err := range sse.Read(resp.Body, maxAnswer, func() {}) {
		if err != nil {
			return errBroken
		}
		if len(e.Data) == 0 {
			continue
		}
		got, err := read(e.Data)
		if err != nil {
			return &refused{"the server sent what is no message"}
		}
		if err := fn(got); err != nil {
			return err
		}
	}
	return nil
}

// listen reads the stream of a session, on which the server says what belongs to no request, once for each
// session. Where the session is gone, it has another opened.
func (b *bridge) listen(s *session) {
	b.mu.Lock()
	again := s.heard
	s.heard = true
	b.mu.Unlock()
	if again {
		return
	}
	ctx := b.life
	b.work.Go(func() {
		for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
			err := b.hear(ctx, s)
			switch {
			case err == nil:
				pause = firstPause
			case errors.Is(err, errGone):
				b.lose(s)
				if _, err := b.current(ctx); err == nil {
					return // The new session has a stream of its own.
				}
			case !errors.Is(err, errAway) && !errors.Is(err, errBroken):
				b.log.DebugContext(ctx, "the server has no stream for a session", slog.Any("error", err))
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	})
}

// hear reads the stream of a session until it ends.
func (b *bridge) hear(ctx context.Context, s *session) error {
	resp, err := b.cfg.Server.MCP(ctx, http.MethodGet, s.header(), nil)
	if err != nil {
		return errAway
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return statusError(resp)
	}
	return b.each(resp, func(got message) error { return b.pass(s, got) })
}
