package registry

import (
	"time"

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
	DeclareReads = "tools.declare_reads"
)

// Registry creates, edits, versions and publishes tools and agents. It is safe
// for concurrent use.
//
// Every method fails with a [*tool.Error]: Denied when the principal lacks
// [ToolsWrite], [AgentsWrite] or [DeclareReads], or for a global tool; NotFound
// for what the tenant does not have; Invalid, with Path, for a malformed
// definition; and Conflict for what the state forbids or another writer has
// changed meanwhile.
//
// Warnings are returned beside a success: they name what is allowed but not
// advisable.
type Registry struct {
	store     Store
	opts      Options
	servers   *mcpserver.Registry
	artifacts *artifact.Registry
	revision  int64 // See [Registry.At].
	dry       bool  // Nothing is written, and references may name what the same batch creates.
}

// RenamedError is the cause of a failure that a tool's former name leads to: the
// tool was renamed and keeps that name for now, see [Registry.Rename].
type RenamedError struct {
	Slug string // What the tool is called now.
}

// Error implements error.
func (e *RenamedError) Error() string { return "it was renamed to " + e.Slug }

// At returns a registry that changes only what is at the given revision, and
// fails with Conflict, caused by [definition.ErrChanged], where another writer has changed
// it. Zero accepts any revision.
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
