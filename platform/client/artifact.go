package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateArtifact makes an artifact, with a first version where the definition
// holds a program.
func (c *Client) CreateArtifact(ctx context.Context, d v1.ArtifactDefinition) (v1.UploadedArtifact, error) {
	var out v1.UploadedArtifact
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"artifacts"}, body: d, out: &out})
	return out, err
}

// UploadArtifact adds a version to an artifact.
func (c *Client) UploadArtifact(ctx context.Context, name string, u v1.ArtifactUpload) (v1.UploadedArtifact, error) {
	var out v1.UploadedArtifact
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"artifacts", name, "versions"}, body: u, out: &out})
	return out, err
}

// Artifacts returns a page of artifacts in the order of slugs.
func (c *Client) Artifacts(ctx context.Context, page Page) (v1.Page[v1.Artifact], error) {
	var out v1.Page[v1.Artifact]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"artifacts"}, query: params{}.page(page), out: &out})
	return out, err
}

// Artifact returns an artifact by slug or id.
func (c *Client) Artifact(ctx context.Context, name string) (v1.Artifact, error) {
	var out v1.Artifact
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"artifacts", name}, out: &out})
	return out, err
}

// ArtifactVersions returns the versions of an artifact, newest first.
func (c *Client) ArtifactVersions(ctx context.Context, name string) (v1.ArtifactVersions, error) {
	var out v1.ArtifactVersions
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"artifacts", name, "versions"}, out: &out})
	return out, err
}

// ArtifactContent returns the program of a version.
func (c *Client) ArtifactContent(ctx context.Context, name, version string) (v1.ArtifactContent, error) {
	var out v1.ArtifactContent
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"artifacts", name, "versions", version, "content"}, out: &out,
	})
	return out, err
}

// ChangeArtifact does one of "disable", "deprecate" and "enable" to an artifact.
func (c *Client) ChangeArtifact(ctx context.Context, name, change string) (v1.Artifact, error) {
	var out v1.Artifact
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"artifacts", name, change}, out: &out})
	return out, err
}
