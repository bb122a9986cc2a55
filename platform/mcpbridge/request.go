package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// request is a request of the client that has no answer yet.
type request struct {
	message
	cancel context.CancelFunc
	behind <-chan struct{} // Closed once it may be sent; nil for at once.

	// The bridge's lock guards these.
	given   bool            // The client gave it up.
	session *session        // That it was sent in last.
	wire    json.RawMessage // Its id there; nil before.
}

// errInterrupted says that the server stopped waiting for a call, which goes on.
var errInterrupted = errors.New("the server stopped before the call had ended")

// request passes a request on, in a goroutine of its own.
func (b *bridge) request(ctx context.Context, m message) {
	id := key(m.ID)
	ctx, cancel := context.WithCancel(ctx)
	r := &request{message: m, cancel: cancel, behind: b.gate}
	b.mu.Lock()
	_, twice := b.requests[id]
	many := len(b.requests) >= maxRequests
	if !twice && !many {
		b.requests[id] = r
	}
	b.mu.Unlock()
	if twice || many {
		cancel()
		b.write(failure(m.ID, codeInvalid, "too many requests at once, or two with one id"))
		return
	}
	var gate chan struct{}
	if m.Method == methodInitialize { // What comes behind it waits for its session.
		gate = make(chan struct{})
		b.gate = gate
	}
	b.calls.Go(func() {
		defer func() {
			cancel()
			b.mu.Lock()
			delete(b.requests, id)
			b.mu.Unlock()
			if gate != nil {
				close(gate)
			}
		}()
		if passed(ctx, r.behind) {
			b.serve(ctx, r)
		}
	})
}

// attempt is one sending of a request.
type attempt struct {
	began time.Time
	heard time.Time // When the server sent something last.
	sent  bool      // The server may have got it.
}

// serve passes a request on until it has an answer, and answers itself where the server does not.
func (b *bridge) serve(ctx context.Context, r *request) {
	body, named, call := r.raw, true, r.Method == methodCallTool
	if call {
		body, named = r.named()
	}
	again := retry{patience: b.cfg.Patience, pause: firstPause}
	sent := false
	for {
		a := attempt{began: time.Now()}
		err := b.try(ctx, r, body, &a)
		if err == nil || ctx.Err() != nil {
			return
		}
		sent = sent || a.sent && !errors.Is(err, errGone)
		if no, ok := errors.AsType[*refused](err); ok {
			b.write(failure(r.ID, codeUnavailable, no.text))
			return
		}
		pause, ok := again.after(&a, err, call)
		switch {
		case sent && !named:
			b.write(failure(r.ID, codeUnavailable, fmt.Sprintf("the answer of the server was lost (%s), and the call "+
				"is not sent again, since its params cannot take an id: it may have been made", err)))
			return
		case !ok && call && sent:
			b.write(failure(r.ID, codeUnavailable, fmt.Sprintf("the Toolcrib server is not answering: %s. The call may "+
				"have been made, and goes on then: look for its run before you make it again", err)))
			return
		case !ok:
			b.write(failure(r.ID, codeUnavailable, "the Toolcrib server is not answering: "+err.Error()))
			return
		}
		if !paused(ctx, pause) {
			return
		}
	}
}

// retry decides for how long a request is sent again.
type retry struct {
	patience time.Duration
	pause    time.Duration
	since    time.Time // Since when nothing came of it; zero before the first failure.
}

// after returns the pause after an attempt that failed, and false where there is no further one. A call that
// the server was waiting for is one that it knows: what counts for it is the time since.
func (t *retry) after(a *attempt, err error, call bool) (time.Duration, bool) {
	lasted := a.heard.Sub(a.began) >= longestPause
	switch {
	case errors.Is(err, errInterrupted):
		t.since = time.Time{}
	case call && lasted:
		t.since = a.heard
	case t.since.IsZero():
		t.since = a.began
	}
	if lasted {
		t.pause = firstPause
	}
	pause := t.pause
	t.pause = min(2*t.pause, longestPause)
	return pause, t.since.IsZero() || time.Since(t.since) <= t.patience
}

// try sends a request once, and passes what comes on to the client.
func (b *bridge) try(ctx context.Context, r *request, body json.RawMessage, a *attempt) error {
	if r.Method == methodInitialize {
		if err := b.acquire(ctx); err != nil {
			return err
		}
		defer b.release()
		b.mu.Lock()
		again := b.session != nil
		b.mu.Unlock()
		if again {
			return &refused{"the session is open: initialize is sent once"}
		}
		return b.open(ctx, r.message, true)
	}
	s, err := b.current(ctx)
	if err != nil {
		return err
	}
	err = b.post(ctx, s, r, body, a)
	if errors.Is(err, errGone) {
		b.lose(s)
	}
	return err
}

// post sends a request within a session, and passes its answer on, with what comes before. At the server it has
// an id of the attempt: the one of an attempt before is in use there for as long as that is worked on.
func (b *bridge) post(ctx context.Context, s *session, r *request, body json.RawMessage, a *attempt) error {
	id := b.wireID()
	b.mu.Lock()
	given := r.given
	if !given {
		r.session, r.wire = s, id
	}
	b.mu.Unlock()
	if given {
		r.cancel()
		return context.Canceled
	}
	ctx, w := b.watch(ctx)
	defer func() {
		w.stop()
		a.heard = w.heard
	}()
	a.sent = true
	resp, err := b.send(ctx, s, set(body, "id", id), w)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answered := false
	err = b.each(resp, w, func(got message) error {
		switch {
		case got.refuses():
			return &refused{got.failure().Message}
		case answered || !got.answers() || key(got.ID) != key(id):
			b.pass(ctx, s, got)
		case r.Method == methodCallTool && got.interrupted():
			return errInterrupted
		default:
			answered = true
			b.write(got.with("id", r.ID))
		}
		return nil
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
func (b *bridge) pass(ctx context.Context, s *session, got message) {
	switch {
	case got.asks():
		b.write(got.with("id", fromServer(s.epoch, got.ID)))
	case got.Method == methodCancelled:
		b.write(got.with("params", set(got.Params, "requestId", fromServer(s.epoch, got.cancels()))))
	case got.Method != "":
		b.write(got.raw)
	default:
		b.log.DebugContext(ctx, "the server answered what was not asked")
	}
}
