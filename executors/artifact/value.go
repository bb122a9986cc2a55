package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// inputOf returns the input of a program: the call's arguments. It refuses
// arguments that lack a required property of the input schema, for calls from
// any caller, and those that do not match the declared inputs of an uploaded
// program.
func inputOf(call *tool.Call, inputs []tool.ArtifactInput) (json.RawMessage, error) {
	input := bytes.TrimSpace(call.Arguments)
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(input, &given); err != nil || given == nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "artifact.Execute", Msg: "want a JSON object as arguments", Err: err}
	}
	for _, name := range required(call.Version.Snapshot.InputSchema) {
		if _, ok := given[name]; !ok {
			return nil, badArgument(name, fmt.Sprintf("the argument %q is required", name))
		}
	}
	if err := checkInputs(inputs, given); err != nil {
		return nil, err
	}
	return input, nil
}

// required lists the arguments that an input schema requires.
func required(schema json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return nil // Publishing has checked the schema.
	}
	return s.Required
}

// answer returns a program's output as a result: the value of a module or a
// command, or the single output of a filter. A filter with no output or several
// gives {"outputs": […]}.
func answer(language sandbox.Language, output json.RawMessage) (*tool.Result, error) {
	if language != sandbox.JQ {
		return tool.JSONResult(output), nil
	}
	var outputs []json.RawMessage
	if err := json.Unmarshal(output, &outputs); err != nil {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "artifact.Execute", Msg: "the sandbox did not return a list of outputs", Err: err,
		}
	}
	if len(outputs) == 1 {
		return tool.JSONResult(outputs[0]), nil
	}
	raw, err := json.Marshal(struct {
		Outputs json.RawMessage `json:"outputs"`
	}{output})
	if err != nil {
		return nil, fmt.Errorf("encoding the outputs: %w", err)
	}
	return tool.JSONResult(raw), nil
}
