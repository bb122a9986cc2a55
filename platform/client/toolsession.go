package client

import (
	"context"
	"encoding/json"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/toolsession"
)

// ToolSessionFilter selects tool sessions. Empty members select all.
type ToolSessionFilter struct {
	Tool   string // Slug or id.
	Status toolsession.Status
}

// CreateToolSession makes a tool session.
func (c *Client) CreateToolSession(ctx context.Context, n v1.NewToolSession) (v1.ToolSession, error) {
	return post[v1.ToolSession](ctx, c, n, "tool-sessions")
}

// ToolSessions returns a page of tool sessions, newest first.
func (c *Client) ToolSessions(ctx context.Context, f ToolSessionFilter, page Page) (v1.Page[v1.ToolSession], error) {
	return list[v1.ToolSession](ctx, c, page.query("tool", f.Tool, "status", string(f.Status)), "tool-sessions")
}

// ToolSession returns a tool session.
func (c *Client) ToolSession(ctx context.Context, id string) (v1.ToolSession, error) {
	return get[v1.ToolSession](ctx, c, nil, "tool-sessions", id)
}

// EndToolSession completes or cancels a tool session.
func (c *Client) EndToolSession(ctx context.Context, id string, as toolsession.Status) (v1.ToolSession, error) {
	word := "complete"
	if as == toolsession.Cancelled {
		word = "cancel"
	}
	return post[v1.ToolSession](ctx, c, nil, "tool-sessions", id, word)
}

// LinkToolSession gives a tool session a link, good for a time, a week when zero. Only its answer has the link.
func (c *Client) LinkToolSession(ctx context.Context, id string, keep time.Duration) (v1.LinkedToolSession, error) {
	return post[v1.LinkedToolSession](ctx, c, v1.NewToolSessionLink{ExpiresIn: int64(keep / time.Second)},
		"tool-sessions", id, "link")
}

// UnlinkToolSession revokes the link of a tool session.
func (c *Client) UnlinkToolSession(ctx context.Context, id string) (v1.ToolSession, error) {
	return remove[v1.ToolSession](ctx, c, "tool-sessions", id, "link")
}

// ToolSubmissions returns a page of the submissions of a tool session, newest first.
func (c *Client) ToolSubmissions(ctx context.Context, id string, page Page) (v1.Page[v1.ToolSubmission], error) {
	return list[v1.ToolSubmission](ctx, c, page.query(), "tool-sessions", id, "submissions")
}

// SubmitToToolSession submits an input to a tool session, and waits for the end of its call.
func (c *Client) SubmitToToolSession(ctx context.Context, id string, input json.RawMessage) (v1.ToolSubmission, error) {
	return post[v1.ToolSubmission](ctx, c, v1.NewToolSubmission{Input: input}, "tool-sessions", id, "submissions")
}

// ToolSessionAggregate returns what the submissions of a tool session come to. With join, a tool that joins them is
// called.
func (c *Client) ToolSessionAggregate(ctx context.Context, id string, join bool) (v1.ToolSessionAggregate, error) {
	if join {
		return post[v1.ToolSessionAggregate](ctx, c, nil, "tool-sessions", id, "aggregate")
	}
	return get[v1.ToolSessionAggregate](ctx, c, nil, "tool-sessions", id, "aggregate")
}
