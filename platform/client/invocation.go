package client

import (
	"context"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// InvocationQuery filters invocations. Zero fields do not filter.
type InvocationQuery struct {
	Status tool.InvocationStatus
	Tool   string    // Slug.
	Kind   tool.Kind // Of its failure.
	Run    string    // Id.
	Agent  string    // Slug or id.
	Parent string    // Id of the invocation that they are steps of.
	Since  time.Time
	Until  time.Time
	Page
}

// ListInvocations returns a page of invocations, newest first.
func (c *Client) ListInvocations(ctx context.Context, q InvocationQuery) (v1.Page[v1.Invocation], error) {
	return list[v1.Invocation](ctx, c, q.query(
		"status", q.Status, "tool", q.Tool, "kind", q.Kind, "run", q.Run, "agent", q.Agent, "parent", q.Parent,
		"since", q.Since, "until", q.Until,
	), "invocations")
}

// ToolRuns returns a page of the ended calls of a run in an older shape, newest first.
func (c *Client) ToolRuns(ctx context.Context, run string, page Page) (v1.Page[v1.ToolRun], error) {
	return list[v1.ToolRun](ctx, c, page.query(), "runs", run, "tool-runs")
}

// Invocation returns the record of a call.
func (c *Client) Invocation(ctx context.Context, id string) (v1.Invocation, error) {
	return get[v1.Invocation](ctx, c, nil, "invocations", id)
}

// ExplainCall returns the account of a call that happened.
func (c *Client) ExplainCall(ctx context.Context, id string) (v1.CallExplanation, error) {
	return get[v1.CallExplanation](ctx, c, nil, "invocations", id, "explain")
}
