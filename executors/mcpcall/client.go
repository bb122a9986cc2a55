package mcpcall

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Options configures a [Client].
type Options struct {
	Gate     *egress.Gate       // Required.
	Secrets  secret.Resolver    // Opens credentials. Defaults to none.
	Sessions Sessions           // Defaults to a [MemorySessions].
	Servers  Servers            // Finds attached servers. Defaults to none.
	Commands map[string]Command // Programs by name. Defaults to none.
	Logger   *slog.Logger       // Defaults to discarding.
	// Changed is called for each call refused because the server has changed the
	// definition of its tool. May be nil.
	Changed func(ctx context.Context, call *tool.Call, why *remote.ChangedError)
}

// Client is a client of MCP servers, one per process. It is safe for concurrent
// use. The caller closes it.
type Client struct {
	opts      Options
	configs   configs
	known     definitions
	processes processes

	mu     sync.Mutex
	closed bool
	after  sync.WaitGroup // Background work after calls.
}

// Names that the client gives itself.
const (
	clientName    = "toolcrib"
	clientVersion = "1"
	// effectKey is the call's effect id in _meta.
	effectKey = "toolcrib/idempotency-key"
)

// NewClient returns a client.
func NewClient(o Options) *Client {
	if o.Sessions == nil {
		o.Sessions = &MemorySessions{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{opts: o, processes: processes{commands: o.Commands, logger: o.Logger}}
}

var _ io.Closer = (*Client)(nil)

// Close kills the processes of commands, and waits for background work.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.processes.close()
	c.after.Wait()
	return nil
}

// Access is the principal and the egress permissions of a connection.
type Access struct {
	Tenant tool.TenantID
	Class  tool.Egress      // Class none may not connect.
	Rules  tool.EgressRules // Restrict hosts.
}

// connect returns a connection to a target, with its stored session or a new one.
func (c *Client) connect(ctx context.Context, t *target) (*conn, error) {
	if t.server.Kind() == remote.Stdio {
		return c.processes.connect(ctx, t)
	}
	if !t.shared() || t.server.Kind() == transportSSE {
		return dial(ctx, c.opts.Gate, t, nil)
	}
	kept, err := c.opts.Sessions.LoadMCPSession(ctx, t.key)
	if err != nil {
		return nil, kept404(err)
	}
	if kept != nil {
		secret.Note(ctx, kept.ID)
		return dial(ctx, c.opts.Gate, t, kept)
	}
	begun, err := dial(ctx, c.opts.Gate, t, nil)
	if err != nil {
		return nil, err
	}
	own, err := begun.agreed(ctx)
	if err == nil {
		kept, err = c.opts.Sessions.SaveMCPSession(ctx, t.key, own)
	}
	if err != nil {
		c.release(ctx, begun, true)
		return nil, kept404(err)
	}
	if kept.ID.Equal(own.ID) {
		return begun, nil
	}
	// Another call of the run has created a session first: end ours.
	c.release(ctx, begun, true)
	secret.Note(ctx, kept.ID)
	return dial(ctx, c.opts.Gate, t, kept)
}

// kept404 returns the error of a call whose session cannot be loaded: nothing was
// sent.
func kept404(err error) error {
	e := *tool.AsError(err)
	e.Sent = false
	return &e
}

// release closes a connection in the background, after the call has its answer.
func (c *Client) release(ctx context.Context, conn *conn, end bool) {
	if conn.wire == nil {
		c.processes.release(conn, endedBy(ctx) != nil)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	finish := func() {
		ctx, cancel := context.WithTimeout(ctx, closeTimeout)
		defer cancel()
		conn.close(ctx, end)
	}
	if c.closed {
		conn.peer.cancel()
	}
	c.after.Go(finish)
}
