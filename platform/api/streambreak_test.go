package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// breaker stands between a client and a server and breaks connections.
type breaker struct {
	net.Listener
	upstream atomic.Pointer[string]
	broken   atomic.Int64
	limit    func(broken int64) int64 // Bytes of answers that the next connection may carry; negative for any number.
}

func newBreaker(t *testing.T, upstream string, limit func(broken int64) int64) *breaker {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &breaker{Listener: listener, limit: limit}
	b.upstream.Store(&upstream)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { b.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		wg.Wait()
	})
	return b
}

func (b *breaker) url() string { return "http://" + b.Addr().String() }

func (b *breaker) carry(down net.Conn) {
	up, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", *b.upstream.Load())
	if err != nil {
		_ = down.Close()
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(up, down)
		_ = up.Close()
	})
	if limit := b.limit(b.broken.Load()); limit < 0 {
		_, _ = io.Copy(down, up)
	} else if n, _ := io.CopyN(down, up, limit); n == limit {
		b.broken.Add(1)
	}
	_, _ = down.Close(), up.Close()
	wg.Wait()
}

func follower(t *testing.T, url, key string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Server: url, Key: key})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// The connection breaks a hundred times, anywhere, while several write: the
// client has every event once, and in order.
func TestFollowingSurvivesBreaks(t *testing.T) {
	t.Parallel()
	const breaks, writers, ahead = 100, 4, 64
	b := setup(t)
	run := b.record(t)
	proxy := newBreaker(t, strings.TrimPrefix(b.url, "http://"), func(broken int64) int64 {
		if broken >= breaks {
			return -1
		}
		return 200 + rand.Int64N(1500)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()

	room := make(chan struct{}, 2*ahead) // Writers keep so far ahead of the reader.
	for range ahead {
		room <- struct{}{}
	}
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			for i := 0; proxy.broken.Load() < breaks; i++ {
				select {
				case <-room:
				case <-ctx.Done():
					return
				}
				if writer == 0 {
					b.settle(t, run, tool.StatusFailed) //nolint:contextcheck // The test's own.
				} else {
					b.say(t, run, i, writer, strings.Repeat("x", i%300)) //nolint:contextcheck // The test's own.
				}
			}
		})
	}
	go func() {
		wg.Wait()
		b.finish(t, run) //nolint:testifylint // Should it fail, the reader runs into its deadline.
	}()
	var seen, last int64
	var lastType tool.EventType
	for e, err := range follower(t, proxy.url(), b.key).FollowRun(ctx, run.ID, 0) {
		require.NoError(t, err)
		seen, last, lastType = seen+1, e.Seq, e.Type
		require.Equal(t, seen, last, "each number comes once, and none is missing")
		select {
		case room <- struct{}{}:
		default:
		}
	}
	require.Equal(t, agent.EventRunCompleted, lastType)
	stored, err := b.Store.FindRun(t.Context(), b.tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, stored.LastSeq, last)
	require.GreaterOrEqual(t, proxy.broken.Load(), int64(breaks))
}

// A server that stops lets go of its streams in order, and a client goes on
// with the next one.
func TestFollowingSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := b.record(t)
	begin := func() (address string, stop func()) {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- serve.HTTP(ctx, listener, b.server, slog.New(slog.DiscardHandler)) }()
		return listener.Addr().String(), func() {
			cancel()
			require.NoError(t, <-ended, "it need not break a stream off")
		}
	}
	address, stop := begin()
	proxy := newBreaker(t, address, func(int64) int64 { return -1 })
	var seen int64
	for e, err := range follower(t, proxy.url(), b.key).FollowRun(t.Context(), run.ID, 0) {
		require.NoError(t, err)
		seen++
		require.Equal(t, seen, e.Seq)
		switch seen {
		case 1, 3, 5: // Between two servers there is none, and what is written then is not lost.
			stop()
			b.say(t, run, 1, 1, "meanwhile")
			address, stop = begin()
			proxy.upstream.Store(&address)
			b.say(t, run, 1, 1, "afterwards")
		case 7:
			b.finish(t, run)
		}
	}
	require.EqualValues(t, 8, seen)
	stop()
}

// Following what is not there fails at once, and a caller may leave.
func TestFollowingEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := b.record(t)
	only := func(c *client.Client, ctx context.Context, id string) error {
		for _, err := range c.FollowRun(ctx, id, 0) {
			return err
		}
		return nil
	}
	c := follower(t, b.url, b.key)
	require.NoError(t, only(c, t.Context(), run.ID))
	storetest.RequireKind(t, tool.NotFound, only(c, t.Context(), "nonsense"))
	storetest.RequireKind(t, tool.Denied, only(follower(t, b.url, "tck_none"), t.Context(), run.ID))
	nobody := newBreaker(t, "127.0.0.1:1", func(int64) int64 { return 0 })
	var unreachable *client.UnreachableError
	require.ErrorAs(t, only(follower(t, nobody.url(), b.key), t.Context(), run.ID), &unreachable)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range c.FollowRun(ctx, run.ID, 0) {
		last = err
		cancel()
	}
	require.ErrorIs(t, last, context.Canceled)

	b.finish(t, run)
	for e, err := range c.FollowRun(t.Context(), run.ID, 2) {
		require.Fail(t, "there is nothing after the end", "%v %v", e, err)
	}
}

// lockedBuffer is a log that a server writes while a test reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// A client that does not read is disconnected, and no other client is affected.
func TestSlowClientIsCutOff(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	b := setup(t, func(c *api.Config) {
		c.Streams.WriteTimeout = 500 * time.Millisecond
		c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	run := b.record(t)
	slow, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = slow.Close() })
	require.NoError(t, slow.(*net.TCPConn).SetReadBuffer(4<<10)) //nolint:errcheck // It is one.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+events(run), nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+b.key)
	require.NoError(t, req.Write(slow))

	seen := make(chan int64, 1)
	fast := follower(t, b.url, b.key)
	go func() {
		var last int64
		for e, err := range fast.FollowRun(t.Context(), run.ID, 0) {
			if err != nil {
				break
			}
			last = e.Seq
		}
		seen <- last
	}()
	text := strings.Repeat("x", 64<<10)
	wrote := int64(1)
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(log.String(),
		"the client does not read the stream"); wrote++ {
		require.True(t, time.Now().Before(deadline), "it was never cut off")
		b.say(t, run, 1, 1, text)
	}
	b.finish(t, run)
	require.Equal(t, wrote+1, <-seen)
}
