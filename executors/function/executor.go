package function

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/toolcrib/toolcrib/tool"
)

// MaxDetached bounds the functions without a context that run at a time, the
// abandoned ones included, so that functions that hang can't fill the process.
const MaxDetached = 1024

// Executor runs function tools. It is safe for concurrent use.
type Executor struct {
	registry *Registry
	detached chan struct{}
}

// New returns an executor over the functions of reg.
func New(reg *Registry) *Executor {
	return &Executor{registry: reg, detached: make(chan struct{}, MaxDetached)}
}

// CheckConfig is [Registry.CheckConfig].
func (e *Executor) CheckConfig(raw json.RawMessage) error { return e.registry.CheckConfig(raw) }

// Execute implements [tool.Executor]. A call is [tool.Denied] whose tool
// claims less egress, or more freedom to repeat, than the function declares.
//
// Once a function has begun, its errors count as sent: what it did until then
// is its own affair.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	f, err := e.registry.configured(call.Version.Snapshot.Config)
	if err != nil {
		return nil, err
	}
	if err := f.permits(call); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		out := stopped(ctx)
		out.Sent = false
		return nil, out
	}
	ctx = WithInfo(ctx, infoOf(call))
	args := bytes.Clone(call.Arguments) // A function that is left behind must not hold the call's.
	if !f.detach {
		return guarded(ctx, f, args)
	}
	return e.aside(ctx, f, args)
}

// aside runs f in a goroutine and waits for it or for ctx.
func (e *Executor) aside(ctx context.Context, f *function, args json.RawMessage) (*tool.Result, error) {
	select {
	case e.detached <- struct{}{}:
	default:
		return nil, &tool.Error{Kind: tool.RateLimited, Op: "function.Execute", Msg: "too many functions are running"}
	}
	type outcome struct {
		res *tool.Result
		err error
	}
	done := make(chan outcome, 1) // Room for a result that nobody waits for.
	go func() {
		defer func() { <-e.detached }()
		res, err := guarded(ctx, f, args)
		done <- outcome{res, err}
	}()
	select {
	case o := <-done:
		return o.res, o.err
	case <-ctx.Done():
		return nil, stopped(ctx)
	}
}

// guarded runs f and turns a panic into an error, in whatever goroutine.
func guarded(ctx context.Context, f *function, args json.RawMessage) (res *tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &tool.Error{
				Kind: tool.InternalError, Op: "function.Execute", Msg: "internal error", Sent: true,
				Err: fmt.Errorf("function %q panicked with a %T\n%s", f.tool.Definition.Name, p, debug.Stack()),
			}
		}
	}()
	return f.run(ctx, args)
}

// stopped is how a call ends whose context ended while its function ran.
func stopped(ctx context.Context) *tool.Error {
	out := &tool.Error{Kind: tool.Timeout, Op: "function.Execute", Msg: "the function did not return in time", Sent: true, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.Canceled) {
		out.Kind, out.Msg = tool.Cancelled, "the call was cancelled"
	}
	return out
}
