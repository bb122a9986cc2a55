package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// ToolUsers returns a page of what uses a tool, judged by a version of it, or by its draft when version is empty.
func (c *Client) ToolUsers(ctx context.Context, name, version string, page Page) (v1.ToolUsage, error) {
	return get[v1.ToolUsage](ctx, c, page.query("version", version), "tools", name, "users")
}

// CreateReplay compares recorded calls of a tool with a content of it.
func (c *Client) CreateReplay(ctx context.Context, name string, in v1.NewReplay) (v1.Replay, error) {
	return post[v1.Replay](ctx, c, in, "tools", name, "replays")
}

// Replay returns a replay.
func (c *Client) Replay(ctx context.Context, name, id string) (v1.Replay, error) {
	return get[v1.Replay](ctx, c, nil, "tools", name, "replays", id)
}

// Replays returns a page of the replays of a tool, newest first, without their calls.
func (c *Client) Replays(ctx context.Context, name string, page Page) (v1.Page[v1.Replay], error) {
	return list[v1.Replay](ctx, c, page.query(), "tools", name, "replays")
}

// gatePath is the path of the gate of a tool, or of the tenant where tool is empty.
func gatePath(tool string) []string {
	if tool == "" {
		return []string{"publish-gate"}
	}
	return []string{"tools", tool, "publish-gate"}
}

// PublishGate returns what has to pass before a version of a tool is published, or of any tool of the tenant where
// tool is empty.
func (c *Client) PublishGate(ctx context.Context, tool string) (v1.PublishGate, error) {
	return get[v1.PublishGate](ctx, c, nil, gatePath(tool)...)
}

// SetPublishGate sets it.
func (c *Client) SetPublishGate(ctx context.Context, tool string, in v1.NewPublishGate) (v1.PublishGate, error) {
	return put[v1.PublishGate](ctx, c, in, gatePath(tool)...)
}

// RemovePublishGate removes it.
func (c *Client) RemovePublishGate(ctx context.Context, tool string) (v1.PublishGate, error) {
	return call[v1.PublishGate](ctx, c, http.MethodDelete, nil, nil, gatePath(tool)...)
}

// StartCanary publishes a version of a tool to a share of the runs.
func (c *Client) StartCanary(ctx context.Context, name string, in v1.NewCanary) (v1.Canary, error) {
	return post[v1.Canary](ctx, c, in, "tools", name, "canary")
}

// Canaries returns a page of the canaries of a tool, newest first.
func (c *Client) Canaries(ctx context.Context, name string, page Page) (v1.Page[v1.Canary], error) {
	return list[v1.Canary](ctx, c, page.query(), "tools", name, "canaries")
}

// PromoteCanary gives the canary of a tool to every run.
func (c *Client) PromoteCanary(ctx context.Context, name string) (v1.Canary, error) {
	return post[v1.Canary](ctx, c, nil, "tools", name, "canary", "promote")
}

// StopCanary takes the canary of a tool back.
func (c *Client) StopCanary(ctx context.Context, name string) (v1.Canary, error) {
	return post[v1.Canary](ctx, c, nil, "tools", name, "canary", "stop")
}
