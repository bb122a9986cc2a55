package mcpserver

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Discovery is the description that a server gives of itself and its tools.
type Discovery = remote.Discovery

// Discoverer talks to servers. Implementations are safe for concurrent use and
// fail with a [*tool.Error].
type Discoverer interface {
	// CheckServer fails with tool.Invalid, with Path, for a malformed connection.
	CheckServer(c *definition.Connection) error
	// Discover lists the tools of a server, under the tenant's egress rules. It
	// bounds the size of the response.
	Discover(ctx context.Context, tenant tool.TenantID, c definition.Connection) (*Discovery, error)
}

// Tools creates and changes the tenant's tools. Package registry implements it.
type Tools interface {
	// Draft returns the head of a new tool, and stores nothing.
	Draft(tenant tool.TenantID, s definition.ToolSpec) (tool.Tool, error)
	// SlugTaken returns why a new tool cannot have a slug; empty where it can.
	SlugTaken(ctx context.Context, tenant tool.TenantID, slug string) (reason string, err error)
	// Apply replaces the draft of a tool.
	Apply(ctx context.Context, p tool.Principal, s definition.ToolSpec) (definition.Change, error)
	// Publish publishes the draft of a tool, and returns the version's number.
	Publish(ctx context.Context, p tool.Principal, toolID string) (number string, err error)
}

// Options of a [Registry].
type Options struct {
	// Discoverer talks to servers. Without one, none can be attached.
	Discoverer Discoverer
	// Clock returns the current time.
	Clock func() time.Time
}

// Registry attaches MCP servers, and keeps the tools that were imported from
// them at the definitions that were approved. It is safe for concurrent use.
//
// Every method fails with a [*tool.Error], as those of package registry do.
type Registry struct {
	store    Store
	tools    Tools
	opts     Options
	revision int64 // See [Registry.At].
}

// New returns a registry that writes servers to store, and changes tools
// through tools.
func New(store Store, tools Tools, opts Options) *Registry {
	return &Registry{store: store, tools: tools, opts: opts}
}

// At returns a registry that changes only a server at the given revision, and
// fails with tool.Conflict, caused by [definition.ErrChanged], for one at
// another. Zero accepts any revision.
func (r *Registry) At(revision int64) *Registry {
	at := *r
	at.revision = revision
	return &at
}

var errNoDiscoverer = refusal.New(tool.Conflict, "",
	"nothing here can talk to MCP servers: start the API with a Discoverer")

// check fills in the defaults of a server, and fails with tool.Invalid for what
// no server may have, and with tool.Conflict without a [Discoverer].
func (r *Registry) check(s *definition.ServerSpec) error {
	if err := s.Check(); err != nil {
		return err
	}
	if r.opts.Discoverer == nil {
		return errNoDiscoverer
	}
	return refusal.Within("", r.opts.Discoverer.CheckServer(&s.Connection))
}
