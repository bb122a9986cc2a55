package registry

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// Apply creates or updates the tool, agent, server or artifact of a definition, and
// publishes it if the definition asks for it. Nothing is stored if it fails. A
// definition without a version gets the least number that its change demands.
// Applying the same definition again changes nothing.
func (r *Registry) Apply(ctx context.Context, p tool.Principal, d definition.Definition) (definition.Change, error) {
	return r.apply(ctx, p, d, true)
}

// Check returns the change that [Registry.Apply] would make, and fails as it would,
// with one exception: the tools of an agent, and the server or the pipeline of a
// tool, may be missing, since the same batch may create them.
// [Registry.CheckTools] checks these.
func (r *Registry) Check(ctx context.Context, p tool.Principal, d definition.Definition) (definition.Change, error) {
	dry := *r
	dry.dry = true
	return dry.apply(ctx, p, d, false)
}

func (r *Registry) apply(
	ctx context.Context, p tool.Principal, d definition.Definition, write bool,
) (definition.Change, error) {
	switch {
	case d.Pipeline != nil, d.Profile != nil, d.Toolset != nil:
		return definition.Change{}, refusal.New(
			tool.Conflict, "", "a %s is no part of the registry: apply it with toolcrib apply, or POST /v1/apply", d.Kind(),
		)
	case d.Artifact != nil && d.Server == nil && d.Tool == nil && d.Agent == nil:
		return r.artifacts.Apply(ctx, p, *d.Artifact, write)
	case d.Server != nil && d.Tool == nil && d.Agent == nil:
		return r.servers.Apply(ctx, p, *d.Server, write)
	case d.Tool != nil && d.Agent == nil:
		if err := r.unpermitted(p); err != nil {
			return definition.Change{}, err
		}
		return r.applyTool(ctx, p, *d.Tool, write)
	case d.Agent != nil && d.Tool == nil:
		if err := refusal.Unpermitted(p, AgentsWrite); err != nil {
			return definition.Change{}, err
		}
		return r.applyAgent(ctx, p, *d.Agent, write)
	default:
		return definition.Change{}, refusal.New(tool.Invalid, "",
			"expected a definition of one tool, one agent, one server or one artifact")
	}
}

// applyTool applies the definition of a tool of p's tenant, or of a global one where
// p has no tenant.
func (r *Registry) applyTool(
	ctx context.Context, p tool.Principal, s definition.ToolSpec, write bool,
) (definition.Change, error) {
	tenant := p.Tenant
	before, versions, err := r.findOwn(ctx, tenant, s.Slug)
	if err != nil {
		return definition.Change{}, err
	}
	if before != nil && before.BuiltinKey != s.BuiltinKey && before.Global() {
		return definition.Change{}, refusal.New(tool.Conflict, "/slug",
			"tool %q comes with the platform, which keeps its definition: override it, or choose another slug", before.Slug)
	}
	var after tool.Tool
	var held tool.Definition
	var warnings []string
	if before == nil {
		if err := r.checkFormer(ctx, tenant, s.Slug); err != nil {
			return definition.Change{}, err
		}
		after, warnings, err = r.newTool(tenant, s)
	} else {
		held = before.Definition
		after, warnings, err = r.edit(r.revivedTool(*before, versions), s)
	}
	if err != nil {
		return definition.Change{}, err
	}
	undeclared := r.recordReads(p, held, &after)
	if undeclared != nil && (before == nil || s.AsksToPublish()) {
		return definition.Change{}, undeclared
	}
	unpinned, err := r.pin(ctx, &after)
	if err != nil {
		return definition.Change{}, err
	}
	warnings = append(warnings, unpinned...)
	if s.Version == "" {
		after.Version = release.Propose(after.Version, &after.Definition, versions)
	}
	c := definition.Change{
		Kind: "tool", Slug: after.Slug, ID: after.ID, Version: after.Version,
		Action: definition.Created, Warnings: warnings,
	}
	var v tool.Version
	if s.AsksToPublish() {
		was := publishedNumbers(versions)
		if after, v, err = r.cut(ctx, after, versions, p, true); err != nil {
			return definition.Change{}, err
		}
		if err := r.checkReach(ctx, &v); err != nil {
			return definition.Change{}, err
		}
		c.Published = !slices.Contains(was, v.Number)
		if v.Withheld > 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("version %s is a canary, withheld from %d %% of the runs, and stays "+
				"one: publish it by its number to give it to every run", v.Number, v.Withheld))
		}
	}
	switch {
	case before == nil:
		c.Warnings = append(c.Warnings, r.shadowWarning(ctx, tenant, s.Slug)...)
	case sameTool(*before, after) && !c.Published:
		c.Action = definition.Unchanged
		return c, nil
	default:
		c.Action = definition.Updated
	}
	if undeclared != nil { // An unchanged tool declares nothing new.
		return definition.Change{}, undeclared
	}
	if !write {
		return c, nil
	}
	return c, r.writeTool(ctx, before == nil, after, v)
}

// writeTool stores a head, and a version if v is one.
func (r *Registry) writeTool(ctx context.Context, create bool, t tool.Tool, v tool.Version) error {
	if create {
		draft := t
		if v.Number != "" { // It is a draft until the version is stored.
			draft.Status, draft.PublishedAt = tool.Draft, nil
		}
		stored, err := r.store.CreateTool(ctx, draft)
		if err != nil {
			return fmt.Errorf("creating tool %q: %w", t.Slug, err)
		}
		t.ID, t.Revision, v.ToolID = stored.ID, stored.Revision, stored.ID
	}
	switch {
	case v.Number != "":
		_, _, err := r.add(ctx, t, v)
		return err
	case create:
		return nil
	default:
		if _, err := r.store.UpdateTool(ctx, t); err != nil {
			return fmt.Errorf("updating tool %q: %w", t.Slug, err)
		}
		return nil
	}
}

// findOwn returns the tenant's own tool of a slug with its versions; nil for none.
func (r *Registry) findOwn(ctx context.Context, tenant tool.TenantID, slug string) (*tool.Tool, []tool.Version, error) {
	t, err := r.store.FindTool(ctx, tenant, tool.Ref{Slug: slug})
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound, err == nil && t.Tenant != tenant:
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("finding tool %q: %w", slug, err)
	}
	versions, err := r.store.ListVersions(ctx, tenant, t.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the versions of tool %q: %w", slug, err)
	}
	return &t, versions, nil
}

// shadowWarning returns the warning that a new tool shadows a global one.
func (r *Registry) shadowWarning(ctx context.Context, tenant tool.TenantID, slug string) []string {
	if tenant == "" {
		return nil
	}
	if global, err := r.store.FindTool(ctx, tenant, tool.Ref{Slug: slug}); err == nil && global.Global() {
		return []string{fmt.Sprintf("slug %q hides the platform's tool of that name in this tenant", slug)}
	}
	return nil
}

func publishedNumbers(versions []tool.Version) []string {
	var out []string
	for _, v := range versions {
		if v.Published {
			out = append(out, v.Number)
		}
	}
	return out
}

// sameTool reports whether a and b are equal, but for times.
func sameTool(a, b tool.Tool) bool {
	digestA, errA := tool.Snapshot{Definition: a.Definition}.Digest()
	digestB, errB := tool.Snapshot{Definition: b.Definition}.Digest()
	return errA == nil && errB == nil && digestA == digestB && samePolicy(a.Policy, b.Policy) &&
		a.Status == b.Status && a.Active == b.Active && a.Quarantine == b.Quarantine && a.System == b.System &&
		a.Version == b.Version &&
		a.BuiltinKey == b.BuiltinKey && a.ArtifactID == b.ArtifactID && a.ArtifactVersion == b.ArtifactVersion
}

func samePolicy(a, b tool.Policy) bool {
	same := slices.Equal(a.TenantSlugs, b.TenantSlugs)
	a.TenantSlugs, b.TenantSlugs = nil, nil
	return same && reflect.DeepEqual(a, b)
}

// applyAgent applies the definition of an agent.
func (r *Registry) applyAgent(
	ctx context.Context, p tool.Principal, s definition.AgentSpec, write bool,
) (definition.Change, error) {
	before, err := r.store.FindAgent(ctx, p.Tenant, s.Slug)
	create := tool.KindOf(err) == tool.NotFound
	if err != nil && !create {
		return definition.Change{}, fmt.Errorf("finding agent %q: %w", s.Slug, err)
	}
	var versions []agent.Version
	var after agent.Agent
	var warnings []string
	if create {
		after, warnings, err = r.newAgent(p.Tenant, s)
	} else {
		if versions, err = r.store.ListAgentVersions(ctx, p.Tenant, before.ID); err != nil {
			return definition.Change{}, fmt.Errorf("listing the versions of agent %q: %w", s.Slug, err)
		}
		after, warnings, err = r.editAgent(r.revivedAgent(before, versions), s)
	}
	if err != nil {
		return definition.Change{}, err
	}
	return r.settleAgent(ctx, p, s, agentChange{before, after, versions, create, warnings}, write)
}
