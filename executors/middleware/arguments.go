package middleware

import (
	"bytes"
	"context"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Arguments puts the arguments into canonical form, so that the upstream parses
// what was checked and recorded. It refuses ambiguous JSON, with [tool.Invalid]; see
// [schema.Canonical].
func Arguments() tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			if len(call.Arguments) == 0 {
				return next.Execute(ctx, call) // No arguments: their meaning depends on the type.
			}
			canonical, err := schema.Canonical(call.Arguments)
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(canonical, call.Arguments) {
				same := *call
				same.Arguments = canonical
				call = &same
			}
			return next.Execute(ctx, call)
		})
	}
}
