package mcpcall

import (
	"context"
	"io"
	"log/slog"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Command is a program that an operator lets tools run, as a server over its
// pipes. Definitions know it by its name only.
type Command struct {
	Path string   // Of the program, absolute.
	Args []string // Without the program's name.
	Env  []string // All of its environment, as "NAME=value".
	Dir  string   // Where it runs. Defaults to the root directory.
}

// Options configures a [Client].
type Options struct {
	Gate     *egress.Gate       // The way out. Required.
	Secrets  secret.Resolver    // Opens credentials. Defaults to none.
	Sessions Sessions           // Defaults to a [MemorySessions].
	Servers  Servers            // Finds attached servers. Defaults to none.
	Commands map[string]Command // Programs by name. Defaults to none.
	Logger   *slog.Logger       // Defaults to discarding.
}

// Client talks to MCP servers. It is safe for concurrent use; one serves a
// process. The caller closes it.
type Client struct {
	opts Options
}

// NewClient returns a client.
func NewClient(o Options) *Client {
	if o.Sessions == nil {
		o.Sessions = &MemorySessions{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{opts: o}
}

var _ io.Closer = (*Client)(nil)
var _ tool.Executor = (*Executor)(nil)

// Access says for whom a server is talked to, and what may be done.
type Access struct {
	Tenant tool.TenantID
	Class  tool.Egress      // None may not call out.
	Rules  tool.EgressRules // Narrow where to.
}

// Discover asks a server what it is and what tools it has, with a session of
// its own that it ends. It fails with a [*tool.Error].
func (c *Client) Discover(ctx context.Context, a Access, s Server) (*Discovery, error) {
	return c.discover(ctx, a, s)
}
