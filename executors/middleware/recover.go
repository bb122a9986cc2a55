package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"github.com/toolcrib/toolcrib/tool"
)

// Recover turns a panic into [tool.InternalError] and logs its stack. It logs the
// text of Go's own panics, and only the type of other values, which may quote
// arguments or secrets.
func Recover(logger *slog.Logger) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (res *tool.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					logger.LogAttrs(ctx, slog.LevelError, "executor panicked", append(callAttrs(call),
						slog.String("kind", string(tool.InternalError)),
						slog.String("panic", describe(p)),
						slog.String("stack", string(debug.Stack())))...)
					res, err = nil, &tool.Error{
						Kind: tool.InternalError, Op: "middleware.Recover", Msg: "internal error", Sent: call.Egress != tool.EgressNone,
					}
				}
			}()
			return next.Execute(ctx, call)
		})
	}
}

// callAttrs are the attributes that every log line about a call carries.
func callAttrs(call *tool.Call) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("tenant_id", string(call.Principal.Tenant)), slog.String("run_id", call.RunID),
		slog.String("call_id", call.CallID),
	}
	if call.Version != nil {
		attrs = append(attrs, slog.String("tool", call.Version.Slug), slog.String("version", call.Version.Number))
	}
	return attrs
}

func describe(p any) string {
	if e, ok := p.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("%T", p)
}
