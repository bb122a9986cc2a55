package registry

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Override stores what the tenant of p decides about a tool that it sees: its own or a
// global one. It replaces an earlier decision. Its switch and approval take effect at the next call,
// also of runs that are under way; its description, defaults and limits in runs that begin from then on.
// Only the fields Enabled, RequiresApproval, Reason and those of the adaptation of o are read.
//
// It fails with tool.Invalid for a decision that changes nothing, that widens a limit, or whose
// defaults the tool's input schema does not accept; with tool.NotFound for a tool that the tenant does
// not see; and with tool.Conflict, caused by [definition.ErrChanged], where the override does not have
// the revision of [Registry.At] any more.
func (r *Registry) Override(
	ctx context.Context, p tool.Principal, ref tool.Ref, o tool.Override,
) (tool.Override, error) {
	if err := refusal.Unpermitted(p, ToolsWrite); err != nil {
		return tool.Override{}, err
	}
	return r.override(ctx, p, ref, o)
}

// OverrideForAll is [Registry.Override] for the platform, which decides about a global tool
// for every tenant. The registry must use a store that is opened for the platform.
func (r *Registry) OverrideForAll(ctx context.Context, ref tool.Ref, o tool.Override) (tool.Override, error) {
	return r.override(ctx, tool.Principal{Subject: platformSubject}, ref, o)
}

func (r *Registry) override(
	ctx context.Context, p tool.Principal, ref tool.Ref, o tool.Override,
) (tool.Override, error) {
	if o.Enabled == nil && !o.RequiresApproval && !o.Adapts() {
		return tool.Override{}, refusal.New(tool.Invalid, "",
			"the override decides nothing: set enabled, a description, defaults or limits, or requires_approval to true, or "+
				"remove it")
	}
	if n := utf8.RuneCountInString(o.Reason); n > tool.MaxOverrideReason {
		return tool.Override{}, refusal.New(tool.Invalid, "/reason", "the reason has %d characters: at most %d are kept", n,
			tool.MaxOverrideReason)
	}
	t, err := r.overridable(ctx, p, ref)
	if err != nil {
		return tool.Override{}, err
	}
	if err := r.checkAdaptation(ctx, p, &t, &o.Adaptation); err != nil {
		return tool.Override{}, err
	}
	o.Tenant, o.ToolID, o.Slug, o.ChangedBy, o.Revision = p.Tenant, t.ID, t.Slug, p.Subject, r.revision
	if o, err = r.store.SetOverride(ctx, o); err != nil {
		return tool.Override{}, fmt.Errorf("overriding tool %q: %w", t.Slug, err)
	}
	return o, nil
}

// RemoveOverride removes what the tenant of p decided about a tool. It fails with
// tool.NotFound where that is nothing.
func (r *Registry) RemoveOverride(ctx context.Context, p tool.Principal, ref tool.Ref) error {
	if err := refusal.Unpermitted(p, ToolsWrite); err != nil {
		return err
	}
	return r.removeOverride(ctx, p, ref)
}

// RemoveOverrideForAll is [Registry.RemoveOverride] for the platform.
func (r *Registry) RemoveOverrideForAll(ctx context.Context, ref tool.Ref) error {
	return r.removeOverride(ctx, tool.Principal{Subject: platformSubject}, ref)
}

func (r *Registry) removeOverride(ctx context.Context, p tool.Principal, ref tool.Ref) error {
	t, err := r.overridable(ctx, p, ref)
	if err != nil {
		return err
	}
	if err := r.store.DeleteOverride(ctx, p.Tenant, t.ID, r.revision); err != nil {
		return fmt.Errorf("removing the override of tool %q: %w", t.Slug, err)
	}
	return nil
}

// OverridesOf returns a tool that the tenant of p sees, with what the tenant and the
// platform decided about it.
func (r *Registry) OverridesOf(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, tool.Overrides, error) {
	const most = 4 // The tenant's and the platform's, of its own tool and of a global one with its slug.
	var out tool.Overrides
	t, err := r.overridable(ctx, p, ref)
	if err != nil {
		return t, out, err
	}
	all, err := r.Overrides(ctx, p, OverridePlace{Slug: t.Slug}, most)
	for i := range all {
		switch {
		case all[i].ToolID != t.ID:
		case all[i].Tenant == "":
			out.Platform = &all[i]
		default:
			out.Tenant = &all[i]
		}
	}
	return t, out, err
}

// OverrideVersions returns what the tenant of p, or the platform, decided about a tool that the tenant sees,
// newest first: revisions below before, from the newest on where that is zero.
func (r *Registry) OverrideVersions(
	ctx context.Context, p tool.Principal, ref tool.Ref, platform bool, before int64, limit int,
) ([]tool.OverrideVersion, error) {
	t, err := r.overridable(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	versions, err := r.store.ListOverrideVersions(ctx, p.Tenant, t.ID, platform, before, limit)
	if err != nil {
		return nil, fmt.Errorf("listing the overrides of tool %q: %w", t.Slug, err)
	}
	return versions, nil
}

// Overrides returns those of the tenant and of the platform about tools that the tenant
// sees, in the order of [OverridePlace].
func (r *Registry) Overrides(
	ctx context.Context, p tool.Principal, after OverridePlace, limit int,
) ([]tool.Override, error) {
	overrides, err := r.store.ListOverrides(ctx, p.Tenant, after, limit)
	if err != nil {
		return nil, fmt.Errorf("listing overrides: %w", err)
	}
	return overrides, nil
}

// overridable returns a tool that the tenant sees.
func (r *Registry) overridable(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	if ref.Constraint != "" {
		return tool.Tool{}, refusal.New(tool.Invalid, "", "an override is about a tool, not about version %s", ref.Constraint)
	}
	return r.Get(ctx, p, ref)
}
