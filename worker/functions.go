package worker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// start prepares the host's functions, before the first worker takes calls:
// they are opened, and those that are tools are published. What fails here is
// retried by the next worker that starts.
func (p *Plugin) start(ctx context.Context) error {
	p.starting.Lock()
	defer p.starting.Unlock()
	if p.started {
		return nil
	}
	if !p.opened {
		if err := p.cfg.Functions.Open(ctx); err != nil {
			return fmt.Errorf("worker: %w", err)
		}
		p.opened = true
	}
	if err := p.publish(ctx); err != nil {
		return fmt.Errorf("worker: publishing functions: %w", err)
	}
	p.started = true
	return nil
}

// publish publishes the tools that the host's code defines.
func (p *Plugin) publish(ctx context.Context) error {
	tools := p.codeTools()
	if len(tools) == 0 {
		return nil
	}
	reg := registry.New(p.store, registry.Options{
		Types:      p.types,
		Middleware: func(name string) bool { return p.cfg.NamedMiddleware[name] != nil },
	})
	for _, name := range p.cfg.PublishTo {
		tenant, err := p.tenant(ctx, name)
		if err != nil {
			return fmt.Errorf("Config.PublishTo: %w", err)
		}
		changes, err := reg.SyncCode(ctx, tenant, specsFor(tenant, tools))
		if err != nil {
			return err
		}
		for _, c := range changes {
			p.logPublished(ctx, tenant, c)
		}
	}
	return nil
}

// tenant returns the id of a tenant that is named by its slug or id.
func (p *Plugin) tenant(ctx context.Context, name string) (tool.TenantID, error) {
	if tool.ValidID(name) {
		return tool.TenantID(name), nil
	}
	return p.store.TenantOfSlug(ctx, name)
}

func (p *Plugin) logPublished(ctx context.Context, tenant tool.TenantID, c definition.Change) {
	attrs := []slog.Attr{
		slog.String("tenant_id", string(tenant)), slog.String("tool", c.Slug), slog.String("version", c.Version),
	}
	for _, w := range c.Warnings {
		p.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "publishing a function has a warning",
			append(slices.Clone(attrs), slog.String("reason", w))...)
	}
	if c.Published {
		p.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "function published as a tool", attrs...)
	}
}

// codeTools returns the functions that are tools by themselves.
func (p *Plugin) codeTools() []function.Tool {
	var tools []function.Tool
	for _, name := range p.cfg.Functions.Names() {
		if t, ok := p.cfg.Functions.Tool(name); ok && t.Version != "" {
			tools = append(tools, t)
		}
	}
	return tools
}

// specsFor returns the tools that are for a tenant.
func specsFor(tenant tool.TenantID, tools []function.Tool) []registry.CodeSpec {
	var specs []registry.CodeSpec
	for _, t := range tools {
		if len(t.Tenants) == 0 || slices.Contains(t.Tenants, tenant) {
			specs = append(specs, registry.CodeSpec{
				Slug: t.Definition.Name, Version: t.Version, Definition: t.Definition, Policy: t.Policy,
			})
		}
	}
	return specs
}

// closeFunctions closes what start opened.
func (p *Plugin) closeFunctions() error {
	p.starting.Lock()
	defer p.starting.Unlock()
	if !p.opened {
		return nil
	}
	p.opened, p.started = false, false
	return p.cfg.Functions.Close()
}
