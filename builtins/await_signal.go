package builtins

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// awaitSignal waits for a signal from outside: nodes of graphs that wait for one call it. It has
// nothing to run: the call waits for a submitted result, which may be any JSON value.
func awaitSignal() Builtin {
	return Builtin{Spec: Spec{
		Key: "awaitSignal", Version: "1.0.1",
		Definition: tool.Definition{
			Name: "Await a signal",
			Description: "Waits until another program gives a signal of this name, as the result of the call. Use it in " +
				"graphs, for what happens outside. To ask a person, use request_input instead.",
			Category: "flow", Implementation: tool.Client,
			InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {"signal": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The name of the signal."}},
  "required": ["signal"],
  "additionalProperties": false
}`),
			Execution: tool.Execution{
				Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: "awaitSignal", TimeoutSeconds: inputTimeout,
			},
			Interaction: tool.Interaction{Intent: tool.Compute},
		},
		Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
	}}
}
