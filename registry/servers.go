package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// serverTools implements [mcpserver.Tools].
type serverTools struct{ registry *Registry }

// Draft implements [mcpserver.Tools].
func (s serverTools) Draft(tenant tool.TenantID, spec definition.ToolSpec) (tool.Tool, error) {
	t, _, err := s.registry.newTool(tenant, spec)
	return t, err
}

// Apply implements [mcpserver.Tools].
func (s serverTools) Apply(ctx context.Context, p tool.Principal, spec definition.ToolSpec) (definition.Change, error) {
	return s.registry.applyTool(ctx, p, spec, true)
}

// Publish implements [mcpserver.Tools].
func (s serverTools) Publish(ctx context.Context, p tool.Principal, toolID string) (number string, err error) {
	_, v, err := s.registry.Publish(ctx, p, tool.Ref{ID: toolID})
	return v.Number, err
}

// SlugTaken implements [mcpserver.Tools].
func (s serverTools) SlugTaken(ctx context.Context, tenant tool.TenantID, slug string) (string, error) {
	t, err := s.registry.store.FindTool(ctx, tenant, tool.Ref{Slug: slug})
	switch {
	case err == nil && t.Tenant == tenant:
		return "which another tool has", nil
	case err != nil && tool.KindOf(err) != tool.NotFound:
		return "", fmt.Errorf("finding tool %q: %w", slug, err)
	}
	names, err := s.registry.store.FurtherNames(ctx, tenant, []string{slug})
	if err != nil {
		return "", fmt.Errorf("looking for former names %q: %w", slug, err)
	}
	for _, n := range names {
		if n.Former() {
			return fmt.Sprintf("which is the former name of tool %q until %s", n.Slug, n.LastDay), nil
		}
	}
	return "", nil
}
