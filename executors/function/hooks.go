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

// Hooks are callbacks in the life of a function and of its calls. Each may be
// nil. Hooks of different calls run concurrently.
type Hooks struct {
	// Open prepares the function when the first worker starts, and keeps it
	// from starting by an error. Until then calls are refused. It defines no
	// functions: the registry waits for it.
	Open func(ctx context.Context) error
	// Close gives back what Open took, when the last worker has stopped.
	Close func() error

	// Start is called with each call before its arguments are read. An error
	// ends the call as an error of the function would.
	Start func(ctx context.Context) error
	// Complete is called with the result, unless it is an answer of "no", and
	// must not change it.
	Complete func(ctx context.Context, answer *tool.Result)
	// Error is called when the function returned an error or panicked, or when
	// the arguments did not fit. It may recover by returning a result of its
	// own, or return the error that stands. Either Error or Complete follows
	// each Start.
	Error func(ctx context.Context, err error) (*tool.Result, error)
}

// Lifecycle sets the function's hooks. Given twice, the last counts.
func Lifecycle(h Hooks) Option { return func(t *Tool) { t.hooks = h } }

// aroundCalls reports whether any hook of calls is set.
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
