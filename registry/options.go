package registry

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

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
	Artifacts artifact.Rules
	// Advice knows what definitions may name.
	Advice Advice
	// Discoverer talks to MCP servers. Without one, none can be attached.
	Discoverer mcpserver.Discoverer
	// Clock returns the current time; [time.Now] when nil.
	Clock func() time.Time
}

// Customs knows the executors that the workers have by name, for custom tools.
// Package executors/custom implements it.
type Customs interface {
	// Check reports what keeps a custom tool of a configuration from running, as
	// a [*tool.Error] with a Path within it: Conflict where no worker has its
	// executor.
	Check(config json.RawMessage) error
	// InputSchema returns the arguments that the executor of a configuration
	// declares; nil for none.
	InputSchema(config json.RawMessage) json.RawMessage
}
