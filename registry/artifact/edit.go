package artifact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Create stores a new artifact, with its first version if spec has a program.
func (r *Registry) Create(
	ctx context.Context, p tool.Principal, spec definition.ArtifactSpec,
) (Artifact, *Version, error) {
	a, err := r.create(p, &spec)
	if err != nil {
		return Artifact{}, nil, err
	}
	var added *upload
	if spec.HasProgram() { // Check it before storing anything.
		if added, err = r.check(ctx, &a, nil, spec.ArtifactUpload); err != nil {
			return Artifact{}, nil, err
		}
	}
	if a, err = r.store.CreateArtifact(ctx, a); err != nil {
		return Artifact{}, nil, fmt.Errorf("creating artifact %q: %w", spec.Slug, err)
	}
	if added == nil {
		return a, nil, nil
	}
	return r.add(ctx, p, a, added)
}

// Upload adds a version to an artifact. Its number must be greater than every
// other; it defaults to the next patch. An existing version of that number, or the
// newest one where no number is given, is returned with isNew false if its content
// is the same. It fails with tool.Conflict for a number with other content.
func (r *Registry) Upload(
	ctx context.Context, p tool.Principal, slugOrID string, u definition.ArtifactUpload,
) (_ Artifact, _ Version, isNew bool, err error) {
	a, err := r.own(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, Version{}, false, err
	}
	versions, err := r.store.ListArtifactVersions(ctx, p.Tenant, a.ID)
	if err != nil {
		return Artifact{}, Version{}, false, fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	added, err := r.check(ctx, &a, versions, u)
	if err != nil {
		return Artifact{}, Version{}, false, err
	}
	if added.exists {
		return a, added.version, false, nil
	}
	a, v, err := r.add(ctx, p, a, added)
	if err != nil {
		return Artifact{}, Version{}, false, err
	}
	return a, *v, true, nil
}

func (r *Registry) add(
	ctx context.Context, p tool.Principal, a Artifact, added *upload,
) (Artifact, *Version, error) {
	added.version.CreatedBy = p.Subject
	a, v, err := r.store.AddArtifactVersion(ctx, a, added.version, added.program)
	if err != nil {
		return Artifact{}, nil, fmt.Errorf("uploading version %s of artifact %q: %w", added.version.Number, a.Slug, err)
	}
	return a, &v, nil
}

// SetStatus changes the status of an artifact. Calls of a disabled one are refused,
// even where a tool pins it.
func (r *Registry) SetStatus(
	ctx context.Context, p tool.Principal, slugOrID string, status definition.ArtifactStatus,
) (Artifact, error) {
	a, err := r.own(ctx, p, slugOrID)
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

// Get returns an artifact of the tenant.
func (r *Registry) Get(ctx context.Context, p tool.Principal, slugOrID string) (Artifact, error) {
	a, err := r.store.FindArtifact(ctx, p.Tenant, slugOrID)
	if err != nil {
		return Artifact{}, fmt.Errorf("finding artifact %q: %w", slugOrID, err)
	}
	return a, nil
}

// List returns a page of the tenant's artifacts in the order of slugs.
func (r *Registry) List(ctx context.Context, p tool.Principal, afterSlug string, limit int) ([]Artifact, error) {
	artifacts, err := r.store.ListArtifacts(ctx, p.Tenant, afterSlug, limit)
	if err != nil {
		return nil, fmt.Errorf("listing artifacts: %w", err)
	}
	return artifacts, nil
}

// Versions returns the versions of an artifact, newest first.
func (r *Registry) Versions(
	ctx context.Context, p tool.Principal, slugOrID string,
) (Artifact, []Version, error) {
	a, err := r.Get(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, nil, err
	}
	versions, err := r.store.ListArtifactVersions(ctx, p.Tenant, a.ID)
	if err != nil {
		return Artifact{}, nil, fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	return a, versions, nil
}

// Code returns the program of a version; of the newest when number is
// empty.
func (r *Registry) Code(
	ctx context.Context, p tool.Principal, slugOrID, number string,
) (Artifact, string, tool.ArtifactCode, error) {
	a, err := r.Get(ctx, p, slugOrID)
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

// own returns an artifact that p may change.
func (r *Registry) own(ctx context.Context, p tool.Principal, slugOrID string) (Artifact, error) {
	if err := refusal.Unpermitted(p, refusal.ToolsWrite); err != nil {
		return Artifact{}, err
	}
	a, err := r.Get(ctx, p, slugOrID)
	if err != nil {
		return Artifact{}, err
	}
	return a, definition.CheckRevision("artifact", a.Slug, a.Revision, r.revision)
}

func (r *Registry) create(p tool.Principal, s *definition.ArtifactSpec) (Artifact, error) {
	if err := refusal.Unpermitted(p, refusal.ToolsWrite); err != nil {
		return Artifact{}, err
	}
	if !tool.ValidSlug(s.Slug) {
		return Artifact{}, refusal.New(
			tool.Invalid, "/slug", "slug %.80q: expected a letter, then letters, digits, _ or -, at most 64", s.Slug,
		)
	}
	if !slices.Contains(languages, s.Language) {
		return Artifact{}, refusal.New(tool.Invalid, "/language", "language %.40q: expected jq, javascript or wasm",
			s.Language)
	}
	id, err := uuid7.New()
	if err != nil {
		return Artifact{}, err
	}
	return edit(Artifact{ID: id, Tenant: p.Tenant, Slug: s.Slug, Language: s.Language, CreatedBy: p.Subject}, s)
}

// edit returns a with the fields of s, and adds no version. Without a status in s, a keeps its own: a definition that
// is applied again does not switch on what a person disabled.
func edit(a Artifact, s *definition.ArtifactSpec) (Artifact, error) {
	if s.Name == "" {
		s.Name = s.Slug
	}
	if s.Status == "" {
		s.Status = cmp.Or(a.Status, definition.ArtifactActive)
	}
	switch {
	case s.Slug != a.Slug:
		return a, refusal.New(tool.Invalid, "/slug", "a slug cannot be changed: it is %s", a.Slug)
	case s.Language != "" && s.Language != a.Language:
		return a, refusal.New(
			tool.Invalid, "/language", "the language of an artifact cannot be changed: it is %s; make another artifact",
			a.Language,
		)
	case len(s.Name) > maxName:
		return a, refusal.New(tool.Invalid, "/name", "expected at most %d bytes", maxName)
	case len(s.Description) > maxDescription:
		return a, refusal.New(tool.Invalid, "/description", "expected at most %d bytes", maxDescription)
	case !slices.Contains(statuses, s.Status):
		return a, refusal.New(tool.Invalid, "/status", "status %.40q: expected active, deprecated or disabled", s.Status)
	}
	a.Name, a.Description, a.Status = s.Name, s.Description, s.Status
	return a, definition.CheckRevision("artifact", a.Slug, a.Revision, s.Revision)
}
