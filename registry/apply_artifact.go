package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// applyArtifact brings an artifact to s, and uploads its program where that is
// not the newest already.
func (r *Registry) applyArtifact(ctx context.Context, p tool.Principal, s ArtifactSpec, write bool) (Change, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return Change{}, err
	}
	before, err := r.store.FindArtifact(ctx, p.Tenant, s.Slug)
	create := tool.KindOf(err) == tool.NotFound
	if err != nil && !create {
		return Change{}, fmt.Errorf("finding artifact %q: %w", s.Slug, err)
	}
	var after Artifact
	var versions []ArtifactVersion
	if create {
		after, err = r.newArtifact(p, &s)
	} else if after, err = s.edited(before); err == nil {
		versions, err = r.store.ListArtifactVersions(ctx, p.Tenant, before.ID)
	}
	if err != nil {
		return Change{}, err
	}
	c := Change{Kind: "artifact", Slug: after.Slug, ID: after.ID, Version: after.Version, Action: Created}
	var release *artifactRelease
	if s.holdsProgram() {
		if release, err = r.release(ctx, &after, versions, s.ArtifactUpload); err != nil {
			return Change{}, err
		}
		c.Version, c.Published = release.version.Number, !release.stands
	}
	switch {
	case create:
	case before == after && !c.Published:
		c.Action = Unchanged
	default:
		c.Action = Updated
	}
	if !write || c.Action == Unchanged {
		return c, nil
	}
	return c, r.writeArtifact(ctx, p, create, before != after, after, release)
}

// writeArtifact stores what changed of an artifact.
func (r *Registry) writeArtifact(
	ctx context.Context, p tool.Principal, create, edited bool, a Artifact, release *artifactRelease,
) (err error) {
	adds := release != nil && !release.stands
	switch {
	case create:
		a, err = r.store.CreateArtifact(ctx, a)
	case edited && !adds: // A version is stored with what else changed.
		a, err = r.store.SaveArtifact(ctx, a)
	}
	if err != nil {
		return fmt.Errorf("saving artifact %q: %w", a.Slug, err)
	}
	if adds {
		_, _, err = r.addRelease(ctx, p, a, release)
	}
	return err
}
