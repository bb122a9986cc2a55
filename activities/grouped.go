package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// grouped resolves the tools that an agent has by its groups, without those whose names its other tools have. It
// also returns what was left out because there are too many.
func (a *Activities) grouped(
	ctx context.Context, p tool.Principal, d *agent.Definition, others []*resolver.Resolved, mode tool.Mode,
) ([]*resolver.Resolved, []agent.Omission, error) {
	found, more, err := a.Resolver.Group(ctx, p, d.ToolGroups, mode)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the tools of groups: %w", err)
	}
	found = slices.DeleteFunc(found, func(r *resolver.Resolved) bool {
		return slices.ContainsFunc(d.Tools, func(ref tool.Ref) bool { return ref.Slug == r.Name() || ref.ID == r.Tool.ID }) ||
			slices.ContainsFunc(others, func(o *resolver.Resolved) bool { return o.Name() == r.Name() })
	})
	if !more {
		return found, nil, nil
	}
	return found, []agent.Omission{{
		Tool: strings.Join(d.ToolGroups, ", "), Kind: tool.Conflict,
		Reason: fmt.Sprintf("its groups have more than %d tools: the first were taken, in the order of their names",
			agent.MaxGrouped),
	}}, nil
}
