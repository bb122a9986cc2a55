package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/wait"
)

// ApprovalQuery filters requests for approval. Zero fields do not filter.
type ApprovalQuery struct {
	Status wait.Status
	Run    string // Id of the run, or of its outermost run.
	Batch  string // Of a request, instead of Run.
	Tool   string // Slug.
	// Decidable selects those that who asks may decide now.
	Decidable bool
	Oldest    bool // The oldest first.
	Page
}

// ListApprovals returns a page of requests, newest first.
func (c *Client) ListApprovals(ctx context.Context, q ApprovalQuery) (v1.Page[v1.Approval], error) {
	query := q.query("status", q.Status, "run", q.Run, "batch", q.Batch, "tool", q.Tool)
	if q.Decidable {
		query.Set("decidable", "true")
	}
	if q.Oldest {
		query.Set("order", "oldest")
	}
	return list[v1.Approval](ctx, c, query, "approvals")
}

// Approval returns a request.
func (c *Client) Approval(ctx context.Context, id string) (v1.Approval, error) {
	return get[v1.Approval](ctx, c, nil, "approvals", id)
}

// Approve approves a call.
func (c *Client) Approve(ctx context.Context, id string, in v1.Approve) (v1.Approval, error) {
	return post[v1.Approval](ctx, c, in, "approvals", id, "approve")
}

// Reject rejects a call.
func (c *Client) Reject(ctx context.Context, id string, in v1.Reject) (v1.Approval, error) {
	return post[v1.Approval](ctx, c, in, "approvals", id, "reject")
}

// Decide decides several requests, each on its own. The items are in the order of the
// decisions.
func (c *Client) Decide(ctx context.Context, in v1.Decide) ([]v1.Decided, error) {
	page, err := post[v1.Page[v1.Decided]](ctx, c, in, "approvals", "decide")
	return page.Items, err
}
