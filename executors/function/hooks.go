package function

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// With puts middleware around the function, the first one outermost: inside
// whatever the host and the tool's definition put around its calls. It may
// log, measure, refuse, answer by itself or recover, and pass on a changed
// copy of the call.
//
// Middleware that knows the function's types needs no option: it is a function
// that takes one and returns one, put around what [Define] is given.
func With(middleware ...tool.Middleware) Option {
	return func(t *Tool) { t.middleware = append(t.middleware, middleware...) }
}

// Hooks are told what becomes of a function. Each may be nil. Those of a call
// run beside those of others.
type Hooks struct {
	// Open prepares the function when the first worker starts, and keeps it
	// from starting by an error. Until then calls are refused. It defines no
	// functions: the registry waits for it.
	Open func(ctx context.Context) error
	// Close gives back what Open took, when the last worker has stopped.
	Close func() error

	// Start is told of a call before its arguments are read. An error ends the
	// call as one of the function would.
	Start func(ctx context.Context) error
	// Complete is told of the answer, "no" excepted, and must not change it.
	Complete func(ctx context.Context, answer *tool.Result)
	// Error is told of what the function returned as an error, of a panic, and
	// of arguments that did not fit. It may recover by an answer of its own, or
	// return the error that stands. Either it or Complete follows each Start.
	Error func(ctx context.Context, err error) (*tool.Result, error)
}

// Lifecycle sets the function's hooks. Given twice, the last counts.
func Lifecycle(h Hooks) Option { return func(t *Tool) { t.hooks = h } }

// aroundCalls reports whether there is a hook that is told of calls.
func (h *Hooks) aroundCalls() bool { return h.Start != nil || h.Complete != nil || h.Error != nil }

// around runs a call with the hooks of calls.
func (h *Hooks) around(ctx context.Context, run func() (*tool.Result, error)) (*tool.Result, error) {
	res, err := h.started(ctx, run)
	if err != nil && h.Error != nil {
		return h.Error(ctx, err)
	}
	if err == nil && h.Complete != nil {
		h.Complete(ctx, res)
	}
	return res, err
}

func (h *Hooks) started(ctx context.Context, run func() (*tool.Result, error)) (*tool.Result, error) {
	if h.Start != nil {
		if err := h.Start(ctx); err != nil {
			return nil, err
		}
	}
	return run()
}
