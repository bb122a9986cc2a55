package builtins

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
)

// inputTimeout is how long a run waits for a person: a day.
const inputTimeout = 24 * 60 * 60

// requestInput asks a person (reference numbers S0-122…S0-128). It has nothing to run: the
// call waits until a person has answered on the page behind its link.
func requestInput() Builtin {
	return Builtin{Spec: Spec{
		Key: "request_input", Version: "1.2.0",
		Definition: tool.Definition{
			Name: "Request input",
			Description: "Asks a person for answers, files, a choice, marks on an image or an approval, and waits until they " +
				"have answered on a page. Use it for what only a person can know or decide, after you have looked for it with " +
				"your other tools: a person may take hours. Set exactly one of questions, choose, markup and approve.",
			Category: "people", InputSchema: json.RawMessage(input.Schema), OutputSchema: json.RawMessage(input.ResultSchema),
			Implementation: tool.Input,
			Execution: tool.Execution{
				Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: "request_input", TimeoutSeconds: inputTimeout,
			},
			Interaction: tool.Interaction{Intent: tool.Act},
		},
		Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
	}}
}
