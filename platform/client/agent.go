package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// ListAgents returns a page of agents in the order of slugs.
func (c *Client) ListAgents(ctx context.Context, page Page) (v1.Page[v1.Agent], error) {
	var out v1.Page[v1.Agent]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"agents"}, query: params{}.page(page), out: &out})
	return out, err
}

// Agent returns an agent by slug or id.
func (c *Client) Agent(ctx context.Context, name string) (v1.Agent, error) {
	var out v1.Agent
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"agents", name}, out: &out})
	return out, err
}

// AgentVersions returns an agent's versions, newest first.
func (c *Client) AgentVersions(ctx context.Context, name string) (v1.Page[v1.AgentVersion], error) {
	var out v1.Page[v1.AgentVersion]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"agents", name, "versions"}, out: &out})
	return out, err
}

// PublishAgent publishes an agent's draft.
func (c *Client) PublishAgent(ctx context.Context, name string) (v1.PublishedAgent, error) {
	var out v1.PublishedAgent
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"agents", name, "publish"}, out: &out})
	return out, err
}
