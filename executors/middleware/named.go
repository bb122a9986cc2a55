package middleware

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Named puts around each call the middleware that its tool's definition names
// under interaction.middleware, in that order, the first one outermost.
//
// Each is constructed once for every executor that Named is put around, so it
// may keep what concerns several calls. A call whose tool names one that is
// not in all fails with [tool.Invalid] and is not run: middleware may be what
// guards it. The map must not change afterwards.
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
	wrapped map[string]tool.Executor // Each goes on with inner.
}

// pathKey is where a call keeps the middleware that it has yet to pass.
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
				Msg: fmt.Sprintf("%s wants the middleware %q, which this worker does not have", named(call), name),
			}
		}
	}
	return n.pass(ctx, call, names)
}

// pass hands the call to the first of names, or behind the last to the executor.
func (n *chooser) pass(ctx context.Context, call *tool.Call, names []string) (*tool.Result, error) {
	if len(names) == 0 {
		return n.next.Execute(ctx, call)
	}
	return n.wrapped[names[0]].Execute(context.WithValue(ctx, pathKey{n}, names[1:]), call)
}

// inner is what every middleware is put around.
func (n *chooser) inner(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	rest, ok := ctx.Value(pathKey{n}).([]string)
	if !ok {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "middleware.Named", Msg: "internal error",
			Err: errors.New("a middleware went on with a context that is not derived from the one it got"),
		}
	}
	return n.pass(ctx, call, rest)
}
