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
	return func(yield func(tool.Event, error) bool) {
		f := &following{client: c, run: id, after: after, retry: time.Second, heard: time.Now()}
		for {
			err := f.connect(ctx, func(e tool.Event) bool { return yield(e, nil) })
			switch {
			case errors.Is(err, errLeft), errors.Is(err, errOver):
				return
			case ctx.Err() != nil:
				yield(tool.Event{}, ctx.Err())
				return
			case !f.worthRetrying(err):
				yield(tool.Event{}, err)
				return
			}
			select {
			case <-ctx.Done():
				yield(tool.Event{}, ctx.Err())
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

// following is the state of one call of [Client.FollowRun].
type following struct {
	client *Client
	run    string
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

// connect follows the run over one connection. It never returns nil.
func (f *following) connect(ctx context.Context, yield func(tool.Event) bool) error {
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
			return &tool.Error{Kind: tool.InternalError, Op: "client", Msg: "an event of the run is too large", Sent: true}
		}
		if err != nil {
			break
		}
		f.retry = cmp.Or(e.Retry, f.retry)
		if err := f.take(e, yield); err != nil {
			return err
		}
	}
	return errBroken
}

// open requests the stream.
func (f *following) open(ctx context.Context) (*http.Response, error) {
	c := f.client
	req, err := c.streamRequest(ctx, http.MethodGet, nil, "runs", f.run, "events")
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

// take yields the event of a run that a message holds, if any.
func (f *following) take(m sse.Event, yield func(tool.Event) bool) error {
	switch {
	case m.Type == v1.EventEnd:
		return errOver
	case len(m.Data) == 0:
		return nil
	}
	var e tool.Event
	if err := f.client.decode(answer{http.StatusOK, m.Data}, &e); err != nil {
		return err
	}
	if e.Seq <= f.after {
		return nil
	}
	f.after = e.Seq
	if !yield(e) {
		return errLeft
	}
	return nil
}
