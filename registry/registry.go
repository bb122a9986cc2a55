package registry

import (
	"time"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/schema"
)

// Permissions that a principal must hold to write.
const (
	ToolsWrite  = refusal.ToolsWrite
	AgentsWrite = "agents.write"
	// DeclareReads is required, beside [ToolsWrite], to save, version and publish
	// a tool whose configuration declares that its POST only reads.
	DeclareReads = access.ToolsDeclareReads
)

// Registry creates, edits, versions and publishes tools and agents. It is safe
// for concurrent use.
//
// Every method fails with a [*tool.Error]: Denied when the principal lacks
// [ToolsWrite], [AgentsWrite] or [DeclareReads], or for a global tool; NotFound
// for rows of other tenants, and rows that do not exist; Invalid, with Path, for a
// malformed definition; and Conflict for changes that the status forbids, and for
// concurrent changes.
//
// Warnings, returned with a success, list what is valid but discouraged.
type Registry struct {
	store     Store
	opts      Options
	servers   *mcpserver.Registry
	artifacts *artifact.Registry
	revision  int64  // See [Registry.At].
	dry       bool   // Nothing is written, and references may name what the same batch creates.
	platform  bool   // See [Registry.ForPlatform].
	revive    string // See [Registry.Reviving].
}

// RenamedError is the cause of an error about a former name of a tool: the tool was
// renamed and still keeps that name, see [Registry.Rename].
type RenamedError struct {
	Slug string // The current slug.
}

// Error implements error.
func (e *RenamedError) Error() string { return "it was renamed to " + e.Slug }

// At returns a registry that changes only a tool or an agent at the given revision,
// and fails with Conflict, caused by [definition.ErrChanged], for one at another.
// Zero accepts any revision.
func (r *Registry) At(revision int64) *Registry {
	at := *r
	at.revision = revision
	return &at
}

// New returns a registry that writes to store.
func New(store Store, opts Options) *Registry {
	if opts.Schemas == nil {
		opts.Schemas = schema.New(0)
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	r := &Registry{store: store, opts: opts, artifacts: artifact.New(store, opts.Artifacts)}
	r.servers = mcpserver.New(store, serverTools{r}, mcpserver.Options{Discoverer: opts.Discoverer, Clock: opts.Clock})
	return r
}

// Types returns the implementation types that tools may have.
func (r *Registry) Types() executors.Types { return r.opts.Types }

// Servers returns the registry of MCP servers.
func (r *Registry) Servers() *mcpserver.Registry { return r.servers }

// Artifacts returns the registry of artifacts.
func (r *Registry) Artifacts() *artifact.Registry { return r.artifacts }
