package client

import (
	"context"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/wait"
)

// PendingCallQuery filters calls that are answered from outside. Zero fields do not filter.
type PendingCallQuery struct {
	Status wait.CallStatus // [wait.CallsOpen] for those that take a result.
	Run    string          // Id of the run, or of its outermost run.
	Tool   string          // Slug.
	CallID string          // As the caller named the call.
	Page
}

// ListPendingCalls returns a page of calls that are answered from outside, newest first.
func (c *Client) ListPendingCalls(ctx context.Context, q PendingCallQuery) (v1.Page[v1.PendingCall], error) {
	return list[v1.PendingCall](ctx, c,
		q.query("status", q.Status, "run", q.Run, "tool", q.Tool, "call_id", q.CallID), "pending-tool-calls")
}

// WatchCalls returns the calls of tools that take a result, or of all tools, once they are
// others than those seen before, or after a time of at most 25 s.
func (c *Client) WatchCalls(
	ctx context.Context, tools []string, seen string, patience time.Duration,
) (v1.OpenCalls, error) {
	q := query("seen", seen)
	q.Set("wait_s", seconds(patience))
	q["tool"] = tools
	return get[v1.OpenCalls](ctx, c, q, "open-tool-calls")
}

// PendingCall returns a call that is answered from outside.
func (c *Client) PendingCall(ctx context.Context, id string) (v1.PendingCall, error) {
	return get[v1.PendingCall](ctx, c, nil, "pending-tool-calls", id)
}

// SubmitResult submits the result of a call. A call keeps its first result.
func (c *Client) SubmitResult(ctx context.Context, id string, in v1.NewResult) (v1.Submitted, error) {
	return post[v1.Submitted](ctx, c, in, "pending-tool-calls", id, "result")
}

// SubmitRunResult submits the result of a call of a run, by its call id.
func (c *Client) SubmitRunResult(ctx context.Context, run string, in v1.NewRunResult) (v1.Submitted, error) {
	return post[v1.Submitted](ctx, c, in, "runs", run, "tool-results")
}

// SubmitToken returns a token that may submit the result of one call.
func (c *Client) SubmitToken(ctx context.Context, id string, expires time.Duration) (v1.SubmitToken, error) {
	in := v1.NewSubmitToken{ExpiresS: int(expires / time.Second)}
	return post[v1.SubmitToken](ctx, c, in, "pending-tool-calls", id, "token")
}
