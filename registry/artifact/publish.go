package artifact

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// CheckPin fails where a version cannot be published: with tool.NotFound for an
// artifact that does not exist, with tool.Conflict for one that is disabled or,
// unless the version is published already, deprecated, and with tool.Invalid
// for an input schema that does not fit the inputs of the program.
func (r *Registry) CheckPin(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	pin := v.Snapshot.Artifact
	if pin == nil {
		if t.ArtifactID == "" || v.Published {
			return nil
		}
		_, _, err := r.pinOf(ctx, t)
		return err
	}
	a, err := r.store.FindArtifact(ctx, t.Tenant, pin.ID)
	switch {
	case tool.KindOf(err) == tool.NotFound:
		return refusal.New(tool.NotFound, "/artifact_id", "artifact %.64q not found: upload it first", pin.ID)
	case err != nil:
		return fmt.Errorf("finding artifact %q: %w", pin.ID, err)
	case a.Status == definition.ArtifactDisabled:
		return refusal.New(tool.Conflict, "/artifact_id", "artifact %q is disabled: enable it before publishing what runs it",
			a.Slug)
	case a.Status == definition.ArtifactDeprecated && !v.Published:
		return refusal.New(
			tool.Conflict, "/artifact_id", "artifact %q is deprecated: it runs where it is pinned, and nothing new pins it",
			a.Slug,
		)
	}
	versions, err := r.store.ListArtifactVersions(ctx, t.Tenant, a.ID)
	if err != nil {
		return fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	i := slices.IndexFunc(versions, func(have Version) bool { return have.Number == pin.Version })
	if i < 0 {
		return refusal.New(tool.NotFound, "/artifact_version", "artifact %q has no version %s", a.Slug, pin.Version)
	}
	return checkFits(v.Snapshot.InputSchema, &a, &versions[i])
}

// CheckCompiles fails where the program that a tool pins does not compile within
// the tool's limits, which are not known when it is uploaded.
func (r *Registry) CheckCompiles(ctx context.Context, tenant tool.TenantID, d *tool.Definition) error {
	compile := r.rules.CompileFor
	if compile == nil {
		return nil
	}
	code, err := r.store.LoadArtifact(ctx, tenant, d.Artifact.ID, d.Artifact.Version)
	if err != nil {
		return fmt.Errorf("loading the tool's artifact: %w", err)
	}
	return refusal.Within("/implementation_config", compile(ctx, tenant, code.Language, code.Content, d.Config))
}
