package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// MayRunBuiltin reports whether a principal may run a built-in through a tool
// of its tenant's own. The operator's settings of the platform's tool of that
// key, its audience and whether it is active, apply. It fails as
// [Resolver.Resolve] would for the platform's tool, whether or not another
// shadows it.
func (r *Resolver) MayRunBuiltin(ctx context.Context, p tool.Principal, key string) error {
	req := Request{Principal: p, Ref: tool.Ref{Slug: key}, AllowDeprecated: true}
	c, err := r.candidates(ctx, req)
	if err != nil {
		return err
	}
	c.Entries = slices.DeleteFunc(c.Entries, func(e Entry) bool { return !e.Tool.Global() || e.Tool.BuiltinKey != key })
	if s := Select(c, req); s.Err != nil {
		return fmt.Errorf("running the built-in %q: %w", key, s.Err)
	}
	return nil
}
