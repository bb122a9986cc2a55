package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateCredential keeps a credential, encrypted.
func (c *Client) CreateCredential(ctx context.Context, in v1.NewCredential) (v1.Credential, error) {
	var out v1.Credential
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"credentials"}, body: in, out: &out})
	return out, err
}

// Credential returns a credential by ref or id, never its value.
func (c *Client) Credential(ctx context.Context, name string) (v1.Credential, error) {
	var out v1.Credential
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"credentials", name}, out: &out})
	return out, err
}

// ListCredentials returns a page of credentials in the order of refs.
func (c *Client) ListCredentials(ctx context.Context, page Page) (v1.Page[v1.Credential], error) {
	var out v1.Page[v1.Credential]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"credentials"}, query: params{}.page(page), out: &out})
	return out, err
}

// ChangeCredential rotates a credential, or changes where it may go.
func (c *Client) ChangeCredential(ctx context.Context, name string, in v1.CredentialChange) (v1.Credential, error) {
	var out v1.Credential
	err := c.do(ctx, request{method: http.MethodPut, path: []string{"credentials", name}, body: in, out: &out})
	return out, err
}

// DeleteCredential revokes a credential, immediately and irreversibly.
func (c *Client) DeleteCredential(ctx context.Context, name string) (v1.Credential, error) {
	var out v1.Credential
	err := c.do(ctx, request{method: http.MethodDelete, path: []string{"credentials", name}, out: &out})
	return out, err
}
