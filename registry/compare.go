package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// Compare returns the differences of two contents of a tool, each named by a version
// number or [release.DraftSide]. from defaults to the last release, and to
// defaults to the draft. It fails with tool.NotFound, whose Path is "from" or
// "to", for a version that does not exist.
func (r *Registry) Compare(ctx context.Context, p tool.Principal, ref tool.Ref, from, to string) (release.Diff, error) {
	t, err := r.Get(ctx, p, ref)
	if err != nil {
		return release.Diff{}, err
	}
	versions, err := r.store.ListVersions(ctx, p.Tenant, t.ID)
	if err != nil {
		return release.Diff{}, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	before, err := release.SideOf(&t, versions, from, "from")
	if err != nil {
		return release.Diff{}, err
	}
	if to == "" {
		to = release.DraftSide
	}
	after, err := release.SideOf(&t, versions, to, "to")
	if err != nil {
		return release.Diff{}, err
	}
	d, err := release.Compare(t.Slug, before, after)
	if err != nil {
		return release.Diff{}, err
	}
	if to != release.DraftSide { // Judge an existing version against the compared one only.
		versions = slices.DeleteFunc(slices.Clone(versions), func(v tool.Version) bool { return v.Number != before.Name })
	}
	return d, d.Judge(after, release.OfTool(versions))
}

// CompareSpec returns what [Registry.Apply] would change about a tool: its
// content, compared as [Registry.Compare] does, and its policy, which takes
// effect without a version. It fails as Apply would, except for a refused version
// number, which Diff.Refusal reports.
func (r *Registry) CompareSpec(
	ctx context.Context, p tool.Principal, s definition.ToolSpec, from string,
) (release.Diff, error) {
	if err := r.unpermitted(p); err != nil {
		return release.Diff{}, err
	}
	head, versions, err := r.findOwn(ctx, p.Tenant, s.Slug)
	if err != nil {
		return release.Diff{}, err
	}
	var after tool.Tool
	var before release.Side
	if head == nil {
		if from != "" {
			return release.Diff{}, refusal.New(tool.NotFound, "from",
				"tool %.80q does not exist yet: there is nothing to compare with",
				s.Slug)
		}
		after, _, err = r.newTool(p.Tenant, s)
	} else {
		if len(versions) == 0 && from == "" {
			from = release.DraftSide
		}
		if before, err = release.SideOf(head, versions, from, "from"); err != nil {
			return release.Diff{}, err
		}
		after, _, err = r.edit(*head, s)
	}
	if err != nil {
		return release.Diff{}, err
	}
	if _, err := r.pin(ctx, &after); err != nil {
		return release.Diff{}, err
	}
	if s.Version == "" {
		after.Version = release.Propose(after.Version, &after.Definition, versions)
	}
	to := release.Side{Name: release.DefinitionSide, Number: after.Version, Content: &after.Definition}
	d, err := release.Compare(after.Slug, before, to)
	if err != nil {
		return release.Diff{}, err
	}
	if head != nil {
		if err := d.AddPolicy(head.Policy, after.Policy); err != nil {
			return release.Diff{}, err
		}
	}
	return d, d.Judge(to, release.OfTool(versions))
}
