package artifact

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// Store keeps artifacts. Package store implements it. Rows of
// other tenants are tool.NotFound.
type Store interface {
	// CreateArtifact stores a new artifact; Conflict when its slug is taken.
	CreateArtifact(ctx context.Context, a Artifact) (Artifact, error)
	// SaveArtifact stores a changed artifact if its revision is still
	// a.Revision, else fails with Conflict, caused by [definition.ErrChanged].
	SaveArtifact(ctx context.Context, a Artifact) (Artifact, error)
	FindArtifact(ctx context.Context, tenant tool.TenantID, slugOrID string) (Artifact, error)
	// ListArtifacts returns a page in the order of slugs.
	ListArtifacts(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]Artifact, error)
	// AddArtifactVersion stores the newest version of an artifact, and the artifact,
	// under the rules of SaveArtifact. A number that is taken is a Conflict.
	AddArtifactVersion(ctx context.Context, a Artifact, v Version, program []byte) (Artifact, Version, error)
	// ListArtifactVersions returns an artifact's versions, newest first, without
	// their programs.
	ListArtifactVersions(ctx context.Context, tenant tool.TenantID, artifactID string) ([]Version, error)
	// LoadArtifact returns the program of a version.
	LoadArtifact(ctx context.Context, tenant tool.TenantID, artifactID, version string) (tool.ArtifactCode, error)
}
