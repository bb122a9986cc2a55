// Package internalcall runs tools of the implementation type internal: the
// built-in that the tool names by its key, or, without one, nothing: the
// arguments come back, for clients to render.
package internalcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Builtins finds built-ins by key. Package builtins implements it.
type Builtins interface {
	Lookup(key string) (tool.Executor, bool)
}

// Executor runs internal tools. It is safe for concurrent use.
type Executor struct {
	builtins Builtins
}

// New returns an executor over builtins; nil has none.
func New(builtins Builtins) *Executor { return &Executor{builtins: builtins} }

// Execute implements [tool.Executor]. A call with a built-in key that nobody
// knows fails with [tool.Invalid]; it is never echoed. Only global tools run
// built-ins: to a tenant's own tool, every key is unknown.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	if call.Builtin == "" {
		return echo(call.Arguments)
	}
	if e.builtins != nil && (call.Version == nil || call.Version.Tenant == "") {
		if b, ok := e.builtins.Lookup(call.Builtin); ok {
			return b.Execute(ctx, call) //nolint:wrapcheck // The built-in's error is the call's.
		}
	}
	return nil, &tool.Error{Kind: tool.Invalid, Op: "internalcall.Execute", Path: "/builtin_key", Msg: fmt.Sprintf("no built-in %q", call.Builtin)}
}

// echo answers {"success": true, "args": …} with the arguments byte for byte.
func echo(args json.RawMessage) (*tool.Result, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "internalcall.Execute", Msg: "the arguments are not JSON"}
	}
	raw := make(json.RawMessage, 0, len(args)+len(`{"success":true,"args":}`))
	raw = append(raw, `{"success":true,"args":`...)
	raw = append(raw, args...)
	return tool.JSONResult(append(raw, '}')), nil
}
