package api

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Times of shares.
const (
	shareLasts = time.Second            // How long requests that were taken from a bucket can be used.
	drainedFor = 100 * time.Millisecond // How long an empty bucket is not asked again.
	sharesKept = time.Minute            // How long a share is kept that nothing uses.
)

// shares bounds what each key and each person with a token may send. Of the bucket of a principal,
// which is in the database, a server takes some requests at a time, in the round trip that
// authenticates one of them: a request beyond the limit is refused without another, and before its
// body is read. It is safe for concurrent use.
type shares struct {
	standard store.Limits
	now      func() time.Time

	mu    sync.Mutex
	of    map[shareID]*share
	swept time.Time
}

// shareID names a share without holding a secret: the digest of a key's text, or of a subject.
type shareID [sha256.Size]byte

func newShares(standard store.Limits) *shares {
	return &shares{standard: standard, now: time.Now, of: map[shareID]*share{}}
}

// asking is a question to the database that others wait for.
type asking struct {
	done   chan struct{}
	failed error // Set before done is closed.
}

// share is what a server may serve of a principal.
type share struct {
	known   bool // The principal has been authenticated.
	limits  store.Limits
	held    float64   // Requests that were taken from the bucket.
	until   time.Time // When they are given back.
	left    float64   // Requests in the bucket, when it was asked.
	bytes   float64   // Bytes in the bucket, when it was asked.
	spent   float64   // Bytes since.
	asked   time.Time
	blocked time.Time // Nothing is served before.
	used    time.Time
	open    int     // Requests whose bytes are counted when they end.
	pending *asking // Of the bucket; nil where it is not asked.
}

// begin decides on a request of a principal: it is refused, or goes on with what is to be asked of
// the database. While that is asked, other requests of the principal wait, and hold no connection.
// The caller calls end if err and refused are nil.
func (s *shares) begin(ctx context.Context, id shareID) (sh *share, draw store.Draw, refused *v1.Problem, err error) {
	for {
		s.mu.Lock()
		now := s.now()
		s.sweep(now)
		sh = s.of[id]
		if sh == nil {
			sh = &share{}
			s.of[id] = sh
		}
		sh.used = now
		pending := sh.pending
		switch {
		case sh.known && !sh.limits.Any():
			s.mu.Unlock()
			return sh, store.Draw{Standard: s.standard}, nil, nil
		case pending != nil:
			s.mu.Unlock()
			select {
			case <-pending.done:
				if pending.failed != nil {
					return nil, store.Draw{}, nil, pending.failed
				}
				continue
			case <-ctx.Done():
				return nil, store.Draw{}, nil, &tool.Error{
					Kind: tool.Cancelled, Op: "api.shares", Msg: "the request ended while it waited", Err: ctx.Err(),
				}
			}
		case now.Before(sh.blocked):
			refused = sh.refuse(now)
			s.mu.Unlock()
			return sh, store.Draw{}, refused, nil
		case sh.mustAsk(now):
			draw = store.Draw{Standard: s.standard, Take: true, Unused: sh.held, Bytes: sh.spent}
			sh.held, sh.spent, sh.pending = 0, 0, &asking{done: make(chan struct{})}
			s.mu.Unlock()
			return sh, draw, nil, nil
		}
		if sh.limits.RequestsPerSecond > 0 {
			sh.held--
		}
		s.mu.Unlock()
		return sh, store.Draw{Standard: s.standard}, nil, nil
	}
}

// mustAsk reports whether the bucket has to be asked before a request is served.
func (sh *share) mustAsk(now time.Time) bool {
	if !sh.known {
		return true
	}
	requests := sh.limits.RequestsPerSecond > 0 && (sh.held < 1 || now.After(sh.until))
	size := sh.limits.BytesPerMinute > 0 && (sh.bytes-sh.spent <= 0 || now.Sub(sh.asked) > shareLasts)
	return requests || size
}

// end takes what the database answered to a draw, or why it did not. Who waited for that fails alike,
// unless the request that asked was cancelled.
func (s *shares) end(id shareID, sh *share, draw store.Draw, a store.Allowance, failed error) (refused *v1.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if draw.Take {
		if failed != nil && tool.KindOf(failed) != tool.Cancelled {
			sh.pending.failed = failed
		}
		close(sh.pending.done)
		sh.pending = nil
	}
	switch {
	case failed != nil:
		if draw.Take {
			sh.held, sh.spent = sh.held+draw.Unused, sh.spent+draw.Bytes
		}
		if !sh.known {
			delete(s.of, id)
		}
		return nil
	case !draw.Take:
		if a.Limits != sh.limits { // They were changed: the bucket is asked for the next request.
			sh.limits, sh.held, sh.asked = a.Limits, 0, time.Time{}
		}
		return nil
	}
	sh.known, sh.limits, sh.asked, sh.until = true, a.Limits, now, now.Add(shareLasts)
	sh.held, sh.left, sh.bytes = a.Taken, a.Requests, a.Bytes
	if sh.limits.BytesPerMinute > 0 && sh.bytes <= 0 {
		sh.blocked = now.Add(max(drainedFor, inSeconds((1-sh.bytes)*60/float64(sh.limits.BytesPerMinute))))
		return sh.refuse(now)
	}
	if sh.limits.RequestsPerSecond == 0 {
		return nil
	}
	if sh.held < 1 {
		sh.blocked = now.Add(max(drainedFor, inSeconds((1-sh.left)/float64(sh.limits.RequestsPerSecond))))
		return sh.refuse(now)
	}
	sh.held--
	return nil
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// open keeps a share until the bytes of a request and its answer are counted by spend.
func (s *shares) open(sh *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh.open++
}

// spend counts bytes of a request and its answer.
func (s *shares) spend(sh *share, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh.open--
	if sh.limits.BytesPerMinute > 0 {
		sh.spent += float64(bytes)
	}
}

// maxDebt bounds for how long a share is kept whose bytes the bucket does not know.
const maxDebt = 7 * 24 * time.Hour

// kept is how long a share is kept that nothing uses: what it spent is forgotten with it, so not before
// the bucket would have been full again.
func (sh *share) kept() time.Duration {
	if sh.limits.BytesPerMinute == 0 {
		return sharesKept
	}
	return sharesKept + inSeconds(min(sh.spent*60/float64(sh.limits.BytesPerMinute), maxDebt.Seconds()))
}

// sweep forgets shares that nothing uses.
func (s *shares) sweep(now time.Time) {
	if now.Sub(s.swept) < sharesKept {
		return
	}
	s.swept = now
	for id, sh := range s.of {
		if now.Sub(sh.used) > sh.kept() && sh.pending == nil && sh.open == 0 {
			delete(s.of, id)
		}
	}
}

// refuse returns the problem of a request beyond the limit.
func (sh *share) refuse(now time.Time) *v1.Problem {
	over := fmt.Sprintf("%d requests a second", sh.limits.RequestsPerSecond)
	if sh.limits.BytesPerMinute > 0 && sh.bytes-sh.spent <= 0 {
		over = fmt.Sprintf("%d bytes a minute", sh.limits.BytesPerMinute)
	}
	p := refusal(string(tool.RateLimited), "this key has sent as much as it may, "+over+
		": wait, send less often, or ask for a key with a higher limit")
	p.RetryAfter = max(drainedFor, sh.blocked.Sub(now)).Seconds()
	return p
}

// headers say how a principal stands with its limits: with the one of which less is left.
func (s *shares) headers(sh *share, h http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !sh.known || !sh.limits.Any() {
		return
	}
	limit, left, rate := float64(sh.limits.Burst), sh.held+sh.left, float64(sh.limits.RequestsPerSecond)
	if most := float64(sh.limits.BytesPerMinute); most > 0 && (limit == 0 || (sh.bytes-sh.spent)/most < left/limit) {
		limit, left, rate = most, sh.bytes-sh.spent, most/60
	}
	left = max(0, math.Floor(left))
	h.Set("RateLimit-Limit", strconv.FormatFloat(limit, 'f', 0, 64))
	h.Set("RateLimit-Remaining", strconv.FormatFloat(left, 'f', 0, 64))
	h.Set("RateLimit-Reset", strconv.FormatFloat(math.Ceil((limit-left)/rate), 'f', 0, 64))
}

// countedBody counts what is read of a request's body.
type countedBody struct {
	io.ReadCloser
	read int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	return n, err //nolint:wrapcheck // Readers compare it.
}
