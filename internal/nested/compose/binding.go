package compose

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// seenMembers are the members of a step that bindings can refer to: those of [seen].
var seenMembers = []string{"result", "text", "is_error", "error"}

// places returns the check of references: they may be to the input, and to results of
// earlier steps.
func (c *Config) places(earlier map[string]bool) func(string, jsonpointer.Pointer) error {
	return func(path string, from jsonpointer.Pointer) error {
		tokens := from.Tokens()
		switch {
		case tokens[0] == "input":
			return nil
		case tokens[0] != "steps" || len(tokens) < 2:
			return fault(
				path, fmt.Sprintf("%.80q is not a reference: want /input, /steps/<id> or a pointer below", from.String()),
			)
		case !earlier[tokens[1]] && c.declares(tokens[1]):
			return fault(
				path, fmt.Sprintf("refers to step %q, which runs later: a step can refer to earlier steps only", tokens[1]),
			)
		case !earlier[tokens[1]]:
			return fault(path, fmt.Sprintf("there is no step %.80q", tokens[1]))
		case len(tokens) > 2 && !slices.Contains(seenMembers, tokens[2]):
			return fault(path, fmt.Sprintf("a step has no %.80q: want result, text, is_error or error", tokens[2]))
		}
		return nil
	}
}

func (c *Config) declares(id string) bool {
	for _, s := range c.Steps {
		if s.ID == id {
			return true
		}
	}
	return false
}

// CheckConfig checks the configuration of a composition with arguments of inputSchema. It
// fails with [tool.Invalid] and the JSON Pointer of the fault, also for a reference to an
// argument that the schema does not allow. The registry checks that its tools exist.
func CheckConfig(raw, inputSchema json.RawMessage) error {
	c, err := ParseConfig(raw)
	if err != nil {
		return err
	}
	declared := func(path string, from jsonpointer.Pointer) error { return checkInput(path, from, inputSchema) }
	for i := range c.args {
		if err := c.args[i].References(declared); err != nil {
			return err
		}
	}
	if c.output != nil {
		return c.output.References(declared)
	}
	return nil
}

// checkInput refuses a reference to an argument that the input schema does not allow.
func checkInput(path string, from jsonpointer.Pointer, inputSchema json.RawMessage) error {
	tokens := from.Tokens()
	if tokens[0] != "input" {
		return nil
	}
	if i := schema.Undeclared(inputSchema, tokens[1:]); i >= 0 {
		return fault(path, fmt.Sprintf("the input schema declares no %q", jsonpointer.New(tokens[1:i+2]...).String()))
	}
	return nil
}
