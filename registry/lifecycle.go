package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// Version snapshots the head of a tool under number without publishing it, and
// gives the head that number. The number must be a semantic version greater
// than every other, and raised by at least what the change since the last
// release demands; the error names what demands it. The same number with the
// same content is no error, and with other content a Conflict.
func (r *Registry) Version(
	ctx context.Context, p tool.Principal, ref tool.Ref, number string,
) (tool.Tool, tool.Version, error) {
	return r.snapshot(ctx, p, ref, number, false)
}

// Publish makes a version of a tool available in production. A ref with an
// exact version publishes that snapshot; without one, the head is published
// under its number, snapshotted first if it has not been. A canary is given to
// every run.
func (r *Registry) Publish(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, tool.Version, error) {
	if ref.Constraint == "" {
		return r.snapshot(ctx, p, ref, "", true)
	}
	t, versions, err := r.ownVersions(ctx, p, ref)
	if err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	t, v, err := r.existing(ctx, p, t, versions, ref.Constraint)
	if err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	v.Withheld = 0
	return r.add(ctx, t, v)
}

// existing returns a version that a tool has as publishing it would leave it. It stores nothing.
func (r *Registry) existing(
	ctx context.Context, p tool.Principal, t tool.Tool, versions []tool.Version, number string,
) (tool.Tool, tool.Version, error) {
	i := slices.IndexFunc(versions, func(v tool.Version) bool { return v.Number == number })
	if i < 0 {
		return tool.Tool{}, tool.Version{}, refusal.New(tool.NotFound, "", "tool %q has no version %.40s to publish", t.Slug,
			number)
	}
	v := versions[i]
	if err := r.mayDeclare(p, &v.Snapshot.Definition); err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	if err := refusal.First(r.publish(ctx, &t, &v), r.checkReach(ctx, &v)); err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	return t, v, nil
}

// Deprecate refuses new bindings of a published tool. Existing bindings keep
// running.
func (r *Registry) Deprecate(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	return r.change(ctx, p, ref, func(t *tool.Tool) (err error) {
		t.Status, err = nextStatus(t.Status, tool.Deprecated)
		return err
	})
}

// Disable refuses every further call of a tool.
func (r *Registry) Disable(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	return r.change(ctx, p, ref, func(t *tool.Tool) error {
		t.Status = tool.Disabled
		return nil
	})
}

// Delete removes a tool permanently: it is not found any more, and its slug and
// further names are free. Its versions and the record of its calls stay. It fails
// with tool.Conflict for a published or deprecated tool, which has to be disabled
// first, for a tool that is used, and for a tool that was imported from an MCP server.
func (r *Registry) Delete(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	if err := r.unpermitted(p); err != nil {
		return tool.Tool{}, err
	}
	t, err := r.own(ctx, p.Tenant, ref)
	if err != nil {
		return tool.Tool{}, err
	}
	if t.Status == tool.Published || t.Status == tool.Deprecated {
		return tool.Tool{}, refusal.New(tool.Conflict, "/status", "tool %q is %s: disable it before it is deleted", t.Slug,
			t.Status)
	}
	if err := r.unused(ctx, p.Tenant, t, "deleted"); err != nil {
		return tool.Tool{}, err
	}
	if err := r.store.DeleteTool(ctx, t); err != nil {
		return tool.Tool{}, fmt.Errorf("deleting tool %q: %w", t.Slug, err)
	}
	return t, nil
}

// Archive disables a tool that nothing uses any more and takes it off the lists. Its slug stays taken, and its
// versions and the record of its calls stay as they are. It fails with tool.Conflict, naming them, where published
// agents, compositions or graphs, toolsets or runs that have not ended use the tool.
func (r *Registry) Archive(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	return r.change(ctx, p, ref, func(t *tool.Tool) error {
		if t.ArchivedAt != nil {
			return nil
		}
		if err := r.unused(ctx, p.Tenant, *t, "archived"); err != nil {
			return err
		}
		now := r.opts.Clock().UTC()
		t.Status, t.ArchivedAt, t.ArchivedBy = tool.Disabled, &now, p.Subject
		return nil
	})
}

// Restore takes a tool out of the archive, with the status that [Registry.Enable] gives it.
func (r *Registry) Restore(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	return r.change(ctx, p, ref, func(t *tool.Tool) error {
		if t.ArchivedAt == nil {
			return refusal.New(tool.Conflict, "/status", "tool %q is not archived", t.Slug)
		}
		t.ArchivedAt, t.ArchivedBy = nil, ""
		return r.enable(ctx, p, t)
	})
}

// Enable ends the disabled, deprecated or inactive status of a tool: it is published
// if one of its versions is, else a draft.
func (r *Registry) Enable(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, error) {
	return r.change(ctx, p, ref, func(t *tool.Tool) error {
		if t.ArchivedAt != nil {
			return refusal.New(tool.Conflict, "/status", "tool %q is archived: restore it", t.Slug)
		}
		return r.enable(ctx, p, t)
	})
}

func (r *Registry) enable(ctx context.Context, p tool.Principal, t *tool.Tool) error {
	versions, err := r.store.ListVersions(ctx, p.Tenant, t.ID)
	if err != nil {
		return fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	t.Status, t.Active = tool.Draft, true
	if slices.ContainsFunc(versions, func(v tool.Version) bool { return v.Published }) {
		t.Status = tool.Published
	}
	return nil
}

// change edits the state of a tool.
func (r *Registry) change(
	ctx context.Context, p tool.Principal, ref tool.Ref, edit func(*tool.Tool) error,
) (tool.Tool, error) {
	if err := r.unpermitted(p); err != nil {
		return tool.Tool{}, err
	}
	t, err := r.own(ctx, p.Tenant, ref)
	if err != nil {
		return tool.Tool{}, err
	}
	status, active, archived := t.Status, t.Active, t.ArchivedAt
	if err := edit(&t); err != nil {
		return tool.Tool{}, err
	}
	if t.Status == status && t.Active == active && (t.ArchivedAt == nil) == (archived == nil) {
		return t, nil
	}
	t.UpdatedAt = r.opts.Clock().UTC()
	if t, err = r.store.UpdateTool(ctx, t); err != nil {
		return tool.Tool{}, fmt.Errorf("changing tool %q: %w", ref.Name(), err)
	}
	return t, nil
}

// snapshot makes a version of the head, and publishes it if asked to.
func (r *Registry) snapshot(
	ctx context.Context, p tool.Principal, ref tool.Ref, number string, publish bool,
) (tool.Tool, tool.Version, error) {
	t, v, err := r.prepare(ctx, p, ref, number, publish)
	if err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	if publish {
		v.Withheld = 0
	}
	return r.add(ctx, t, v)
}

// prepare is [Registry.snapshot] up to where it is stored.
func (r *Registry) prepare(
	ctx context.Context, p tool.Principal, ref tool.Ref, number string, publish bool,
) (tool.Tool, tool.Version, error) {
	t, versions, err := r.ownVersions(ctx, p, ref)
	if err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	if number != "" {
		t.Version = number
	}
	if !slices.ContainsFunc(versions, func(v tool.Version) bool { return v.Number == t.Version }) {
		if _, err := r.pin(ctx, &t); err != nil { // An existing version keeps its pin.
			return tool.Tool{}, tool.Version{}, err
		}
	}
	t, v, err := r.cut(ctx, t, versions, p, publish)
	if err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	if err := r.checkReach(ctx, &v); err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	return t, v, nil
}

// cut returns the version of the head under its number, see [release.History.Judge].
// It stores nothing.
func (r *Registry) cut(
	ctx context.Context, t tool.Tool, versions []tool.Version, p tool.Principal, publish bool,
) (tool.Tool, tool.Version, error) {
	if err := r.mayDeclare(p, &t.Definition); err != nil {
		return t, tool.Version{}, err
	}
	snapshot := tool.Snapshot{Definition: t.Definition}
	digest, err := snapshot.Digest()
	if err != nil {
		return t, tool.Version{}, refusal.New(tool.Invalid, "", "tool %q holds malformed JSON", t.Slug)
	}
	exists, err := release.OfTool(versions).Judge(t.Version, digest, &t.Definition)
	if err != nil {
		return t, tool.Version{}, err
	}
	now := r.opts.Clock().UTC()
	v := tool.Version{
		ToolID: t.ID, Tenant: t.Tenant, Slug: t.Slug, Number: t.Version, Digest: digest, Snapshot: snapshot, CreatedAt: now,
		CreatedBy: p.Subject, ReadsDeclared: t.ReadsDeclared,
	}
	if exists {
		v = versions[slices.IndexFunc(versions, func(have tool.Version) bool { return have.Number == t.Version })]
	} else if v.ID, err = uuid7.New(); err != nil {
		return t, v, err
	}
	if publish {
		err = r.publish(ctx, &t, &v)
	}
	return t, v, err
}

// publish marks a version and its tool as published. It fails if calls could not
// run.
func (r *Registry) publish(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	if t.ArchivedAt != nil {
		return refusal.New(tool.Conflict, "/status", "tool %q is archived: restore it before publishing", t.Slug)
	}
	if t.Status == tool.Disabled {
		return refusal.New(tool.Conflict, "/status", "tool %q is disabled: enable it before publishing", t.Slug)
	}
	if err := refusal.First(
		r.checkPin(ctx, t, v), r.checkRunnable(&v.Snapshot.Definition, t.ArtifactID != ""),
		checkOpenInput(v), checkProviderOptions(&v.Snapshot.Definition), r.egressObstacle(t.Policy, &v.Snapshot.Definition),
		r.servers.CheckOrigin(ctx, t, v, r.dry), r.checkPipelineOrBatch(ctx, t.Tenant, &v.Snapshot.Definition),
	); err != nil {
		return err
	}
	if err := refusal.First(r.checkWhole(ctx, t, &v.Snapshot.Definition), r.checkCompiles(ctx, t, v)); err != nil {
		return err
	}
	if err := r.checkGate(ctx, t, v); err != nil {
		return err
	}
	if t.Status == tool.Deprecated && v.Published {
		return nil // Publishing a published version again does not end the deprecation.
	}
	now := r.opts.Clock().UTC()
	if !v.Published {
		v.Published, v.PublishedAt = true, &now
	}
	if t.PublishedAt == nil {
		t.PublishedAt = &now
	}
	t.Status = tool.Published
	return nil
}

// checkOpenInput is [definition.CheckOpenInput], except that the schemas of tools
// defined in code pass, since they derive from a host's types.
func checkOpenInput(v *tool.Version) error {
	if v.CreatedBy == codeSubject {
		return nil
	}
	return definition.CheckOpenInput(&v.Snapshot.Definition)
}

// add writes a version and the changed head. A canary stays one where the version says that it is withheld.
func (r *Registry) add(ctx context.Context, t tool.Tool, v tool.Version) (tool.Tool, tool.Version, error) {
	t.UpdatedAt = r.opts.Clock().UTC()
	head, stored, err := r.store.AddVersion(ctx, t, v)
	if err != nil {
		return tool.Tool{}, tool.Version{}, fmt.Errorf("adding version %s: %w", &v, err)
	}
	return head, stored, r.servers.PinOrigin(ctx, &head, &stored)
}

// ownVersions returns a tool that p may change, with its versions.
func (r *Registry) ownVersions(ctx context.Context, p tool.Principal, ref tool.Ref) (tool.Tool, []tool.Version, error) {
	if err := r.unpermitted(p); err != nil {
		return tool.Tool{}, nil, err
	}
	t, err := r.own(ctx, p.Tenant, ref)
	if err != nil {
		return tool.Tool{}, nil, err
	}
	versions, err := r.store.ListVersions(ctx, p.Tenant, t.ID)
	if err != nil {
		return tool.Tool{}, nil, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	return t, versions, nil
}
