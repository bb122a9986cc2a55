package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// UsageQuery asks for a report. Empty fields are the server's defaults: one sum over this month.
type UsageQuery struct {
	GroupBy  string // day, agent, tool and model, separated by commas.
	From, To string // Days in UTC, such as "2026-03-12"; the last one is included.
}

// Usage reports what the tenant used.
func (c *Client) Usage(ctx context.Context, q UsageQuery) (v1.UsageReport, error) {
	return get[v1.UsageReport](ctx, c, query("group_by", q.GroupBy, "from", q.From, "to", q.To), "usage")
}

// RunUsage returns what a run used.
func (c *Client) RunUsage(ctx context.Context, id string) (v1.RunUsage, error) {
	return get[v1.RunUsage](ctx, c, nil, "runs", id, "usage")
}

// SetPrice sets the tenant's price of a tool or of a model.
func (c *Client) SetPrice(ctx context.Context, p v1.NewPrice) (v1.Price, error) {
	return post[v1.Price](ctx, c, p, "prices")
}

// Prices returns a page of prices, newest first.
func (c *Client) Prices(ctx context.Context, page Page) (v1.Page[v1.Price], error) {
	return list[v1.Price](ctx, c, page.query(), "prices")
}

// DeletePrice deletes a price of the tenant, and returns it.
func (c *Client) DeletePrice(ctx context.Context, id string) (v1.Price, error) {
	return remove[v1.Price](ctx, c, "prices", id)
}
