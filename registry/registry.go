package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Permissions that a principal must hold to write.
const (
	ToolsWrite  = "tools.write"
	AgentsWrite = "agents.write"
	// DeclareReads is required, beside [ToolsWrite], to save, version and publish
	// a tool whose configuration declares that its POST only reads.
	DeclareReads = "tools.declare_reads"
)

// FirstVersion is the number of a head that was given none.
const FirstVersion = "1.0.0"

// Options of a [Registry].
type Options struct {
	// Resolver binds the tools of an agent when it is published. Without one,
	// agents with tools cannot be published.
	Resolver *resolver.Resolver
	// Schemas compiles schemas; a cache of its own when nil.
	Schemas *schema.Cache
	// Runnable reports whether some executor runs an implementation type. Tools
	// of other types cannot be published. All known types pass when nil.
	Runnable func(tool.Implementation) bool
	// Checks judge the configuration of tools, by implementation type. A check
	// fails with tool.Invalid and a Path within the configuration.
	Checks map[tool.Implementation]func(json.RawMessage) error
	// ArgumentChecks judge, as Checks do, configurations that speak of the tool's
	// arguments: they are given the input schema too.
	ArgumentChecks map[tool.Implementation]func(config, inputSchema json.RawMessage) error
	// Compilers check that the program in a configuration compiles, before it
	// is published, by implementation type. They fail as a check does, or with
	// another kind where the check could not be made. Without one, a program
	// that does not compile fails when the tool is called.
	Compilers map[tool.Implementation]func(ctx context.Context, tenant tool.TenantID, config json.RawMessage) error
	// Needs returns the least egress class that a configuration's calls need,
	// and the method they send where there is one. A tool of a lesser class
	// cannot be published: every call would drift from it.
	Needs map[tool.Implementation]func(json.RawMessage) (class tool.Egress, method string)
	// DeclaresReads reports whether a configuration declares that what it sends
	// only reads, by implementation type. Defaults to the member reads of http
	// tools.
	DeclaresReads map[tool.Implementation]func(json.RawMessage) bool
	// Middleware reports whether the workers have middleware of a name, for
	// tools to have around them. Tools that name others cannot be published.
	// All names pass when nil: calls are refused then where they run.
	Middleware func(name string) bool
	// ModelProviders reports whether the workers have a model provider of a name,
	// for prompts to ask. Prompts to others cannot be published. All names pass
	// when nil: calls are refused then where they run.
	ModelProviders func(name string) bool
	// Functions lists the functions that the workers have, for function tools to
	// name; not nil and empty where they have none. Tools that name others cannot
	// be published. All names pass when nil, as above.
	Functions []string
	// Customs knows the executors that custom tools may name. Tools that name
	// others cannot be published. All names pass when nil, as above.
	Customs Customs
	// Pipelines reports whether a tenant has a retrieval pipeline, by its id or
	// slug; it fails with tool.NotFound where it has not. Tools that name others
	// cannot be made. All names pass when nil: calls are refused then where they
	// run.
	Pipelines func(ctx context.Context, tenant tool.TenantID, slugOrID string) error
	// Builtins fills in what a tenant's tool that runs a built-in under a
	// configuration of its own leaves to it, and refuses what could not run,
	// with tool.Invalid and a Path within the definition. It leaves other tools
	// as they are. Nil leaves all so.
	Builtins func(*tool.Definition, *tool.Policy) (warnings []string, err error)
	// Parts returns the dependencies of a tool's calls: the run of an agent, or
	// calls of other tools. It fills in the input schema where such a tool has
	// none, and refuses an invalid configuration, with tool.Invalid and a Path
	// within it. When nil, no tool has dependencies.
	Parts func(*tool.Definition) (agent.Parts, error)
	// Artifacts judge programs that are uploaded, and the tools that run them.
	Artifacts ArtifactRules
	// Advice knows what definitions may name.
	Advice Advice
	// Discoverer talks to MCP servers. Without one, none can be attached.
	Discoverer Discoverer
	// Clock returns the current time; [time.Now] when nil.
	Clock func() time.Time
}

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
	store    Store
	opts     Options
	revision int64 // See [Registry.At].
	dry      bool  // Nothing is written: what is not there yet may come with the same batch.
}

// ErrChanged is the cause of the Conflict for a tool or an agent that is at
// another revision than the caller gave.
var ErrChanged = errors.New("it is at another revision")

// RenamedError is the cause of a failure that a tool's former name leads to: the
// tool was renamed and keeps that name for now, see [Registry.Rename].
type RenamedError struct {
	Slug string // What the tool is called now.
}

// Error implements error.
func (e *RenamedError) Error() string { return "it was renamed to " + e.Slug }

// At returns a registry that changes only what is at the given revision, and
// fails with Conflict, caused by [ErrChanged], where another writer has changed
// it. Zero accepts any revision.
func (r *Registry) At(revision int64) *Registry {
	at := *r
	at.revision = revision
	return &at
}

// refuseChanged refuses a tool or an agent at another revision than is wanted,
// if one is.
func refuseChanged(kind, slug string, revision, wanted int64) error {
	if wanted == 0 || wanted == revision {
		return nil
	}
	e := refuse(tool.Conflict, "/revision", "%s %q was changed by someone else: it is at revision %d", kind, slug,
		revision)
	e.Err = ErrChanged
	return e
}

// New returns a registry that writes to store.
func New(store Store, opts Options) *Registry {
	if opts.DeclaresReads == nil {
		opts.DeclaresReads = readsMember
	}
	if opts.Schemas == nil {
		opts.Schemas = schema.New(0)
	}
	if opts.Runnable == nil {
		opts.Runnable = tool.Implementation.Valid
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Registry{store: store, opts: opts}
}

// mayWrite refuses principals without a tenant or the permission.
func mayWrite(p tool.Principal, permission string) error {
	if p.Tenant == "" {
		return refuse(tool.Denied, "", "the caller belongs to no tenant")
	}
	if !p.May(permission) {
		e := refuse(tool.Denied, "", "the caller lacks the permission %q", permission)
		e.Err = &tool.PermissionError{Permissions: []string{permission}}
		return e
	}
	return nil
}

// refuse returns a failure; path names the field to blame, if one is.
func refuse(kind tool.Kind, path, format string, args ...any) *tool.Error {
	return &tool.Error{Kind: kind, Op: "registry", Path: path, Msg: fmt.Sprintf(format, args...)}
}

// within puts path before the Path of a failure, so that it points into the
// whole definition.
func within(path string, err error) error {
	e := *tool.AsError(err)
	e.Path = path + e.Path
	return &e
}
