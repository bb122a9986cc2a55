package resolver

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

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

// BindBuiltins resolves the platform's own tools of the given keys, in their order, whether or not
// a tenant's tools shadow them. It fails as [Resolver.Resolve] would for the first that is not
// available.
func (r *Resolver) BindBuiltins(
	ctx context.Context, p tool.Principal, keys []string, mode tool.Mode,
) ([]*Resolved, error) {
	bound := make([]*Resolved, len(keys))
	var group errgroup.Group
	group.SetLimit(maxBinding)
	for i, key := range keys {
		group.Go(func() (err error) {
			req := Request{Principal: p, Ref: tool.Ref{Slug: key}, Mode: mode, AllowDeprecated: true}
			bound[i], err = r.builtin(ctx, req)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // It says what failed.
	}
	return bound, nil
}

// builtin resolves the platform's tool of a key.
func (r *Resolver) builtin(ctx context.Context, req Request) (*Resolved, error) {
	key := req.Ref.Slug
	c, err := r.candidates(ctx, req)
	if err != nil {
		return nil, err
	}
	c.Entries = slices.DeleteFunc(c.Entries, func(e Entry) bool { return !e.Tool.Global() || e.Tool.BuiltinKey != key })
	found, err := r.load(ctx, req, Select(c, req))
	if err != nil {
		return nil, fmt.Errorf("binding the built-in %q: %w", key, err)
	}
	return found, nil
}
