package builtins

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/registry/manage"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Tools serves calls of manageTools and listTools. [manage.Manager] implements it.
type Tools interface {
	Manage(ctx context.Context, call *tool.Call) (manage.Answer, error)
}

// manageToolsSchema is flat: clients of MCP do not show a union at the top (reference number S0-110).
const manageToolsSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["action"],
  "properties": {
    "action": {"enum": ["list", "get", "create", "update", "publish", "deprecate", "disable", "enable", "delete"],
      "description": "list and get change nothing. A person approves each of the others before it is made."},
    "slug": {"type": "string", "minLength": 1, "maxLength": 64,
      "description": "The tool's name: camelCase, a verb and then a noun, such as findOrders. For all actions but list."},
    "revision": {"type": "integer", "minimum": 1,
      "description": "The revision that get answered. For all changes of an existing tool: one that was changed since is refused."},
    "search": {"type": "string", "maxLength": 200, "description": "list: a text in slug, name or description."},
    "status": {"enum": ["draft", "published", "deprecated", "disabled"], "description": "list: only tools with this status."},
    "after": {"type": "string", "maxLength": 64, "description": "list: next of the page before."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20, "description": "list: tools on a page."},
    "name": {"type": "string", "maxLength": 200, "description": "Name for people."},
    "description": {"type": "string", "maxLength": 4000,
      "description": "What the tool does, when to use it and when not. Required by create."},
    "category": {"type": "string", "maxLength": 100, "description": "What the tool is listed under."},
    "icon": {"type": "string", "maxLength": 100, "description": "Name of an icon, for people."},
    "input_schema": {"type": "object", "description": "JSON Schema of the arguments, an object at the top."},
    "output_schema": {"type": "object", "description": "JSON Schema of the structured result."},
    "implementation_type": {"type": "string", "maxLength": 40, "description": "Such as http, prompt or composition. Required by create."},
    "implementation_config": {"type": "object", "description": "As the implementation type has it. Credentials are named, never written."},
    "execution": {"type": "object", "description": "Such as timeout_s or is_pure. update changes the members that are given."},
    "interaction": {"type": "object", "description": "Such as confirmation. update changes the members that are given."},
    "egress_class": {"enum": ["none", "read_only", "write"], "description": "What calls do outside. It can only be raised."},
    "egress_rules": {"type": "object", "description": "Hosts and methods that calls may use."},
    "requires_approval": {"type": "boolean", "description": "Whether a person approves each call. It can only be raised."},
    "permission_policy": {"enum": ["auto", "always_ask"], "description": "always_ask asks a person at every call."},
    "required_permission": {"type": "string", "maxLength": 100, "description": "Permission that calls need."},
    "version": {"type": "string", "maxLength": 100, "description": "Semantic version of the draft."},
    "publish": {"type": "boolean", "description": "create and update: publish the draft too."}
  }
}`

const manageToolsOutputSchema = `{
  "type": "object",
  "properties": {
    "tools": {"type": "array", "items": {"type": "object"}},
    "next": {"type": "string"},
    "tool": {"type": "object"},
    "definition": {"type": "object"},
    "version": {"type": "string"},
    "deleted": {"type": "boolean"},
    "warnings": {"type": "array", "items": {"type": "string"}}
  }
}`

const listToolsSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "slug": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Answers this tool with its definition, and its revision."},
    "search": {"type": "string", "maxLength": 200, "description": "A text in slug, name or description."},
    "status": {"enum": ["draft", "published", "deprecated", "disabled"], "description": "Only tools with this status."},
    "after": {"type": "string", "maxLength": 64, "description": "next of the page before."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20, "description": "Tools on a page."}
  }
}`

// manageTools lets an agent write tools (reference numbers S0-25, S0-36). A person approves each change,
// and who started the run never does.
func manageTools(tools Tools) Builtin {
	return Builtin{
		Spec: Spec{
			Key: manage.Builtin, Version: "1.0.1", OptIn: true,
			Definition: tool.Definition{
				Name: "Manage tools",
				Description: "Lists, reads, creates, changes, publishes and deletes the tools of this tenant. Use it when " +
					"you are asked to make or change a tool. Before a change, get the tool and give its revision back. Each " +
					"change waits until a person approves it. To find tools only, listTools is the cheaper way. Do not use " +
					"it to run a tool.",
				Category: "administration", InputSchema: json.RawMessage(manageToolsSchema),
				OutputSchema:   json.RawMessage(manageToolsOutputSchema),
				Implementation: tool.Internal,
				Execution:      tool.Execution{MaxConcurrency: 1, ConcurrencyGroup: "tools", TimeoutSeconds: 30},
				Interaction: tool.Interaction{
					OpenInput: true, // It takes schemas and configurations.
					Confirmation: &tool.Confirmation{
						When:    manage.Asks(),
						Message: "Change tools: {{ input.action }} {{ input.slug }}?",
						// With a permission of its own it is never the caller's to confirm.
						Permission: wait.DecidePermission,
					},
				},
			},
			Policy: tool.Policy{
				EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto, RequiredPermission: access.ToolsWrite,
			},
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) { return managed(ctx, tools, call) },
	}
}

// listTools finds the tools that manageTools changes (reference number S0-68).
func listTools(tools Tools) Builtin {
	return Builtin{
		Spec: Spec{
			Key: "listTools", Version: "1.0.1", OptIn: true,
			Definition: tool.Definition{
				Name: "List tools",
				Description: "Lists the tools of this tenant, or answers one of them with its definition. Use it to find out " +
					"which tools there are, and before a change with manageTools. It changes nothing. Do not use it to run a tool.",
				Category: "administration", InputSchema: json.RawMessage(listToolsSchema),
				OutputSchema:   json.RawMessage(manageToolsOutputSchema),
				Implementation: tool.Internal,
				Execution: tool.Execution{
					Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: "listTools", TimeoutSeconds: 10,
				},
			},
			Policy: tool.Policy{
				EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto, RequiredPermission: access.ToolsRead,
			},
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			asked := *call
			var err error
			if asked.Arguments, err = reading(call.Arguments); err != nil {
				return nil, err
			}
			return managed(ctx, tools, &asked)
		},
	}
}

// reading returns the arguments of manageTools that those of listTools amount to.
func reading(arguments json.RawMessage) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := decodeArguments(arguments, &all); err != nil {
		return nil, err
	}
	action := manage.List
	if _, one := all["slug"]; one {
		action = manage.Get
		all = map[string]json.RawMessage{"slug": all["slug"]}
	}
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	all["action"] = json.RawMessage(`"` + string(action) + `"`)
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// managed serves a call, and answers refusals so that the model can act on them.
func managed(ctx context.Context, tools Tools, call *tool.Call) (*tool.Result, error) {
	out, err := tools.Manage(ctx, call)
	if err != nil {
		if e := tool.AsError(err); e.Path != "" && e.Kind != tool.InternalError {
			at := *e
			at.Msg = e.Path + ": " + e.Msg
			return refused(&at)
		}
		return refused(err)
	}
	return answers(out)
}
