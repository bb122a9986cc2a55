package worker

import (
	"context"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/manage"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// toolManager serves manageTools. The registry checks definitions by the implementation types, of
// which the built-ins are a part: so it is set once those are made.
type toolManager struct{ *manage.Manager }

// registry returns the registry that calls of agents change tools with: by the same rules as the
// API, as far as a worker knows them.
func (p *Plugin) registry(schemas *schema.Cache, resolve *resolver.Resolver) *registry.Registry {
	judge := p.Artifacts()
	return registry.New(p.store, registry.Options{
		Resolver: resolve, Schemas: schemas, Types: p.types, Discoverer: p.Discoverer(),
		Middleware: func(name string) bool { return p.cfg.NamedMiddleware[name] != nil },
		Builtins:   p.builtins.Complete,
		Pipelines: func(ctx context.Context, tenant tool.TenantID, slugOrID string) error {
			_, err := p.store.FindPipeline(ctx, tenant, slugOrID)
			return err
		},
		Artifacts: artifact.Rules{
			CheckProgram: judge.CheckProgram, Compile: judge.CompileProgram, CompileFor: judge.CompileUploaded,
			CheckConfig: judge.CheckUploaded,
		},
	})
}
