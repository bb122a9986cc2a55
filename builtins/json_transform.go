package builtins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// Sandbox runs untrusted programs. Package internal/sandbox
// implements it.
type Sandbox interface {
	Run(ctx context.Context, j sandbox.Job) (*sandbox.Outcome, error)
}

const jsonTransformInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["filter"],
  "properties": {
    "filter": {"type": "string", "minLength": 1, "maxLength": 65536, "description": "A jq filter, such as .orders[] | {id, total}. There are no modules, no environment and no further inputs."},
    "input": {"description": "The JSON that the filter is applied to; null when absent."}
  }
}`

const jsonTransformOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["outputs"],
  "properties": {
    "outputs": {"type": "array", "description": "What the filter put out, in order. A filter such as .a has one output."}
  }
}`

// jsonTransformLimits are the limits of a filter.
var jsonTransformLimits = sandbox.Limits{Time: 2 * time.Second, Memory: 320 << 20, Output: 512 << 10}

type jsonTransformInput struct {
	Filter string          `json:"filter"`
	Input  json.RawMessage `json:"input"`
}

type jsonTransformOutput struct {
	Outputs json.RawMessage `json:"outputs"`
}

// jsonTransformConfig is the implementation_config of a tenant's own json_transform: a
// filter whose input is the call's arguments.
type jsonTransformConfig struct {
	builtinConfig

	Filter string `json:"filter"`
}

// jsonTransform applies a jq filter to JSON, in the sandbox. Numbers keep their digits.
// Output of debug is streamed while the filter runs.
//
// A filter that is malformed, fails, or exceeds a limit (2 s, 320 MiB, 512 KiB of outputs,
// 128 levels) gives an error result.
func jsonTransform(box Sandbox) Builtin {
	return Builtin{
		Spec: Spec{
			Key: "json_transform", Version: "1.0.2",
			Definition: tool.Definition{
				Name: "Transform JSON",
				Description: "Applies a jq filter to JSON and returns its outputs. Use it to pick, reshape, count or sum what " +
					"another tool answered, rather than counting yourself. It is not for a value that you can read at a glance.",
				Category:       "utility",
				InputSchema:    json.RawMessage(jsonTransformInputSchema),
				OutputSchema:   json.RawMessage(jsonTransformOutputSchema),
				Implementation: tool.Internal,
				Execution: tool.Execution{
					Pure: true, MaxConcurrency: 4, ConcurrencyGroup: "json_transform", TimeoutSeconds: 30,
				},
				Interaction: tool.Interaction{OpenInput: true}, // It takes any JSON.
			},
			Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
		},
		Check: checkJSONTransform,
		For: func(json.RawMessage, tool.Egress) tool.Definition {
			d := jsonTransform(nil).Definition
			d.InputSchema = json.RawMessage(`{"type":"object"}`)
			return d
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			in, err := readJSONTransform(call)
			if err != nil {
				return nil, err
			}
			if len(in.Input) == 0 {
				in.Input = json.RawMessage("null")
			}
			out, err := box.Run(ctx, sandbox.Job{
				Tenant: call.Principal.Tenant, Language: sandbox.JQ, Program: []byte(in.Filter), Input: in.Input,
				Limits: jsonTransformLimits, Print: func(text string) { tool.AppendOutput(ctx, text) },
			})
			if e, ok := errors.AsType[*sandbox.ProgramError](err); ok {
				return tool.ErrorResult(e.Msg), nil
			}
			if err != nil {
				return nil, err
			}
			raw, err := json.Marshal(jsonTransformOutput{out.Output})
			if err != nil {
				return nil, fmt.Errorf("encoding the outputs: %w", err)
			}
			return tool.JSONResult(raw), nil
		},
	}
}

// readJSONTransform returns the filter and its input: from the arguments, or, for a tool
// with a configured filter, that filter and the arguments.
func readJSONTransform(call *tool.Call) (in jsonTransformInput, err error) {
	if call.Version != nil && keyOf(call.Version.Snapshot.Config) != "" {
		var c jsonTransformConfig
		if err := decodeConfig(call.Version.Snapshot.Config, &c); err != nil {
			return in, err
		}
		return jsonTransformInput{Filter: c.Filter, Input: call.Arguments}, nil
	}
	return in, decodeArguments(call.Arguments, &in)
}

func checkJSONTransform(config json.RawMessage, _ tool.Egress) ([]string, error) {
	var c jsonTransformConfig
	if err := decodeConfig(config, &c); err != nil {
		return nil, err
	}
	switch most := sandbox.JQ.MaxProgram(); {
	case c.Filter == "":
		return nil, configFault("/filter", "want a jq filter; the call's arguments are its input")
	case len(c.Filter) > most:
		return nil, configFault("/filter", fmt.Sprintf("%d bytes: at most %d", len(c.Filter), most))
	}
	return nil, nil
}
