package middleware

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Deadline bounds each call by its Timeout, or by [tool.DefaultTimeout] when it
// has none. It fails with [tool.Timeout] at the deadline, and with
// [tool.Cancelled] when the call was cancelled. Sent is taken from the inner
// error; where that is not a *tool.Error, Sent is set unless the call may not send
// requests.
//
// It waits for the executor, which must honour its context.
func Deadline() tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			limit := call.Timeout
			if limit <= 0 {
				limit = tool.DefaultTimeout
			}
			within, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			res, err := next.Execute(within, call)
			if err == nil || within.Err() == nil {
				return res, err
			}
			return nil, ended(within, call, limit, err)
		})
	}
}

// ended gives an error after the end of its context the kind of that end. Refusals
// are unchanged.
func ended(ctx context.Context, call *tool.Call, limit time.Duration, err error) error {
	out := &tool.Error{Kind: tool.Timeout, Op: "middleware.Deadline", Sent: call.Egress != tool.EgressNone, Err: err}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		switch e.Kind {
		case tool.Timeout, tool.Cancelled, tool.Unavailable, tool.InternalError:
			out.Sent, out.Answered, out.Err = e.Sent, e.Answered, e.Err
		case tool.Invalid, tool.NotFound, tool.Denied, tool.Conflict, tool.RateLimited, tool.Unknown:
			return err
		default:
			return err
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		out.Kind, out.Msg = tool.Cancelled, "the call was cancelled"
	} else {
		out.Msg = fmt.Sprintf("%s did not answer within %s; if it needs longer, raise execution.timeout_s in its definition",
			named(call), limit)
	}
	return out
}

// named returns a name for the tool of a call, for messages.
func named(call *tool.Call) string {
	if call.Version == nil || call.Version.Slug == "" {
		return "the tool"
	}
	return "the tool " + call.Version.Slug + "@" + call.Version.Number
}
