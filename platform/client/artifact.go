package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateArtifact makes an artifact, with a first version where the definition
// holds a program.
func (c *Client) CreateArtifact(ctx context.Context, d v1.ArtifactDefinition) (v1.UploadedArtifact, error) {
	return post[v1.UploadedArtifact](ctx, c, d, "artifacts")
}

// UploadArtifact adds a version to an artifact.
func (c *Client) UploadArtifact(ctx context.Context, name string, u v1.ArtifactUpload) (v1.UploadedArtifact, error) {
	return post[v1.UploadedArtifact](ctx, c, u, "artifacts", name, "versions")
}

// Artifacts returns a page of artifacts in the order of slugs.
func (c *Client) Artifacts(ctx context.Context, page Page) (v1.Page[v1.Artifact], error) {
	return list[v1.Artifact](ctx, c, page.query(), "artifacts")
}

// Artifact returns an artifact by slug or id.
func (c *Client) Artifact(ctx context.Context, name string) (v1.Artifact, error) {
	return get[v1.Artifact](ctx, c, nil, "artifacts", name)
}

// ArtifactVersions returns the versions of an artifact, newest first.
func (c *Client) ArtifactVersions(ctx context.Context, name string) (v1.ArtifactVersions, error) {
	return get[v1.ArtifactVersions](ctx, c, nil, "artifacts", name, "versions")
}

// ArtifactContent returns the program of a version.
func (c *Client) ArtifactContent(ctx context.Context, name, version string) (v1.ArtifactContent, error) {
	return get[v1.ArtifactContent](ctx, c, nil, "artifacts", name, "versions", version, "content")
}

// ChangeArtifact does one of "disable", "deprecate" and "enable" to an artifact.
func (c *Client) ChangeArtifact(ctx context.Context, name, change string) (v1.Artifact, error) {
	return post[v1.Artifact](ctx, c, nil, "artifacts", name, change)
}
