package client

import (
	"context"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// SearchQuery searches everything by name or id.
type SearchQuery struct {
	Text  string   // Words that the names have, or an id.
	Kinds []string // Of what alone, such as tool; empty for all that the key may see.
	Limit int      // At most 20, which is also what zero stands for.
}

// Search returns what is called by a text, the best matches first.
func (c *Client) Search(ctx context.Context, q SearchQuery) (v1.Page[v1.Found], error) {
	return list[v1.Found](ctx, c, query("q", q.Text, "kinds", strings.Join(q.Kinds, ","), "limit", q.Limit), "search")
}
