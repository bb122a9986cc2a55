package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// SetBudget sets a budget of the tenant, in the place of the one with its name.
func (c *Client) SetBudget(ctx context.Context, b v1.NewBudget) (v1.Budget, error) {
	return post[v1.Budget](ctx, c, b, "budgets")
}

// Budgets returns a page of budgets, by name.
func (c *Client) Budgets(ctx context.Context, page Page) (v1.Page[v1.Budget], error) {
	return list[v1.Budget](ctx, c, page.query(), "budgets")
}

// DeleteBudget deletes a budget of the tenant by its name, and returns it.
func (c *Client) DeleteBudget(ctx context.Context, name string) (v1.Budget, error) {
	return remove[v1.Budget](ctx, c, "budgets", name)
}
