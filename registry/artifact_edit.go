package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// CreateArtifact makes an artifact, with its first version where spec holds a
// program.
func (r *Registry) CreateArtifact(
	ctx context.Context, p tool.Principal, spec ArtifactSpec,
) (Artifact, *ArtifactVersion, error) {
	a, err := r.newArtifact(p, &spec)
	if err != nil {
		return Artifact{}, nil, err
	}
	var release *artifactRelease
	if spec.holdsProgram() { // It is judged before anything is written.
		if release, err = r.release(ctx, &a, nil, spec.ArtifactUpload); err != nil {
			return Artifact{}, nil, err
		}
	}
	if a, err = r.store.CreateArtifact(ctx, a); err != nil {
		return Artifact{}, nil, fmt.Errorf("creating artifact %q: %w", spec.Slug, err)
	}
	if release == nil {
		return a, nil, nil
	}
	return r.addRelease(ctx, p, a, release)
}

// UploadArtifact adds a version to an artifact. Its number must be greater than
// every other; without one it is the next patch. What is there already under
// the number, or without one as the newest, with the same content, is no error
// and comes back as it is, with added false; with other content it is a Conflict.
func (r *Registry) UploadArtifact(
	ctx context.Context, p tool.Principal, slugOrID string, u ArtifactUpload,
) (_ Artifact, _ ArtifactVersion, added bool, err error) {
	a, err := r.ownArtifact(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, ArtifactVersion{}, false, err
	}
	versions, err := r.store.ListArtifactVersions(ctx, p.Tenant, a.ID)
	if err != nil {
		return Artifact{}, ArtifactVersion{}, false, fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	release, err := r.release(ctx, &a, versions, u)
	if err != nil {
		return Artifact{}, ArtifactVersion{}, false, err
	}
	if release.stands {
		return a, release.version, false, nil
	}
	a, v, err := r.addRelease(ctx, p, a, release)
	if err != nil {
		return Artifact{}, ArtifactVersion{}, false, err
	}
	return a, *v, true, nil
}

func (r *Registry) addRelease(
	ctx context.Context, p tool.Principal, a Artifact, release *artifactRelease,
) (Artifact, *ArtifactVersion, error) {
	release.version.CreatedBy = p.Subject
	a, v, err := r.store.AddArtifactVersion(ctx, a, release.version, release.program)
	if err != nil {
		return Artifact{}, nil, fmt.Errorf("uploading version %s of artifact %q: %w", release.version.Number, a.Slug, err)
	}
	return a, &v, nil
}

// SetArtifactStatus lets an artifact go on, deprecates it, or stops it: calls of
// a disabled one are refused from the next on, whatever pins it.
func (r *Registry) SetArtifactStatus(
	ctx context.Context, p tool.Principal, slugOrID string, status ArtifactStatus,
) (Artifact, error) {
	a, err := r.ownArtifact(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, err
	}
	if a.Status == status {
		return a, nil
	}
	a.Status = status
	if a, err = r.store.SaveArtifact(ctx, a); err != nil {
		return Artifact{}, fmt.Errorf("changing artifact %q: %w", slugOrID, err)
	}
	return a, nil
}

// Artifact returns an artifact of the tenant.
func (r *Registry) Artifact(ctx context.Context, p tool.Principal, slugOrID string) (Artifact, error) {
	a, err := r.store.FindArtifact(ctx, p.Tenant, slugOrID)
	if err != nil {
		return Artifact{}, fmt.Errorf("finding artifact %q: %w", slugOrID, err)
	}
	return a, nil
}

// Artifacts returns a page of the tenant's artifacts in the order of slugs.
func (r *Registry) Artifacts(ctx context.Context, p tool.Principal, afterSlug string, limit int) ([]Artifact, error) {
	artifacts, err := r.store.ListArtifacts(ctx, p.Tenant, afterSlug, limit)
	if err != nil {
		return nil, fmt.Errorf("listing artifacts: %w", err)
	}
	return artifacts, nil
}

// ArtifactVersions returns the versions of an artifact, newest first.
func (r *Registry) ArtifactVersions(
	ctx context.Context, p tool.Principal, slugOrID string,
) (Artifact, []ArtifactVersion, error) {
	a, err := r.Artifact(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, nil, err
	}
	versions, err := r.store.ListArtifactVersions(ctx, p.Tenant, a.ID)
	if err != nil {
		return Artifact{}, nil, fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	return a, versions, nil
}

// ArtifactCode returns the program of a version; of the newest when number is
// empty.
func (r *Registry) ArtifactCode(
	ctx context.Context, p tool.Principal, slugOrID, number string,
) (Artifact, string, tool.ArtifactCode, error) {
	a, err := r.Artifact(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, "", tool.ArtifactCode{}, err
	}
	if number == "" {
		number = a.Version
	}
	code, err := r.store.LoadArtifact(ctx, p.Tenant, a.ID, number)
	if err != nil {
		return Artifact{}, "", tool.ArtifactCode{}, fmt.Errorf("reading version %.40q of artifact %q: %w", number, a.Slug,
			err)
	}
	return a, number, code, nil
}

// ownArtifact returns an artifact that p may change.
func (r *Registry) ownArtifact(ctx context.Context, p tool.Principal, slugOrID string) (Artifact, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return Artifact{}, err
	}
	a, err := r.Artifact(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, err
	}
	return a, refuseChanged("artifact", a.Slug, a.Revision, r.revision)
}
