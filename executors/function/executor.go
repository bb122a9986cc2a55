package function

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Executor runs function tools. It is safe for concurrent use.
type Executor struct {
	registry *Registry
}

// New returns an executor over the functions of reg.
func New(reg *Registry) *Executor { return &Executor{registry: reg} }

// CheckConfig is [Registry.CheckConfig].
func (e *Executor) CheckConfig(raw json.RawMessage) error { return e.registry.CheckConfig(raw) }

// Execute implements [tool.Executor]. A call is [tool.Denied] if its tool
// declares less egress than the function, or is_pure or idempotent where the
// function does not.
//
// Once a function has started, its errors have Sent set: it may have had
// effects.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	f, err := e.registry.configured(call.Version.Snapshot.Config)
	if err != nil {
		return nil, err
	}
	if err := f.permits(call); err != nil {
		return nil, err
	}
	if err := e.registry.ready(f); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		out := stopped(ctx)
		out.Sent = false
		return nil, out
	}
	return f.executor.Execute(WithInfo(ctx, infoOf(call)), call)
}
