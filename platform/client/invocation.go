package client

import (
	"context"
	"net/http"
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
	var out v1.Page[v1.Invocation]
	query := params{}.text("status", string(q.Status)).text("tool", q.Tool).text("kind", string(q.Kind)).text("run",
		q.Run).text("agent", q.Agent).
		text("parent", q.Parent).
		time("since", q.Since).time("until", q.Until).page(q.Page)
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"invocations"}, query: query, out: &out})
	return out, err
}

// Invocation returns the record of a call.
func (c *Client) Invocation(ctx context.Context, id string) (v1.Invocation, error) {
	var out v1.Invocation
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"invocations", id}, out: &out})
	return out, err
}
