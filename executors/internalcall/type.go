package internalcall

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Servers tells where calls of MCP servers go. Package mcpcall implements it.
type Servers interface {
	// ApprovalTarget returns what the approval of a call of an mcp tool is bound to.
	ApprovalTarget(ctx context.Context, aim wait.Aim) (wait.Target, error)
}

// Type describes internal tools, over the built-ins and the authority that [New]
// takes, and the servers that built-ins call. Without servers, approvals are bound to the
// configurations and arguments of calls.
func Type(builtins Builtins, authority Authority, servers Servers) executors.Type {
	t := executors.Type{
		Traits:   tool.Traits{Implementation: tool.Internal, Quick: true, Guarded: true},
		Executor: New(builtins, authority),
	}
	if builtins != nil {
		t.Untrusted = func(builtin string, config json.RawMessage) bool {
			return builtins.Untrusted(cmp.Or(builtin, KeyOf(config)))
		}
		t.Secret = func(_ context.Context, aim wait.Aim) (bool, error) {
			return builtins.Secret(cmp.Or(aim.Builtin, KeyOf(aim.Config))), nil
		}
	}
	if builtins != nil && servers != nil {
		a := aims{builtins, servers}
		t.Aims, t.Target = a.of, a.target
	}
	return t
}

// aims tells where calls of built-ins go that call MCP servers.
type aims struct {
	builtins Builtins
	servers  Servers
}

// remote returns the configuration of the mcp tool that a call amounts to; nil for none.
func (a aims) remote(builtin string, config, arguments json.RawMessage) json.RawMessage {
	if builtin == "" {
		builtin = KeyOf(config)
	}
	if builtin == "" {
		return nil
	}
	return a.builtins.Remote(builtin, config, arguments)
}

// of returns the arguments that name the server and its tool.
func (a aims) of(builtin string, config, arguments json.RawMessage) json.RawMessage {
	if a.remote(builtin, config, arguments) == nil {
		return nil
	}
	var names struct {
		Server string `json:"server,omitempty"`
		URL    string `json:"server_url,omitempty"`
		Tool   string `json:"tool_name,omitempty"`
	}
	if err := json.Unmarshal(arguments, &names); err != nil {
		return nil
	}
	raw, _ := json.Marshal(names) // Strings always encode.
	return raw
}

func (a aims) target(ctx context.Context, aim wait.Aim) (wait.Target, error) {
	remote := a.remote(aim.Builtin, aim.Config, aim.Arguments)
	if remote == nil {
		return wait.TargetOf(aim.Content, aim.Config), nil
	}
	aim.Config = remote
	return a.servers.ApprovalTarget(ctx, aim)
}
