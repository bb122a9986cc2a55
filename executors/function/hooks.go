package function

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// With wraps the function in middleware, the first one outermost, inside the
// middleware of the host and of the tool's definition. Middleware may log,
// measure, refuse, return its own result or recover, and may pass on a changed
// copy of the call.
//
// Middleware that knows the function's types needs no option: wrap the function
// before passing it to [Define].
func With(middleware ...tool.Middleware) Option {
	return func(t *Tool) { t.middleware = append(t.middleware, middleware...) }
}

// Hooks are callbacks in the life of a function and its calls. Each may be
// nil. Hooks of different calls run concurrently.
type Hooks struct {
	// Open prepares the function when the first worker starts. Its error stops
	// the worker from starting. Until it returns, calls are refused. It must not
	// define functions: the registry is locked.
	Open func(ctx context.Context) error
	// Close releases what Open acquired, when the last worker has stopped.
	Close func() error

	// Start is called with each call before its arguments are read. An error
	// ends the call as an error of the function would.
	Start func(ctx context.Context) error
	// Complete is called with the result, unless it is an error result, and must
	// not change it.
	Complete func(ctx context.Context, answer *tool.Result)
	// Error is called when the function returned an error or panicked, or when
	// the arguments were invalid. It may recover by returning a result, or return
	// the error that the call ends with. Either Error or Complete follows each
	// Start.
	Error func(ctx context.Context, err error) (*tool.Result, error)
}

// Lifecycle sets the function's hooks; the last call counts.
func Lifecycle(h Hooks) Option { return func(t *Tool) { t.hooks = h } }

// aroundCalls reports whether a hook of calls is set.
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
