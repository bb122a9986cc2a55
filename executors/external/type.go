// Package external describes the implementation types whose calls run outside
// the platform: by a client, such as a browser, by a person, or by the provider of the model.
package external

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
)

// Client describes tools that a client, such as a browser, runs.
func Client() executors.Type {
	return executors.Type{
		Traits: tool.Traits{Implementation: tool.Client, RunBy: tool.RunByClient},
	}
}

// Input describes tools that ask a person, who answers on a page (checklist S0-122). All
// have the same input schema: a request for input.
func Input() executors.Type {
	return executors.Type{
		Traits:      tool.Traits{Implementation: tool.Input, RunBy: tool.RunByClient},
		InputSchema: func(json.RawMessage) json.RawMessage { return json.RawMessage(input.Schema) },
		CheckArguments: func(arguments json.RawMessage) error {
			_, err := input.Read(arguments)
			return err
		},
		CheckConfig: func(config, schema json.RawMessage) error {
			var c struct{}
			decoder := json.NewDecoder(bytes.NewReader(config))
			decoder.DisallowUnknownFields()
			if len(config) > 0 && decoder.Decode(&c) != nil {
				return invalid("a tool that asks for input has no configuration")
			}
			if len(schema) > 0 && !equalJSON(schema, json.RawMessage(input.Schema)) {
				return invalid("a tool that asks for input has the input schema of all such tools: leave input_schema out")
			}
			return nil
		},
	}
}

func invalid(msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "external.Input", Msg: msg}
}

func equalJSON(a, b json.RawMessage) bool {
	first, err := tool.Digest(a)
	if err != nil {
		return false
	}
	second, err := tool.Digest(b)
	return err == nil && first == second
}

// Provider describes tools that the provider of a model runs.
func Provider() executors.Type {
	return executors.Type{
		Traits: tool.Traits{Implementation: tool.Provider, RunBy: tool.RunByProvider},
		CheckConfig: func(config, _ json.RawMessage) error {
			_, err := agent.ReadProviderTool("", config)
			return err
		},
	}
}
