// Package external describes the implementation types whose calls run outside
// the platform: by a client, such as a browser, by a person, or by the provider of the model.
package external

import (
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
		CheckDefinition: checkInput,
		CheckConfig: func(config, schema json.RawMessage) error {
			if _, err := input.ReadConfig(config); err != nil {
				return err //nolint:wrapcheck // It names the place in the configuration.
			}
			if len(schema) > 0 && !equalJSON(schema, json.RawMessage(input.Schema)) {
				return invalid("a tool that asks for input has the input schema of all such tools: leave input_schema out")
			}
			return nil
		},
	}
}

// checkInput refuses what tools that ask for input cannot have: their form says what an answer
// is, and a person gives it.
func checkInput(d *tool.Definition) error {
	switch {
	case len(d.OutputSchema) > 0:
		return invalidAt("/output_schema", "the form of each request says what its answer is: leave output_schema out")
	case len(d.Interaction.DefaultResult) > 0:
		return invalidAt("/interaction/default_result", "a person answers, and nothing else: leave default_result out")
	case d.Interaction.Async:
		return invalidAt("/interaction/is_async",
			"a run waits for what it asks a person: leave is_async out, and set timeout_s to how long it waits")
	}
	return nil
}

func invalid(msg string) error { return invalidAt("", msg) }

func invalidAt(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "external.Input", Path: path, Msg: msg}
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
		Traits:    tool.Traits{Implementation: tool.Provider, RunBy: tool.RunByProvider},
		Untrusted: func(string, json.RawMessage) bool { return true }, // Searches of the web, and the like.
		CheckConfig: func(config, _ json.RawMessage) error {
			_, err := agent.ReadProviderTool("", config)
			return err
		},
	}
}
