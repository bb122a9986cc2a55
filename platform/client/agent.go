package client

import (
	"context"
	"net/http"
	"net/url"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// AgentQuery selects agents.
type AgentQuery struct {
	Status tool.Status
	Search string // Text in slug, name or description.
	Page
}

// FindAgents returns a page of the agents that are asked for, in the order of slugs.
func (c *Client) FindAgents(ctx context.Context, q AgentQuery) (v1.Page[v1.Agent], error) {
	return list[v1.Agent](ctx, c, q.query("status", q.Status, "search", q.Search), "agents")
}

// ListAgents returns a page of all agents in the order of slugs.
func (c *Client) ListAgents(ctx context.Context, page Page) (v1.Page[v1.Agent], error) {
	return list[v1.Agent](ctx, c, page.query(), "agents")
}

// Agent returns an agent by slug or id.
func (c *Client) Agent(ctx context.Context, name string) (v1.Agent, error) {
	return get[v1.Agent](ctx, c, nil, "agents", name)
}

// CreateAgent makes an agent, as a draft.
func (c *Client) CreateAgent(ctx context.Context, d v1.AgentDefinition) (v1.SavedAgent, error) {
	return post[v1.SavedAgent](ctx, c, d, "agents")
}

// UpdateAgent replaces the draft of an agent; d.Revision guards against a
// concurrent change by another writer.
func (c *Client) UpdateAgent(ctx context.Context, name string, d v1.AgentDefinition) (v1.SavedAgent, error) {
	return put[v1.SavedAgent](ctx, c, d, "agents", name)
}

// VersionAgent snapshots an agent's draft under a number, without publishing it.
func (c *Client) VersionAgent(ctx context.Context, name, version string) (v1.AgentVersion, error) {
	return call[v1.AgentVersion](ctx, c, http.MethodPost, url.Values{"new_version": {version}}, nil, "agents", name,
		"version")
}

// SetAgent changes the state of an agent: [Disable] stops new runs, [Enable]
// takes that back.
func (c *Client) SetAgent(ctx context.Context, name string, to Transition) (v1.Agent, error) {
	return post[v1.Agent](ctx, c, nil, "agents", name, string(to))
}

// AgentVersion returns a version of an agent by its exact number.
func (c *Client) AgentVersion(ctx context.Context, name, version string) (v1.AgentVersion, error) {
	return get[v1.AgentVersion](ctx, c, nil, "agents", name, "versions", version)
}

// AgentVersions returns an agent's versions, newest first.
func (c *Client) AgentVersions(ctx context.Context, name string) (v1.Page[v1.AgentVersion], error) {
	return list[v1.AgentVersion](ctx, c, nil, "agents", name, "versions")
}

// PublishAgent publishes an agent's draft.
func (c *Client) PublishAgent(ctx context.Context, name string) (v1.PublishedAgent, error) {
	return post[v1.PublishedAgent](ctx, c, nil, "agents", name, "publish")
}
