package client

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/sse"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	silence           = 45 * time.Second // Three missed heartbeats: the connection is dead.
	slowestRetry      = 5 * time.Second
	longestRetryAfter = time.Minute
	followPatience    = 2 * time.Minute // Time without an answer after which following fails.
	maxEventBytes     = 32 << 20
)

// FollowRun returns a run's events and output after a number as they arrive,
// each once and in order, until the run has ended.
//
// When the connection breaks, it reconnects and resumes where it was. It yields
// an error, as the last value, if a retry is of no use: there is no such run,
// the server was not reachable at first or has not answered for two minutes, or
// ctx has ended. For a run of a host, the end is not known to the server.
func (c *Client) FollowRun(ctx context.Context, id string, after int64) iter.Seq2[tool.Event, error] {
	return follow(ctx, c, after, func(e tool.Event) int64 { return e.Seq }, "runs", id, "events")
}

// FollowSpace returns the messages of a space that are new, or have changed, after a number, as they
// come: each as it is then, in the order of the changes. It has no end; otherwise it is as
// [Client.FollowRun].
func (c *Client) FollowSpace(ctx context.Context, name string, after int64) iter.Seq2[v1.SpaceMessage, error] {
	return follow(ctx, c, after, func(m v1.SpaceMessage) int64 { return m.ChangedSeq }, "spaces", name, "events")
}

// follow follows a stream of values with numbers, over as many connections as that takes.
func follow[T any](
	ctx context.Context, c *Client, after int64, number func(T) int64, path ...string,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		f := &following{client: c, path: path, after: after, retry: time.Second, heard: time.Now()}
		take := func(m sse.Event) error {
			return take(f, m, number, func(v T) bool { return yield(v, nil) })
		}
		for {
			err := f.connect(ctx, take)
			switch {
			case errors.Is(err, errLeft), errors.Is(err, errOver):
				return
			case ctx.Err() != nil:
				yield(none, ctx.Err())
				return
			case !f.worthRetrying(err):
				yield(none, err)
				return
			}
			select {
			case <-ctx.Done():
				yield(none, ctx.Err())
				return
			case <-time.After(f.pause(err)):
			}
		}
	}
}

var (
	errLeft   = errors.New("the caller stopped")
	errOver   = errors.New("the stream is over")
	errBroken = errors.New("the stream broke off")
)

// following is the state of one call of [follow].
type following struct {
	client *Client
	path   []string
	after  int64 // Number of the last event that was yielded.
	retry  time.Duration

	connected bool // At least once.
	failures  int  // Since the last data from the server.
	heard     time.Time
}

// worthRetrying reports whether another connection may bring more.
func (f *following) worthRetrying(err error) bool {
	if !f.connected || time.Since(f.heard) > followPatience {
		return false
	}
	if errors.Is(err, errBroken) {
		return true
	}
	kind := tool.KindOf(err)
	_, unreachable := errors.AsType[*UnreachableError](err)
	return unreachable || kind == tool.Unavailable || kind == tool.RateLimited || kind == tool.Timeout
}

// pause returns the wait before the next connection: short after one that
// yielded events, then exponential, with jitter. A Retry-After of the server is
// the minimum.
func (f *following) pause(failed error) time.Duration {
	f.failures++
	if after := tool.AsError(failed).RetryAfter; after > 0 {
		after = min(after, longestRetryAfter)
		return after + time.Duration(rand.Int64N(int64(after)/4+1)) //nolint:gosec // No secret.
	}
	if f.failures == 1 {
		return time.Duration(rand.Int64N(int64(f.retry)/10 + 1)) //nolint:gosec // No secret.
	}
	wait := min(f.retry<<min(f.failures-2, 10), slowestRetry)
	return wait/2 + time.Duration(rand.Int64N(int64(wait)/2+1)) //nolint:gosec // No secret.
}

// connect follows the stream over one connection. It never returns nil.
func (f *following) connect(ctx context.Context, take func(sse.Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	resp, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	f.connected = true
	for e, err := range sse.Read(resp.Body, maxEventBytes, func() {
		watchdog.Reset(silence)
		f.heard, f.failures = time.Now(), 0
	}) {
		if errors.Is(err, bufio.ErrTooLong) {
			return &tool.Error{Kind: tool.InternalError, Op: "client", Msg: "an event of the stream is too large", Sent: true}
		}
		if err != nil {
			break
		}
		f.retry = cmp.Or(e.Retry, f.retry)
		if err := take(e); err != nil {
			return err
		}
	}
	return errBroken
}

// open requests the stream.
func (f *following) open(ctx context.Context) (*http.Response, error) {
	c := f.client
	req, err := c.streamRequest(ctx, http.MethodGet, nil, f.path...)
	if err != nil {
		return nil, err
	}
	if f.after > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(f.after, 10))
	}
	resp, err := c.gate.Client(egress.Access{Class: tool.EgressReadOnly}).Do(req)
	if err != nil {
		if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind != tool.Unavailable {
			return nil, e // Refused by the gate, or cancelled.
		}
		return nil, unreachable(c.base.String(), &tool.Error{Kind: tool.Unavailable, Op: "client", Err: err})
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNoContent {
		return nil, errOver
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, errBroken
	}
	return nil, c.problem(answer{resp.StatusCode, raw})
}

// streamRequest returns a request for a stream of server-sent events from the
// endpoint at path, elements below /v1.
func (c *Client) streamRequest(
	ctx context.Context, method string, body io.Reader, path ...string,
) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url(append([]string{"v1"}, path...), nil), body)
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "client", Msg: "the server's URL is malformed", Err: err}
	}
	req.Header.Set("Accept", v1.StreamType)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return req, nil
}

// take yields the value that a message of a stream holds, if any.
func take[T any](f *following, m sse.Event, number func(T) int64, yield func(T) bool) error {
	switch {
	case m.Type == v1.EventEnd:
		return errOver
	case len(m.Data) == 0:
		return nil
	}
	var v T
	if err := f.client.decode(answer{http.StatusOK, m.Data}, &v); err != nil {
		return err
	}
	n := number(v)
	if n <= f.after {
		return nil
	}
	f.after = n
	if !yield(v) {
		return errLeft
	}
	return nil
}
