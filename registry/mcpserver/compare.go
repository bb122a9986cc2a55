package mcpserver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// OfferedSide is the name, in a [release.Diff], of the content that a draft would
// have after approving the server's current definition.
const OfferedSide = "offered"

// Drift is the difference between a tool's current definition and the approved one.
type Drift struct {
	Tool     Tool
	Diff     release.Diff // From the last release, or the draft, to the draft that an approval would make.
	Warnings []string     // What an approval would keep or raise, and why.
}

// Compare returns the difference between the current definition of a tool and the
// approved one.
func (r *Registry) Compare(ctx context.Context, p tool.Principal, slugOrID, name string) (Drift, error) {
	s, err := r.Get(ctx, p, slugOrID)
	if err != nil {
		return Drift{}, err
	}
	t, err := r.store.FindRemoteTool(ctx, p.Tenant, s.ID, name)
	if err != nil {
		return Drift{}, fmt.Errorf("finding tool %q of server %q: %w", name, s.Slug, err)
	}
	drift := Drift{Tool: t}
	if warning := removalWarning(t.Seen); warning != "" {
		drift.Warnings = []string{warning}
	}
	if !t.Imported() || t.Seen == nil {
		return drift, nil
	}
	head, versions, err := r.toolWithVersions(ctx, p.Tenant, t.ToolID)
	if err != nil {
		return Drift{}, err
	}
	spec, warnings, err := adopt(&s, &head, &t)
	if err != nil {
		return Drift{}, err
	}
	before, err := release.SideOf(&head, versions, "", "")
	if err != nil {
		return Drift{}, err
	}
	if before.Content == nil {
		before = release.Draft(&head)
	}
	number := release.Propose(head.Version, &spec.Definition, versions)
	to := release.Side{Name: OfferedSide, Number: number, Content: &spec.Definition}
	if drift.Diff, err = release.Compare(head.Slug, before, to); err != nil {
		return Drift{}, err
	}
	if err := drift.Diff.AddPolicy(head.Policy, spec.Policy); err != nil {
		return Drift{}, err
	}
	drift.Warnings = append(drift.Warnings, warnings...)
	return drift, drift.Diff.Judge(to, release.OfTool(versions))
}

// toolWithVersions returns a tool, by its id, and its versions.
func (r *Registry) toolWithVersions(
	ctx context.Context, tenant tool.TenantID, id string,
) (tool.Tool, []tool.Version, error) {
	t, err := r.store.FindTool(ctx, tenant, tool.Ref{ID: id})
	if err != nil {
		return tool.Tool{}, nil, fmt.Errorf("finding tool %q: %w", id, err)
	}
	versions, err := r.store.ListVersions(ctx, tenant, id)
	if err != nil {
		return tool.Tool{}, nil, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	return t, versions, nil
}
