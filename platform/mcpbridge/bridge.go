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
	"sync/atomic"
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
	// Silence is how long the server may send nothing while an answer of it is open: it sends a comment every
	// 15 s. A session has to be opened within it. Defaults to [DefaultSilence].
	Silence time.Duration
	Logger  *slog.Logger // Defaults to discarding.
}

const (
	// DefaultPatience is the default of [Config].Patience.
	DefaultPatience = 2 * time.Minute
	// DefaultSilence is the default of [Config].Silence.
	DefaultSilence = time.Minute

	maxMessage  = 4 << 20  // Of the client, in bytes. The server takes less.
	maxAnswer   = 32 << 20 // Of the server, in bytes.
	maxRequests = 256      // Of the client, at once, and messages without an answer likewise.
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
	calls sync.WaitGroup  // Messages of the client that are passed on.
	ids   atomic.Int64    // Of the ids at the server.

	out sync.Mutex // Guards the writer.

	opening chan struct{} // Full while a session is opened.
	telling chan struct{} // Has an entry for each message without an answer.
	// gate is closed once the messages before have been passed on that others have to come behind; nil before
	// the first of them. It is that of the goroutine of Run.
	gate <-chan struct{}

	mu       sync.Mutex
	hello    *message // The client's initialize; nil before.
	ready    bool     // The client said that it is initialized.
	session  *session // Nil where there is none.
	epoch    int      // Of the last session.
	requests map[string]*request
}

// Run passes messages on until the client's end, which is no error, or ctx ends.
func Run(ctx context.Context, cfg Config) error {
	cfg.Patience = cmp.Or(cfg.Patience, DefaultPatience)
	cfg.Silence = cmp.Or(cfg.Silence, DefaultSilence)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	b := &bridge{
		cfg: cfg, log: cfg.Logger, requests: map[string]*request{},
		opening: make(chan struct{}, 1), telling: make(chan struct{}, maxRequests),
	}
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
