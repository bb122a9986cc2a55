package mcpbridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// notify passes a notification on. It may be lost, as the protocol has it.
func (b *bridge) notify(ctx context.Context, m message) {
	switch m.Method {
	case methodInitialized:
		b.initialized(ctx, m)
	case methodCancelled:
		b.cancel(ctx, m)
	default:
		b.mu.Lock()
		s := b.session
		b.mu.Unlock()
		if s != nil {
			b.later(ctx, m.Method, func(ctx context.Context) { b.tell(ctx, s, m.Method, m.raw) })
		}
	}
}

// initialized passes on that the client is initialized. What comes behind it waits for that, and it waits for
// the answer to the client's initialize, which a script does not.
func (b *bridge) initialized(ctx context.Context, m message) {
	behind, gate := b.gate, make(chan struct{})
	b.gate = gate
	b.calls.Go(func() {
		defer close(gate)
		if !passed(ctx, behind) {
			return
		}
		b.mu.Lock()
		b.ready = true
		s := b.session
		b.mu.Unlock()
		if s != nil {
			b.tell(ctx, s, m.Method, m.raw)
			b.listen(s) //nolint:contextcheck // It outlasts the message.
		}
	})
}

// cancel passes on that the client gives a request up, under the id that the request has at the server.
func (b *bridge) cancel(ctx context.Context, m message) {
	b.mu.Lock()
	r := b.requests[key(m.cancels())]
	if r == nil {
		b.mu.Unlock()
		return
	}
	r.given = true // It is not sent any more.
	s, id := r.session, r.wire
	b.mu.Unlock()
	if id == nil {
		r.cancel()
		return
	}
	b.later(ctx, m.Method, func(ctx context.Context) {
		defer r.cancel()
		b.tell(ctx, s, m.Method, m.with("params", set(m.Params, "requestId", id)))
	})
}

// reply passes the client's answer to a request of the server on, where that is still waiting for it.
func (b *bridge) reply(ctx context.Context, m message) {
	b.mu.Lock()
	s := b.session
	b.mu.Unlock()
	if s == nil {
		return
	}
	if id, ok := toServer(s.epoch, m.ID); ok {
		b.later(ctx, "an answer", func(ctx context.Context) { b.tell(ctx, s, "an answer", m.with("id", id)) })
	}
}

// later does what takes a while without keeping the client's next message waiting.
func (b *bridge) later(ctx context.Context, what string, do func(ctx context.Context)) {
	select {
	case b.telling <- struct{}{}:
	default:
		b.log.WarnContext(ctx, "a message of the client was lost: too many at once", slog.String("message", what))
		return
	}
	b.calls.Go(func() {
		defer func() { <-b.telling }()
		do(ctx)
	})
}

// tell sends a message that has no answer, for a short time also again: where the server is busy or not there.
// The server takes such a message twice as it takes it once.
func (b *bridge) tell(ctx context.Context, s *session, what string, body json.RawMessage) {
	short, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		var why slog.Attr
		resp, err := b.cfg.Server.MCP(short, http.MethodPost, s.header(), body)
		if err != nil {
			why = slog.Any("error", err)
		} else {
			_ = resp.Body.Close() // It says no more than the status.
			if resp.StatusCode < http.StatusBadRequest {
				return
			}
			why = slog.Int("status", resp.StatusCode)
		}
		passing := err != nil || resp.StatusCode == http.StatusTooManyRequests ||
			resp.StatusCode >= http.StatusInternalServerError
		if passing && paused(short, pause) {
			continue
		}
		if ctx.Err() == nil {
			b.log.WarnContext(ctx, "a message of the client was lost", slog.String("message", what), why)
		}
		return
	}
}

// paused waits, and reports false where ctx ends before.
func paused(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// passed waits for a gate, and reports false where ctx ends before.
func passed(ctx context.Context, gate <-chan struct{}) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-ctx.Done():
		return false
	}
}
