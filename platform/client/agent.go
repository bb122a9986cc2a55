package client

import (
	"context"
	"net/http"
	"net/url"

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

// CreateAgent makes an agent, as a draft.
func (c *Client) CreateAgent(ctx context.Context, d v1.AgentDefinition) (v1.SavedAgent, error) {
	var out v1.SavedAgent
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"agents"}, body: d, out: &out})
	return out, err
}

// UpdateAgent replaces the draft of an agent; d.Revision guards against a
// concurrent change by another writer.
func (c *Client) UpdateAgent(ctx context.Context, name string, d v1.AgentDefinition) (v1.SavedAgent, error) {
	var out v1.SavedAgent
	err := c.do(ctx, request{method: http.MethodPut, path: []string{"agents", name}, body: d, out: &out})
	return out, err
}

// VersionAgent snapshots an agent's draft under a number, without publishing it.
func (c *Client) VersionAgent(ctx context.Context, name, version string) (v1.AgentVersion, error) {
	var out v1.AgentVersion
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"agents", name, "version"},
		query: url.Values{"new_version": {version}}, out: &out,
	})
	return out, err
}

// SetAgent changes the state of an agent: [Disable] stops new runs, [Enable]
// takes that back.
func (c *Client) SetAgent(ctx context.Context, name string, to Transition) (v1.Agent, error) {
	var out v1.Agent
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"agents", name, string(to)}, out: &out})
	return out, err
}

// AgentVersion returns a version of an agent by its exact number.
func (c *Client) AgentVersion(ctx context.Context, name, version string) (v1.AgentVersion, error) {
	var out v1.AgentVersion
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"agents", name, "versions", version}, out: &out})
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
