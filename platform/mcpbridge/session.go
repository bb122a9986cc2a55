package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// session is a session at the server.
type session struct {
	id      string
	version string // Of the protocol.
	epoch   int    // Counts the sessions of the bridge.
	heard   bool   // Its own stream is read.
}

// header returns the headers of a message within a session; nil is for the one that opens it.
func (s *session) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, " + eventStream}}
	if s != nil {
		h.Set("Mcp-Session-Id", s.id)
		h.Set("Mcp-Protocol-Version", s.version)
	}
	return h
}

// acquire takes the right to open a session, and waits for it no longer than for a server that is away.
func (b *bridge) acquire(ctx context.Context) error {
	select {
	case b.opening <- struct{}{}:
		return nil
	default:
	}
	short, cancel := context.WithTimeout(ctx, b.cfg.Patience)
	defer cancel()
	select {
	case b.opening <- struct{}{}:
		return nil
	case <-short.Done():
		return fmt.Errorf("%w: it opens no session", errAway)
	}
}

func (b *bridge) release() { <-b.opening }

// current returns the session, which it opens anew where the last is gone.
func (b *bridge) current(ctx context.Context) (*session, error) {
	if err := b.acquire(ctx); err != nil {
		return nil, err
	}
	defer b.release()
	b.mu.Lock()
	s, hello, ready := b.session, b.hello, b.ready
	b.mu.Unlock()
	switch {
	case s != nil:
		return s, nil
	case hello == nil:
		return nil, &refused{"the first request of a client is initialize"}
	}
	b.log.InfoContext(ctx, "opening a session anew")
	if err := b.open(ctx, *hello, false); err != nil {
		return nil, err
	}
	b.mu.Lock()
	s = b.session
	b.mu.Unlock()
	if ready {
		b.tell(ctx, s, methodInitialized, []byte(`{"jsonrpc":"2.0","method":"`+methodInitialized+`"}`))
		b.listen(s)                                                               //nolint:contextcheck // It outlasts the request.
		b.write([]byte(`{"jsonrpc":"2.0","method":"` + methodListChanged + `"}`)) // Whatever happened meanwhile.
	}
	return s, nil
}

// open opens a session by the client's initialize, and passes the answer on where it is shown. It is called
// with the right to.
func (b *bridge) open(ctx context.Context, m message, shown bool) error {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Silence)
	defer cancel()
	ctx, w := b.watch(ctx)
	defer w.stop()
	id := b.wireID()
	resp, err := b.send(ctx, nil, m.with("id", id), w)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	name := resp.Header.Get("Mcp-Session-Id")
	answered := false
	err = b.each(resp, w, func(got message) error {
		switch {
		case got.refuses():
			return &refused{got.failure().Message}
		case !got.answers() || key(got.ID) != key(id):
			return nil
		}
		answered = true
		var result struct {
			Version string `json:"protocolVersion"` //nolint:tagliatelle // The protocol's name.
		}
		if json.Unmarshal(got.Result, &result) == nil && result.Version != "" && name != "" {
			b.mu.Lock()
			b.epoch++
			b.session = &session{id: name, version: result.Version, epoch: b.epoch}
			b.mu.Unlock()
		} else if !shown {
			return got.unopened()
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

// unopened returns why a session was not opened anew. A server that has too many opens one later.
func (m *message) unopened() error {
	why := m.failure()
	if why.Data.Retryable {
		return fmt.Errorf("%w: %s", errAway, why.Message)
	}
	if why.Message == "" {
		why.Message = "no reason given"
	}
	return &refused{"the server opens no session any more: " + why.Message}
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
			began := time.Now()
			err := b.hear(ctx, s)
			if time.Since(began) >= longestPause {
				pause = firstPause
			}
			if errors.Is(err, errGone) {
				b.lose(s)
				if _, err = b.current(ctx); err == nil {
					return // The new session has a stream of its own.
				}
			}
			if no, ok := errors.AsType[*refused](err); ok {
				b.log.WarnContext(ctx, "the server has no stream for a session: what it says of itself is missed",
					slog.String("reason", no.text))
				return // A request that opens another session reads its stream.
			}
			paused(ctx, pause)
		}
	})
}

// hear reads the stream of a session until it ends.
func (b *bridge) hear(ctx context.Context, s *session) error {
	ctx, w := b.watch(ctx)
	defer w.stop()
	resp, err := b.cfg.Server.MCP(ctx, http.MethodGet, s.header(), nil)
	if err != nil {
		return errAway
	}
	w.came()
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusOK:
		return b.each(resp, w, func(got message) error {
			b.pass(ctx, s, got)
			return nil
		})
	case resp.StatusCode == http.StatusConflict: // The stream before is not known to have ended.
		return errAway
	case resp.StatusCode >= http.StatusInternalServerError && resp.StatusCode != http.StatusNotImplemented:
		return errAway
	}
	return statusError(resp, w)
}
