// Package internalcall runs tools of the implementation type internal: the
// built-in that the tool names by its key, or, without one, an echo of the
// arguments, for clients to render.
//
// The platform's tools have their key next to the definition. A tenant's own tool
// names it in its configuration, which the built-in receives.
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
	// Configurable reports whether tenants' own tools may run a built-in.
	Configurable(key string) bool
	// Remote returns the configuration of the mcp tool that a call of a built-in amounts to;
	// nil where it amounts to none.
	Remote(key string, config, arguments json.RawMessage) json.RawMessage
	// Untrusted reports whether what a built-in answers comes from sources that others write.
	Untrusted(key string) bool
	// Secret reports whether calls of a built-in may use a credential, which no configuration has to name.
	Secret(key string) bool
}

// Authority decides whether a tenant's own tool may run a built-in now. It
// fails with a [*tool.Error] where the platform's tool of that key is not
// available to the principal. Package resolver implements it.
type Authority interface {
	MayRunBuiltin(ctx context.Context, p tool.Principal, key string) error
}

// Executor runs internal tools. It is safe for concurrent use.
type Executor struct {
	builtins  Builtins
	authority Authority
}

// New returns an executor over builtins, which may be nil. Without authority,
// tenants' own tools cannot run built-ins.
func New(builtins Builtins, authority Authority) *Executor {
	return &Executor{builtins: builtins, authority: authority}
}

// Execute implements [tool.Executor]. A call with an unknown built-in key fails
// with [tool.Invalid]; the key is never echoed. A tenant's own tool may only name
// built-ins that take a configuration and that the tenant may use.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	key, err := e.key(ctx, call)
	if err != nil {
		return nil, err
	}
	if key == "" {
		return echo(call.Arguments)
	}
	if e.builtins != nil {
		if b, ok := e.builtins.Lookup(key); ok {
			return b.Execute(ctx, call)
		}
	}
	return nil, unknown(key)
}

// key returns the key of the built-in to run; empty for none.
func (e *Executor) key(ctx context.Context, call *tool.Call) (string, error) {
	if call.Version == nil || call.Version.Tenant == "" {
		return call.Builtin, nil
	}
	key := KeyOf(call.Version.Snapshot.Config)
	switch {
	case call.Builtin != "":
		return "", unknown(call.Builtin)
	case key == "":
		return "", nil
	case e.builtins == nil || e.authority == nil || !e.builtins.Configurable(key):
		return "", unknown(key)
	}
	return key, e.authority.MayRunBuiltin(ctx, call.Principal, key)
}

// KeyOf returns the key of the built-in in a tenant's tool configuration; empty
// for none.
func KeyOf(config json.RawMessage) string {
	var c struct {
		Builtin string `json:"builtin"`
	}
	if len(config) == 0 || json.Unmarshal(config, &c) != nil {
		return ""
	}
	return c.Builtin
}

func unknown(key string) *tool.Error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "internalcall.Execute", Path: "/builtin_key", Msg: fmt.Sprintf("no built-in %q", key),
	}
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
