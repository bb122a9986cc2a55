package mcpbridge

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Server is the server that is bridged to. client.Client implements it.
type Server interface {
	// MCP sends a request to the MCP endpoint, and returns the response after its header.
	MCP(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error)
}

// Config holds the ends of a bridge.
type Config struct {
	Server Server    // Required.
	In     io.Reader // The client's messages, one a line. Required.
	Out    io.Writer // Messages to the client, likewise. Required.
	// Patience is how long a request is sent again while the server is away. Defaults to
	// [DefaultPatience].
	Patience time.Duration
	Logger   *slog.Logger // Defaults to discarding.
}

const (
	// DefaultPatience is the default of [Config].Patience.
	DefaultPatience = 2 * time.Minute

	maxMessage  = 4 << 20  // Of the client, in bytes. The server takes less.
	maxAnswer   = 32 << 20 // Of the server, in bytes.
	maxRequests = 256      // Of the client, at once.
	// shortTimeout bounds a message that has no answer.
	shortTimeout = 10 * time.Second
	// lastWait is how long requests may take that are open when the client's input ends, as that of a script
	// does at once.
	lastWait     = 2 * time.Second
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// bridge passes messages between a client and the sessions that it has one after the other.
type bridge struct {
	cfg   Config
	log   *slog.Logger
	life  context.Context //nolint:containedctx // That of Run: the streams of sessions outlast requests.
	work  sync.WaitGroup  // What goes on until life ends.
	calls sync.WaitGroup  // Requests of the client.

	out sync.Mutex // Guards the writer.

	opening sync.Mutex // Held while a session is opened, from the time that the client asks for it.

	mu       sync.Mutex
	hello    *message // The client's initialize; nil before.
	ready    bool     // The client said that it is initialized.
	session  *session // Nil where there is none.
	epoch    int      // Of the last session.
	requests map[string]context.CancelFunc
}

// Run passes messages on until the client's end, which is no error, or ctx ends.
func Run(ctx context.Context, cfg Config) error {
	cfg.Patience = cmp.Or(cfg.Patience, DefaultPatience)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	b := &bridge{cfg: cfg, log: cfg.Logger, requests: map[string]context.CancelFunc{}}
	ctx, stop := context.WithCancel(ctx)
	b.life = ctx
	defer func() {
		stop()
		b.calls.Wait()
		b.work.Wait()
		b.leave(context.WithoutCancel(ctx))
	}()
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { // Reading cannot be interrupted: it ends with the process.
		defer close(lines)
		scanner := bufio.NewScanner(cfg.In)
		scanner.Buffer(make([]byte, 64<<10), maxMessage)
		for scanner.Scan() {
			select {
			case lines <- bytes.Clone(scanner.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		if err := scanner.Err(); err != nil {
			failed <- err
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if ok {
				b.take(ctx, line)
				continue
			}
			select {
			case err := <-failed:
				if errors.Is(err, bufio.ErrTooLong) {
					return fmt.Errorf("the client sent a message of more than %d bytes", maxMessage)
				}
				return fmt.Errorf("reading the client's messages: %w", err)
			default:
				b.finish(ctx)
				return nil
			}
		}
	}
}

// finish waits for the requests that are open, for a while.
func (b *bridge) finish(ctx context.Context) {
	done := make(chan struct{})
	go func() { // The requests end with Run at the latest.
		defer close(done)
		b.calls.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(lastWait):
	}
}

// take takes a message of the client.
func (b *bridge) take(ctx context.Context, line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	m, err := read(line)
	switch {
	case bytes.HasPrefix(line, []byte("[")):
		b.write(failure(nil, codeInvalid, "batches are not served: send one message a line"))
	case err != nil:
		b.write(failure(nil, codeParse, "the message is no JSON"))
	case m.Method == methodDiscover && m.asks(): // Clients of later revisions go on with initialize.
		b.write(failure(m.ID, codeNoMethod, "method not found: this server is opened with initialize"))
	case m.Method == methodInitialize && m.asks():
		b.mu.Lock()
		again := b.session != nil
		if !again {
			b.hello = &m
		}
		b.mu.Unlock()
		if again {
			b.write(failure(m.ID, codeInvalid, "the session is open: initialize is sent once"))
			return
		}
		b.request(ctx, m)
	case m.asks():
		b.request(ctx, m)
	case m.answers():
		b.reply(ctx, m)
	case m.Method != "":
		b.notify(ctx, m)
	default:
		b.write(failure(nil, codeInvalid, "the message is neither a request nor an answer"))
	}
}

// request passes a request on, in a goroutine of its own.
func (b *bridge) request(ctx context.Context, m message) {
	key := string(m.ID)
	ctx, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	_, twice := b.requests[key]
	many := len(b.requests) >= maxRequests
	if !twice && !many {
		b.requests[key] = cancel
	}
	b.mu.Unlock()
	if twice || many {
		cancel()
		b.write(failure(m.ID, codeInvalid, "too many requests at once, or two with one id"))
		return
	}
	first := m.Method == methodInitialize
	if first { // What comes behind it waits for its session.
		b.opening.Lock()
	}
	b.calls.Go(func() {
		defer func() {
			cancel()
			b.mu.Lock()
			delete(b.requests, key)
			b.mu.Unlock()
			if first {
				b.opening.Unlock()
			}
		}()
		b.serve(ctx, m)
	})
}

// notify passes a notification on. It may be lost, as the protocol has it.
func (b *bridge) notify(ctx context.Context, m message) {
	if m.Method == methodInitialized {
		b.opening.Lock() // A script does not wait for the answer to its initialize.
		defer b.opening.Unlock()
	}
	b.mu.Lock()
	b.ready = b.ready || m.Method == methodInitialized
	s := b.session
	cancel := b.requests[m.cancels()]
	b.mu.Unlock()
	if s != nil {
		b.tell(ctx, s, m.raw)
	}
	if m.Method == methodInitialized && s != nil {
		b.listen(s) //nolint:contextcheck // It outlasts the message.
	}
	if m.Method == methodCancelled && cancel != nil {
		cancel()
	}
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
		b.tell(ctx, s, m.with("id", id))
	}
}

// tell sends a message that has no answer.
func (b *bridge) tell(ctx context.Context, s *session, body []byte) {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	resp, err := b.cfg.Server.MCP(ctx, http.MethodPost, s.header(), body)
	if err != nil {
		b.log.DebugContext(ctx, "a message was lost", slog.Any("error", err))
		return
	}
	_ = resp.Body.Close() // Its answer is empty.
}

// write writes a message to the client. Where that fails, the client has gone, and its input ends.
func (b *bridge) write(raw json.RawMessage) {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return
	}
	line.WriteByte('\n')
	b.out.Lock()
	defer b.out.Unlock()
	_, _ = b.cfg.Out.Write(line.Bytes())
}
