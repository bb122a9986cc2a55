package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/sse"
)

const eventStream = "text/event-stream"

var (
	errGone   = errors.New("the session is gone")
	errAway   = errors.New("the server is away")
	errBroken = errors.New("the answer of the server broke off")
	errSilent = errors.New("the server is silent")
)

// refused is an answer of the server that sending again does not change.
type refused struct{ text string }

func (e *refused) Error() string { return e.text }

// watch ends a request to which the server sends nothing for too long. It is of one goroutine.
type watch struct {
	limit time.Duration
	timer *time.Timer
	heard time.Time // When something came last; when the watch began, before.
	stop  func()
}

// watch returns the context of a request that is watched, up to its stop.
func (b *bridge) watch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{limit: b.cfg.Silence, heard: time.Now()}
	w.timer = time.AfterFunc(w.limit, func() { cancel(errSilent) })
	w.stop = func() {
		w.timer.Stop()
		cancel(nil)
	}
	return ctx, w
}

// came says that something came. The time until the next read is that of the client, which is not watched.
func (w *watch) came() {
	w.timer.Stop()
	w.heard = time.Now()
}

// watched is a body whose reads are watched.
type watched struct {
	body io.Reader
	*watch
}

func (r watched) Read(p []byte) (int, error) {
	r.timer.Reset(r.limit)
	n, err := r.body.Read(p)
	r.timer.Stop()
	if n > 0 {
		r.came()
	}
	return n, err //nolint:wrapcheck // It is the body's.
}

// send posts a message, and fails unless the server serves it.
func (b *bridge) send(ctx context.Context, s *session, body json.RawMessage, w *watch) (*http.Response, error) {
	resp, err := b.cfg.Server.MCP(ctx, http.MethodPost, s.header(), body)
	if err != nil {
		if errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	w.came()
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	err = statusError(resp, w)
	if s == nil && errors.Is(err, errGone) {
		err = &refused{"there is no MCP endpoint at the server: is it a Toolcrib server?"}
	}
	return nil, err
}

// statusError returns why the server did not serve a request.
func statusError(resp *http.Response, w *watch) error {
	switch resp.StatusCode {
	case http.StatusNotFound:
		return errGone
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("%w: it answered %d", errAway, resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(watched{resp.Body, w}, maxMessage))
	var problem v1.Problem
	if err == nil && json.Unmarshal(raw, &problem) == nil && problem.Detail != "" {
		return &refused{problem.Detail}
	}
	if m, failed := read(raw); err == nil && failed == nil && m.failure().Message != "" {
		return &refused{m.failure().Message}
	}
	return &refused{fmt.Sprintf("the server answered %d", resp.StatusCode)}
}

// each calls fn for each message of a response. It fails with errBroken where the response breaks off.
func (b *bridge) each(resp *http.Response, w *watch, fn func(message) error) error {
	body := watched{resp.Body, w}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), eventStream) {
		raw, err := io.ReadAll(io.LimitReader(body, maxAnswer))
		if err != nil {
			return errBroken
		}
		got, err := read(raw)
		if err != nil {
			return &refused{"what answers there is no MCP server"}
		}
		return fn(got)
	}
	for e, err := range sse.Read(body, maxAnswer, func() {}) {
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
