package client

import (
	"context"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/wait"
)

// InputRequestQuery filters requests for people's input. Zero fields do not filter.
type InputRequestQuery struct {
	Status wait.CallStatus // [wait.CallsOpen] for those that take an answer.
	Run    string          // Id of the run, or of its outermost run.
	Page
}

// ListInputRequests returns a page of requests for people's input, newest first.
func (c *Client) ListInputRequests(ctx context.Context, q InputRequestQuery) (v1.Page[v1.InputRequest], error) {
	return list[v1.InputRequest](ctx, c, q.query("status", q.Status, "run", q.Run), "input-requests")
}

// InputRequest returns a request for a person's input.
func (c *Client) InputRequest(ctx context.Context, id string) (v1.InputRequest, error) {
	return get[v1.InputRequest](ctx, c, nil, "input-requests", id)
}

// InputLink returns a link to the page of a request for input, good for a time.
func (c *Client) InputLink(ctx context.Context, id string, expires time.Duration) (v1.InputLink, error) {
	in := v1.NewInputLink{ExpiresS: int(expires / time.Second)}
	return post[v1.InputLink](ctx, c, in, "input-requests", id, "link")
}

// RevokeInputLinks revokes all links and tokens of a request for input.
func (c *Client) RevokeInputLinks(ctx context.Context, id string) (v1.InputRequest, error) {
	return post[v1.InputRequest](ctx, c, nil, "input-requests", id, "revoke")
}
