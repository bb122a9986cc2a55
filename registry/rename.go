package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// KeepFormerName is how long [Registry.Rename] keeps the former slug of a tool
// by default.
const KeepFormerName = 90 * 24 * time.Hour

// Renaming is another slug for a tool (checklist S0-69).
type Renaming struct {
	Slug string // The new one.
	// KeepUntil is the last day, "2006-01-02" in UTC, on which the former slug
	// still leads to the tool. Empty for [KeepFormerName] from now.
	KeepUntil string
	// Drop ends the former slug at once. With the slug that the tool has, it ends
	// the former names that it kept.
	Drop bool
}

// Rename gives a tool of the tenant another slug. Id, versions, policy and the
// current runs do not change. Until its last day the former slug
// still resolves to the tool, with a warning, and no other tool can take it. Calls
// and agents may use either name; models see the new one from the next run on.
// The warnings name the agents whose drafts still use the former slug.
//
// It fails with tool.Invalid for a malformed slug or day, and with tool.Conflict
// where the new slug belongs to another tool, as its slug or as a former one.
func (r *Registry) Rename(
	ctx context.Context, p tool.Principal, ref tool.Ref, n Renaming,
) (tool.Tool, []string, error) {
	if err := r.unpermitted(p); err != nil {
		return tool.Tool{}, nil, err
	}
	t, err := r.own(ctx, p.Tenant, ref)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	former := t.Slug
	lastDay, err := r.lastDay(n)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	switch {
	case n.Slug == former && !n.Drop:
		return t, nil, nil
	case !tool.ValidSlug(n.Slug):
		return tool.Tool{}, nil, refusal.New(tool.Invalid, "/slug",
			"slug %.80q: expected a letter, then letters, digits, _ or -, at most 64", n.Slug)
	}
	warnings := append(definition.SlugWarnings(n.Slug), r.shadowWarning(ctx, p.Tenant, n.Slug)...)
	if t, err = r.store.RenameTool(ctx, t, n.Slug, lastDay); err != nil {
		return tool.Tool{}, nil, fmt.Errorf("renaming tool %q: %w", former, err)
	}
	if n.Slug == former {
		return t, nil, nil
	}
	users, err := r.draftsUsing(ctx, p.Tenant, former)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	for _, slug := range users {
		warnings = append(warnings, fmt.Sprintf("agent %q names the tool %q: change that to %q", slug, former, n.Slug))
	}
	return t, warnings, nil
}

// lastDay returns the last day of the former name; empty for none.
func (r *Registry) lastDay(n Renaming) (string, error) {
	today := r.opts.Clock().UTC()
	switch {
	case n.Drop && n.KeepUntil != "":
		return "", refusal.New(tool.Invalid, "/keep_until", "the former name is either kept until a day or dropped")
	case n.Drop:
		return "", nil
	case n.KeepUntil == "":
		return today.Add(KeepFormerName).Format(time.DateOnly), nil
	}
	if _, err := time.Parse(time.DateOnly, n.KeepUntil); err != nil {
		return "", refusal.New(
			tool.Invalid, "/keep_until", "%.40q: expected the last day that the former name works, such as 2027-06-30",
			n.KeepUntil,
		)
	}
	if n.KeepUntil < today.Format(time.DateOnly) {
		return "", refusal.New(tool.Invalid, "/keep_until", "%s is over: expected today or a later day", n.KeepUntil)
	}
	return n.KeepUntil, nil
}

// draftsUsing returns the slugs of the agents whose drafts name a tool by a slug.
func (r *Registry) draftsUsing(ctx context.Context, tenant tool.TenantID, slug string) ([]string, error) {
	const page = 200
	var users []string
	for after := ""; ; {
		agents, err := r.store.ListAgents(ctx, tenant, after, page)
		if err != nil {
			return nil, fmt.Errorf("looking for agents that use tool %q: %w", slug, err)
		}
		for _, a := range agents {
			if slices.ContainsFunc(a.Tools, func(t tool.Ref) bool { return t.Slug == slug }) {
				users = append(users, a.Slug)
			}
		}
		if len(agents) < page {
			return users, nil
		}
		after = agents[len(agents)-1].Slug
	}
}

// findCode returns the tool of a definition in code, with its versions; nil for
// none. A tool under a former name of the definition, which runs the function of
// that name, is renamed first.
func (r *Registry) findCode(
	ctx context.Context, tenant tool.TenantID, want *definition.ToolSpec,
) (*tool.Tool, []tool.Version, error) {
	found, versions, err := r.findOwn(ctx, tenant, want.Slug)
	if err != nil || found != nil {
		return found, versions, err
	}
	for _, former := range slices.Sorted(maps.Keys(want.Interaction.FormerNames)) {
		found, versions, err = r.findOwn(ctx, tenant, former)
		if err != nil {
			return nil, nil, err
		}
		if found == nil || found.ImplementationType() != tool.Function || functionName(&found.Definition) != former {
			continue
		}
		renamed, err := r.store.RenameTool(ctx, *found, want.Slug, want.Interaction.FormerNames[former])
		if err != nil {
			return nil, nil, fmt.Errorf("renaming tool %q: %w", former, err)
		}
		return &renamed, versions, nil
	}
	return nil, nil, nil
}

// renamedInCode reports whether a tool's published function has one of the former
// names of the definition that code has now.
func renamedInCode(have *tool.Definition, want *definition.ToolSpec) bool {
	_, former := want.Interaction.FormerNames[functionName(have)]
	return former && have.ImplementationType() == want.ImplementationType()
}

// heldByName returns the warning for a definition in code whose slug or further
// names belong to another tool of the tenant; ok is false for other failures.
func heldByName(err error) (warning string, ok bool) {
	e := tool.AsError(err)
	_, renamed := errors.AsType[*RenamedError](err)
	switch {
	case renamed:
		return "it is left alone: " + e.Msg, true
	case e.Kind == tool.Conflict && e.Path == definition.NamesPath:
		return "it is not published: " + e.Msg, true
	default:
		return "", false
	}
}
