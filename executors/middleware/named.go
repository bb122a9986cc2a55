package middleware

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Named wraps each call in the middleware listed in its tool's definition under
// interaction.middleware, in that order, the first one outermost.
//
// Each middleware is constructed once for every executor that Named wraps, so it
// may keep state across calls. A call whose tool lists one that is not in all fails
// with [tool.Invalid] and does not run: the middleware may be a guard. The map must
// not change afterwards.
func Named(all map[string]tool.Middleware) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		n := &chooser{next: next, wrapped: make(map[string]tool.Executor, len(all))}
		for name, m := range all {
			n.wrapped[name] = m(tool.ExecutorFunc(n.inner))
		}
		return n
	}
}

type chooser struct {
	next    tool.Executor
	wrapped map[string]tool.Executor // Each wraps inner.
}

// pathKey is the context key of the middleware that a call has yet to pass.
type pathKey struct{ of *chooser }

func (n *chooser) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	if call.Version == nil || len(call.Version.Snapshot.Interaction.Middleware) == 0 {
		return n.next.Execute(ctx, call)
	}
	names := call.Version.Snapshot.Interaction.Middleware
	for i, name := range names {
		if n.wrapped[name] == nil {
			return nil, &tool.Error{
				Kind: tool.Invalid, Op: "middleware.Named", Path: fmt.Sprintf("/interaction/middleware/%d", i),
				Msg: fmt.Sprintf("%s needs middleware %q, which this worker does not have", named(call), name),
			}
		}
	}
	return n.pass(ctx, call, names)
}

// pass calls the first middleware of names or, if there is none, the executor.
func (n *chooser) pass(ctx context.Context, call *tool.Call, names []string) (*tool.Result, error) {
	if len(names) == 0 {
		return n.next.Execute(ctx, call)
	}
	return n.wrapped[names[0]].Execute(context.WithValue(ctx, pathKey{n}, names[1:]), call)
}

// inner is the executor that every middleware wraps.
func (n *chooser) inner(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	rest, ok := ctx.Value(pathKey{n}).([]string)
	if !ok {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "middleware.Named", Msg: "internal error",
			Err: errors.New("a middleware passed on a context that is not derived from its own"),
		}
	}
	return n.pass(ctx, call, rest)
}
