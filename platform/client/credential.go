package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateCredential keeps a credential, encrypted.
func (c *Client) CreateCredential(ctx context.Context, in v1.NewCredential) (v1.Credential, error) {
	return post[v1.Credential](ctx, c, in, "credentials")
}

// Credential returns a credential by ref or id, never its value.
func (c *Client) Credential(ctx context.Context, name string) (v1.Credential, error) {
	return get[v1.Credential](ctx, c, nil, "credentials", name)
}

// ListCredentials returns a page of credentials in the order of refs.
func (c *Client) ListCredentials(ctx context.Context, page Page) (v1.Page[v1.Credential], error) {
	return list[v1.Credential](ctx, c, page.query(), "credentials")
}

// ChangeCredential rotates a credential, or changes where it may go.
func (c *Client) ChangeCredential(ctx context.Context, name string, in v1.CredentialChange) (v1.Credential, error) {
	return put[v1.Credential](ctx, c, in, "credentials", name)
}

// DeleteCredential revokes a credential, immediately and irreversibly.
func (c *Client) DeleteCredential(ctx context.Context, name string) (v1.Credential, error) {
	return remove[v1.Credential](ctx, c, "credentials", name)
}
