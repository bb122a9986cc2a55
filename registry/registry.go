package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

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
	// Compilers tell whether the program that a configuration holds compiles,
	// before it is published, by implementation type; they fail as a check does,
	// or with another kind where nobody can tell now. Without one, callers are
	// told.
	Compilers map[tool.Implementation]func(ctx context.Context, tenant tool.TenantID, config json.RawMessage) error
	// Needs tells the least egress class that a configuration's calls need, and
	// the method they send where there is one. Tools of a lesser class cannot be
	// published: they would drift from it at every call.
	Needs map[tool.Implementation]func(json.RawMessage) (class tool.Egress, method string)
	// DeclaresReads tells whether a configuration declares that what it sends
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
	// Parts tells what the calls of a tool are made of: the run of an agent, or
	// calls of other tools. It fills in the input schema that such a tool goes
	// without, and refuses a configuration that cannot be, with tool.Invalid and
	// a Path within it. The calls of all tools are their own when nil.
	Parts func(*tool.Definition) (agent.Parts, error)
	// Artifacts judge programs that are uploaded, and the tools that run them.
	Artifacts ArtifactRules
	// Advice knows what definitions may name.
	Advice Advice
	// Discoverer talks to MCP servers. Without one, none can be attached.
	Discoverer Discoverer
	// Clock tells the time; [time.Now] when nil.
	Clock func() time.Time
}

// Registry creates, edits, versions and publishes tools and agents. It is safe
// for concurrent use.
//
// Every method fails with a [*tool.Error]: Denied when the principal lacks
// [ToolsWrite], [AgentsWrite] or [DeclareReads], or for a global tool; NotFound for what the
// tenant has not; Invalid, with Path, for a malformed definition; and Conflict
// for what the state forbids or somebody else has changed meanwhile.
//
// Warnings are returned beside a success: they tell what is allowed and better
// done otherwise.
type Registry struct {
	store    Store
	opts     Options
	revision int64 // See [Registry.At].
	dry      bool  // Nothing is written: what is not there yet may come with the same batch.
}

// ErrChanged is the cause of the Conflict that tells of a tool or an agent
// which is at another revision than the caller knows.
var ErrChanged = errors.New("it is at another revision")

// RenamedError is the cause of a failure that a tool's former name leads to: the
// tool was renamed and keeps that name for now, see [Registry.Rename].
type RenamedError struct {
	Slug string // What the tool is called now.
}

// Error implements error.
func (e *RenamedError) Error() string { return "it was renamed to " + e.Slug }

// At returns a registry that changes only what is at the given revision, and
// fails with Conflict, caused by [ErrChanged], where somebody else was faster.
// Zero stands for any.
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

func newID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("making an id: %w", err)
	}
	return id.String(), nil
}
