package builtins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

const mcpCallInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["tool_name"],
  "properties": {
    "server_url": {"type": "string", "maxLength": 2048, "description": "The server's public https or http URL. Either this or server."},
    "server": {"type": "string", "maxLength": 128, "description": "The slug of an attached server."},
    "tool_name": {"type": "string", "minLength": 1, "maxLength": 256, "description": "The tool's name at the server."},
    "arguments": {"type": "object", "description": "The tool's arguments; {} when absent."}
  }
}`

// mcpCallServerSchema is for tools whose configuration names the server.
const mcpCallServerSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["tool_name"],
  "properties": {
    "tool_name": {"type": "string", "minLength": 1, "maxLength": 256, "description": "The tool's name at the server."},
    "arguments": {"type": "object", "description": "The tool's arguments; {} when absent."}
  }
}`

type mcpCallInput struct {
	ServerURL string          `json:"server_url"`
	Server    string          `json:"server"`
	ToolName  string          `json:"tool_name"`
	Arguments json.RawMessage `json:"arguments"`
}

// mcpCallConfig is the implementation_config of a tenant's own mcp_call: the server of an
// mcp tool's configuration, and the tools that may be called.
type mcpCallConfig struct {
	server map[string]json.RawMessage // For the mcp executor, without the tool.
	Tools  []string                   // allowed_tools; empty for all.
}

// mcpCall calls a tool of an MCP server given by the model: an allowed tool of an attached
// server, or any tool at a public URL, without credentials. The effects of such a tool are
// unknown, so every call is treated as a write and needs a person's approval. Prefer a tool
// for one server.
//
// A model can never add a header or a credential: those are in the configuration of a
// tenant's own tool, with the server they are for.
func mcpCall(mcp tool.Executor, check func(config json.RawMessage) error) Builtin {
	spec := Spec{
		Key: "mcp_call", Version: "1.0.2",
		Definition: tool.Definition{
			Name: "MCP call",
			Description: "Calls a tool of an MCP server by its name there. Use it only when no tool of your own does the " +
				"same, since a person approves each call. Do not guess names of servers or tools.",
			Category:       "integration",
			InputSchema:    json.RawMessage(mcpCallInputSchema),
			Implementation: tool.Internal,
			Execution:      tool.Execution{ConcurrencyGroup: "mcp_call"},
			Interaction:    tool.Interaction{OpenInput: true}, // It takes any JSON.
		},
		Policy: tool.Policy{EgressClass: tool.EgressWrite, RequiresApproval: true, PermissionPolicy: tool.PermissionAuto},
	}
	return Builtin{
		Spec:      spec,
		Untrusted: true,
		For: func(config json.RawMessage, _ tool.Egress) tool.Definition {
			d := spec.Definition
			if c, err := readMCPCallConfig(config); err == nil && len(c.server) > 0 {
				d.InputSchema = json.RawMessage(mcpCallServerSchema)
			}
			return d
		},
		Check: func(raw json.RawMessage, _ tool.Egress) ([]string, error) {
			c, err := readMCPCallConfig(raw)
			if err != nil || len(c.server) == 0 {
				return nil, err
			}
			return nil, check(c.calling("any")) // It has the path of the fault.
		},
		Remote: remoteOf,
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			// The policy may have changed since the version was published.
			if rank(call.Egress) < rank(spec.Policy.EgressClass) {
				return nil, &tool.Error{
					Kind: tool.Denied, Op: "builtins.mcp_call",
					Msg: "mcp_call needs the egress class write: set the tool's egress_class",
				}
			}
			var in mcpCallInput
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			c, err := readMCPCallConfig(configOf(call))
			if err != nil {
				return nil, err
			}
			if no := in.aim(c); no != "" {
				return tool.ErrorResult(no), nil
			}
			config := c.calling(in.ToolName)
			if err := check(config); err != nil {
				return tool.ErrorResult(strings.TrimPrefix(tool.AsError(err).Path+": "+tool.AsError(err).Msg, ": ")), nil
			}
			return mcp.Execute(ctx, instead(call, tool.MCP, config, in.Arguments))
		},
	}
}

// remoteOf returns the configuration of the mcp tool that a call of mcp_call amounts to; nil
// where it is refused for its arguments.
func remoteOf(config, arguments json.RawMessage) json.RawMessage {
	var in mcpCallInput
	if decodeArguments(arguments, &in) != nil {
		return nil
	}
	c, err := readMCPCallConfig(config)
	if err != nil || in.aim(c) != "" {
		return nil
	}
	return c.calling(in.ToolName)
}

// aim sets the server of the arguments in the configuration; no is the fault, if any.
func (in *mcpCallInput) aim(c *mcpCallConfig) (no string) {
	named := in.ServerURL != "" || in.Server != ""
	switch {
	case len(c.Tools) > 0 && !slices.Contains(c.Tools, in.ToolName):
		return fmt.Sprintf("tool_name: the tool may call %s only", strings.Join(c.Tools, ", "))
	case len(c.server) > 0 && named:
		return "server_url, server: the tool's configuration names its server: leave them out"
	case len(c.server) > 0:
		return ""
	case (in.ServerURL == "") == (in.Server == ""):
		return "name either server_url or server"
	}
	field, value := "server_url", in.ServerURL
	if in.Server != "" {
		field, value = "server", in.Server
	}
	c.server = map[string]json.RawMessage{field: quoted(value)}
	return ""
}

func readMCPCallConfig(raw json.RawMessage) (*mcpCallConfig, error) {
	c := &mcpCallConfig{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(raw, &c.server); err != nil {
		return nil, configFault("", "want a JSON object")
	}
	if tools, ok := c.server["allowed_tools"]; ok {
		if err := json.Unmarshal(tools, &c.Tools); err != nil {
			return nil, configFault("/allowed_tools", "want a list of names")
		}
	}
	for _, ours := range []string{"type", "builtin", "allowed_tools"} {
		delete(c.server, ours)
	}
	if _, ok := c.server["tool_name"]; ok {
		return nil, configFault(
			"/tool_name", "mcp_call takes it from each call: list what may be called in allowed_tools, or make an mcp tool",
		)
	}
	return c, nil
}

// calling returns the configuration of an mcp tool.
func (c *mcpCallConfig) calling(name string) json.RawMessage {
	fields := map[string]json.RawMessage{"tool_name": quoted(name)}
	maps.Copy(fields, c.server)
	raw, _ := json.Marshal(fields) // It was JSON before.
	return raw
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // A string always encodes.
	return raw
}
