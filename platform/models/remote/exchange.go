package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/models/pace"
	"github.com/toolcrib/toolcrib/tool"
)

// maxErrorBytes bounds how much of an error's body is read.
const maxErrorBytes = 64 << 10

// doer is the HTTP client of an SDK.
type doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Exchange sends one request to a provider. It is the HTTP client of an SDK, to
// which it returns only answers of status 200 and of bounded size: everything
// else is returned as a [tool.Error].
type Exchange struct {
	provider, model, source string
	limit                   int64
	stream                  bool
	redactor                *secret.Redactor
	client                  doer
	cancel                  context.CancelFunc
	pacer                   *pace.Pacer
	turn                    pace.Request // What is asked of pacer.
	permit                  *pace.Permit // Of the last request; nil before it.
	idle                    *idleTimer   // Of a stream; nil for none.

	sent   atomic.Bool           // A connection was established.
	broken atomic.Pointer[error] // The error of reading the answer's body.
}

var _ doer = (*Exchange)(nil)

// watch returns a context with which the exchange observes requests.
func (x *Exchange) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) },
	})
}

// Provider returns the name of the provider in agents.
func (x *Exchange) Provider() string { return x.provider }

// End releases the exchange.
func (x *Exchange) End() {
	x.idle.stop()
	x.cancel()
}

// Do implements the client of an SDK.
func (x *Exchange) Do(req *http.Request) (*http.Response, error) {
	if err := x.enter(req); err != nil {
		return nil, err
	}
	resp, err := x.client.Do(req)
	if err != nil {
		return nil, err
	}
	x.idle.heard()
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes)) // As much as can be read.
		return nil, x.refusal(resp.StatusCode, resp.Header, raw)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if x.stream && kind != "text/event-stream" {
		_ = resp.Body.Close()
		return nil, x.garbled("it was asked for an event stream and sent something else")
	}
	resp.Body = &body{ReadCloser: resp.Body, exchange: x, left: x.limit}
	return resp, nil
}

// body is an answer's body of bounded size, which records its read error.
type body struct {
	io.ReadCloser

	exchange *Exchange
	left     int64
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.exchange.idle.heard()
	}
	b.left -= int64(n)
	if b.left < 0 {
		n, err = 0, b.exchange.fail(
			tool.Invalid, fmt.Sprintf("its answer is larger than %d bytes; lower max_tokens", b.exchange.limit), nil,
		)
	}
	if err != nil && err != io.EOF { //nolint:errorlint // A reader's end is this very value.
		b.exchange.broken.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Failure classifies an error that an SDK returned for the exchange. An error
// that neither the network nor the provider caused is a malformed answer.
func (x *Exchange) Failure(ctx context.Context, err error) error {
	if broke := x.broken.Load(); broke != nil {
		err = *broke
	}
	if e, ok := errors.AsType[*tool.Error](err); ok && ctx.Err() == nil {
		out := *e
		out.Sent = x.sent.Load()
		return &out
	}
	wrapped, network := errors.AsType[*url.Error](err)
	if network {
		err = wrapped.Err // Without the URL.
	}
	switch {
	case x.idle.over():
		return x.fail(tool.Timeout, fmt.Sprintf("its stream was idle: no byte in %s", x.idle.after),
			context.DeadlineExceeded)
	case errors.Is(ctx.Err(), context.Canceled):
		return x.fail(tool.Cancelled, "the turn was cancelled", context.Canceled)
	case ctx.Err() != nil:
		return x.fail(tool.Timeout, "it did not answer in time", ctx.Err())
	case x.broken.Load() != nil || network && x.sent.Load():
		return x.fail(tool.Unavailable, "the connection broke before it had answered", err)
	case network && errors.Is(err, syscall.ECONNREFUSED):
		return x.fail(tool.Unavailable, "it refused the connection", err)
	case network:
		return x.fail(tool.Unavailable, "it can't be reached", err)
	default:
		return x.garbled("")
	}
}

// Garbled is the failure of an answer that violates the provider's documented
// format; what describes the fault, without quoting the answer.
func (x *Exchange) Garbled(what string) error { return x.garbled(what) }

func (x *Exchange) garbled(what string) *tool.Error {
	if what == "" {
		what = "it is not JSON of the documented shape"
	}
	return x.fail(tool.Unavailable, "its answer is malformed: "+what, nil)
}

// BrokeOff is the failure of a stream that ended before its answer did.
func (x *Exchange) BrokeOff() error {
	return x.fail(tool.Unavailable, "the stream ended before the answer was complete", nil)
}

// Filtered is the failure of an answer that the provider's filter stopped.
func (x *Exchange) Filtered() error {
	e := x.fail(tool.Denied, "its content filter stopped the answer", nil)
	e.Answered = true
	return e
}

// NothingSaid is the failure of an answer that was truncated before its first
// word.
func (x *Exchange) NothingSaid() error {
	e := x.fail(
		tool.Invalid, "the answer was truncated before its first word: raise max_tokens, or lower the reasoning effort",
		nil,
	)
	e.Answered = true
	return e
}

func (x *Exchange) fail(kind tool.Kind, msg string, cause error) *tool.Error {
	return &tool.Error{
		Kind: kind, Op: "models." + x.provider, Sent: x.sent.Load(), Err: cause,
		Msg: fmt.Sprintf("the model provider %q: %s", x.provider, msg),
	}
}
