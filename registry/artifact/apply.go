package artifact

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Apply creates or updates an artifact as its definition says, and adds a version
// unless its newest one has the same program. Without write, nothing is stored.
func (r *Registry) Apply(
	ctx context.Context, p tool.Principal, s definition.ArtifactSpec, write bool,
) (definition.Change, error) {
	if err := refusal.Unpermitted(p, refusal.ToolsWrite); err != nil {
		return definition.Change{}, err
	}
	before, err := r.store.FindArtifact(ctx, p.Tenant, s.Slug)
	create := tool.KindOf(err) == tool.NotFound
	if err != nil && !create {
		return definition.Change{}, fmt.Errorf("finding artifact %q: %w", s.Slug, err)
	}
	var after Artifact
	var versions []Version
	if create {
		after, err = r.create(p, &s)
	} else if after, err = edit(before, &s); err == nil {
		versions, err = r.store.ListArtifactVersions(ctx, p.Tenant, before.ID)
	}
	if err != nil {
		return definition.Change{}, err
	}
	c := definition.Change{
		Kind: "artifact", Slug: after.Slug, ID: after.ID, Version: after.Version,
		Action: definition.Created,
	}
	var added *upload
	if s.HasProgram() {
		if added, err = r.check(ctx, &after, versions, s.ArtifactUpload); err != nil {
			return definition.Change{}, err
		}
		c.Version, c.Published = added.version.Number, !added.exists
	}
	switch {
	case create:
	case before == after && !c.Published:
		c.Action = definition.Unchanged
	default:
		c.Action = definition.Updated
	}
	if !write || c.Action == definition.Unchanged {
		return c, nil
	}
	return c, r.write(ctx, p, create, before != after, after, added)
}

// write stores a new or changed artifact, and the added version if there is one.
func (r *Registry) write(
	ctx context.Context, p tool.Principal, create, edited bool, a Artifact, added *upload,
) (err error) {
	adds := added != nil && !added.exists
	switch {
	case create:
		a, err = r.store.CreateArtifact(ctx, a)
	case edited && !adds: // Adding a version stores the artifact too.
		a, err = r.store.SaveArtifact(ctx, a)
	}
	if err != nil {
		return fmt.Errorf("saving artifact %q: %w", a.Slug, err)
	}
	if adds {
		_, _, err = r.add(ctx, p, a, added)
	}
	return err
}
