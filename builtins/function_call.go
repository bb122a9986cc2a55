package builtins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Functions runs function tools, and lists the functions that may be called by name.
// Package executors/function implements it.
type Functions interface {
	tool.Executor
	// Callable returns the definitions, sorted by name, of the functions that
	// a tenant may call by name.
	Callable(tenant tool.TenantID) []tool.Definition
}

const functionCallInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["function_name"],
  "properties": {
    "function_name": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The function's name."},
    "arguments": {"type": "object", "description": "The function's arguments; {} when absent."}
  }
}`

type functionCallInput struct {
	FunctionName string          `json:"function_name"`
	Arguments    json.RawMessage `json:"arguments"`
}

// functionCall calls a Go function of the host by name, if the host allows it. Functions
// with effects outside need a tool of their own, whose calls are approved: function_call
// only reads.
//
// The result is the function's own. An unknown name, and arguments that do not match, give
// an error result that says what is valid.
func functionCall(functions Functions, schemas *schema.Cache) Builtin {
	return Builtin{
		Spec: Spec{
			Key: "function_call", Version: "1.0.2",
			Definition: tool.Definition{
				Name: "Function call",
				Description: "Calls a function of the host by its name. Use it only when you were given the name of a " +
					"function and no tool of its own does the same: try that tool first. A name that is not known is answered " +
					"with those that are.",
				Category:       "integration",
				InputSchema:    json.RawMessage(functionCallInputSchema),
				Implementation: tool.Internal,
				Execution:      tool.Execution{ConcurrencyGroup: "function_call"},
				Interaction:    tool.Interaction{OpenInput: true}, // It takes any JSON.
			},
			Policy: tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAuto},
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in functionCallInput
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			f, no := in.find(functions.Callable(call.Principal.Tenant))
			if f == nil {
				return tool.ErrorResult(no), nil
			}
			s, err := schemas.Compile(f.InputSchema)
			if err != nil {
				return nil, fmt.Errorf("compiling the input schema of function %q: %w", in.FunctionName, err)
			}
			args, _, err := s.Prepare(ctx, in.Arguments)
			if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.Invalid {
				return tool.ErrorResult(fmt.Sprintf("arguments%s: %s", e.Path, e.Msg)), nil
			}
			if err != nil {
				return nil, fmt.Errorf("reading the arguments of function %q: %w", in.FunctionName, err)
			}
			return functions.Execute(ctx, instead(call, tool.Function, f.Config, args))
		},
	}
}

// find returns the function with the name, or the text of an error result.
func (in *functionCallInput) find(callable []tool.Definition) (f *tool.Definition, no string) {
	names := make([]string, len(callable))
	for i := range callable {
		if callable[i].Name == in.FunctionName {
			return &callable[i], ""
		}
		names[i] = callable[i].Name
	}
	if len(names) == 0 {
		return nil, fmt.Sprintf("no function %.64q can be called by name: there are none", in.FunctionName)
	}
	return nil, fmt.Sprintf("no function %.64q can be called by name: there are %s", in.FunctionName,
		strings.Join(names, ", "))
}

// instead returns a copy of call as a call of another implementation type, with everything
// that call was admitted with.
func instead(call *tool.Call, as tool.Implementation, config, args json.RawMessage) *tool.Call {
	out := *call
	var v tool.Version
	if call.Version != nil {
		v = *call.Version
	}
	v.Snapshot.Implementation, v.Snapshot.Config = as, config
	out.Version, out.Builtin, out.Arguments = &v, "", args
	if len(args) == 0 {
		out.Arguments = json.RawMessage("{}")
	}
	return &out
}

// configOf returns the configuration of the tool that is called.
func configOf(call *tool.Call) json.RawMessage {
	if call.Version == nil {
		return nil
	}
	return call.Version.Snapshot.Config
}
