package resolver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// formerBuiltins are the names that built-ins had before, with the last day on which definitions may
// use them. They lead to the platform's tool, with a warning, where nothing else has the name, and
// are shown nowhere (reference number S0-125).
var formerBuiltins = map[string]struct{ key, lastDay string }{
	"request_feedback": {"request_input", "2027-06-30"},
}

// formerBuiltin returns the platform's tool that had the name of a reference before; none for other
// names.
func (r *Resolver) formerBuiltin(ctx context.Context, req Request) ([]Entry, error) {
	now, ok := formerBuiltins[req.Ref.Slug]
	if !ok {
		return nil, nil
	}
	c, err := r.source.Entries(ctx, req.Principal.Tenant, tool.Ref{Slug: now.key})
	if err != nil {
		return nil, fmt.Errorf("resolving tool %q: %w", now.key, err)
	}
	var out []Entry
	for _, e := range c.Entries {
		if e.Tool.Global() && e.Tool.BuiltinKey == now.key {
			e.Alias = &Alias{Name: req.Ref.Slug, Internal: true, RemoveBy: now.lastDay}
			out = append(out, e)
		}
	}
	return out, nil
}
