package function

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxDetached bounds the functions without a context that run at a time,
// abandoned ones included, so that functions that hang cannot exhaust memory.
const MaxDetached = 1024

// function is a registered function, with its types erased.
type function struct {
	tool     Tool
	input    *schema.Schema
	run      func(ctx context.Context, args json.RawMessage) (*tool.Result, error)
	detach   bool          // It can't be cancelled: it runs in its own goroutine and may be abandoned.
	detached chan struct{} // The registry's semaphore of detached functions.
	executor tool.Executor // Its middleware, and body inside.
}

// wrapped returns body inside the function's middleware.
func (f *function) wrapped() tool.Executor {
	var e tool.Executor = tool.ExecutorFunc(f.body)
	for _, m := range slices.Backward(f.tool.middleware) {
		e = m(e)
	}
	return e
}

// body runs the function itself.
func (f *function) body(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	args := bytes.Clone(call.Arguments) // An abandoned function must not retain the call's memory.
	if !f.detach {
		return f.attend(ctx, args)
	}
	return f.aside(ctx, args)
}

// aside runs f in its own goroutine and waits for it or for ctx.
func (f *function) aside(ctx context.Context, args json.RawMessage) (*tool.Result, error) {
	select {
	case f.detached <- struct{}{}:
	default:
		return nil, &tool.Error{Kind: tool.RateLimited, Op: "function.Execute", Msg: "too many functions are running"}
	}
	type outcome struct {
		res *tool.Result
		err error
	}
	done := make(chan outcome, 1) // Buffered: an abandoned result has no receiver.
	go func() {
		defer func() { <-f.detached }()
		res, err := f.attend(ctx, args)
		done <- outcome{res, err}
	}()
	select {
	case o := <-done:
		return o.res, o.err
	case <-ctx.Done():
		return nil, stopped(ctx)
	}
}

// attend runs f with its hooks, in the current goroutine, and returns its outcome.
func (f *function) attend(ctx context.Context, args json.RawMessage) (*tool.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := func() (*tool.Result, error) { return f.run(ctx, args) }
	res, err := f.guarded(func() (*tool.Result, error) {
		if !f.tool.hooks.aroundCalls() {
			return run()
		}
		return f.tool.hooks.around(ctx, func() (*tool.Result, error) { return f.guarded(run) })
	})
	switch {
	case err != nil:
		return answeredNo(ctx, err)
	case res == nil:
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "function.Execute", Msg: "internal error",
			Err: errors.New("the function returned neither a result nor an error"),
		}
	default:
		return res, nil
	}
}

// guarded recovers a panic of run and returns it as an error.
func (f *function) guarded(run func() (*tool.Result, error)) (res *tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &tool.Error{
				Kind: tool.InternalError, Op: "function.Execute", Msg: "internal error", Sent: true,
				Err: fmt.Errorf("function %q panicked with a %T\n%s", f.tool.Definition.Name, p, debug.Stack()),
			}
		}
	}()
	return run()
}

// stopped returns the error of a call whose context ended while its function ran.
func stopped(ctx context.Context) *tool.Error {
	out := &tool.Error{
		Kind: tool.Timeout, Op: "function.Execute", Msg: "the function did not return in time", Sent: true,
		Err: context.Cause(ctx),
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		out.Kind, out.Msg = tool.Cancelled, "the call was cancelled"
	}
	return out
}
