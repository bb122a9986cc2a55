package registry

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/executors"
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
	// Types are the implementation types that tools may have, with the checks of
	// each. Any type is known, and none is checked, when nil.
	Types executors.Types
	// Middleware reports whether the workers have middleware of a name, for
	// tools to have around them. Tools that name others cannot be published.
	// All names pass when nil: calls are refused then where they run.
	Middleware func(name string) bool
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
	// Artifacts judge programs that are uploaded, and the tools that run them.
	Artifacts artifact.Rules
	// Advice knows what definitions may name.
	Advice Advice
	// Discoverer talks to MCP servers. Without one, none can be attached.
	Discoverer mcpserver.Discoverer
	// Clock returns the current time; [time.Now] when nil.
	Clock func() time.Time
}
