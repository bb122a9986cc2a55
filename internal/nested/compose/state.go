package compose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// State is the state of a call between its steps.
type State struct {
	Input json.RawMessage       // The call's arguments.
	Steps map[string]StepResult // Of the steps that have run, by id.
}

// StepResult is the outcome of a step: a result, or the kind of a failure.
type StepResult struct {
	Result *tool.Result // Nil for a failure.
	Kind   tool.Kind
	Msg    string
}

// failed reports whether the step returned an error result, or failed.
func (r StepResult) failed() bool { return r.Result == nil || r.Result.IsError }

// text returns the text of the step's result.
func (r StepResult) text() string {
	if r.Result == nil {
		return r.Msg
	}
	var texts []string
	for _, c := range r.Result.Content {
		switch {
		case c.Text != "":
			texts = append(texts, c.Text)
		case c.Type == tool.ContentJSON:
			texts = append(texts, string(c.JSON))
		}
	}
	return strings.Join(texts, "\n")
}

// seen is the part of a step that bindings can refer to.
type seen struct {
	Result  json.RawMessage `json:"result,omitempty"` // The structured result, if any.
	Text    string          `json:"text"`
	IsError bool            `json:"is_error"`
	Error   *problem        `json:"error,omitempty"` // Of a step that failed.
}

func (r StepResult) seen() (json.RawMessage, error) {
	s := seen{Text: r.text(), IsError: r.failed()}
	if r.Result != nil {
		s.Result = r.Result.Structured
	} else {
		s.Error = &problem{r.Kind, r.Msg}
	}
	return binding.Marshal(s)
}

// Arguments returns the arguments of a step, counted from 0. It fails with [tool.Invalid],
// naming step, argument and pointer, when a required value is absent.
func (c *Config) Arguments(step int, s State) (json.RawMessage, error) {
	if step < 0 || step >= len(c.Steps) {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "compose.Arguments", Msg: fmt.Sprintf("there is no step %d", step),
		}
	}
	whose, base := fmt.Sprintf("step %q", c.Steps[step].ID), fmt.Sprintf("/steps/%d/arguments", step)
	return c.args[step].Bind(&finder{state: s}, whose, base)
}

// Output returns the composition's output: the value of its binding, else the last step's
// structured result, or its text as a JSON string, or null if it failed. It fails like
// [Config.Arguments].
func (c *Config) Output(s State) (json.RawMessage, error) {
	if c.output != nil {
		return c.output.Bind(&finder{state: s}, "the output", "/output")
	}
	last := s.Steps[c.Steps[len(c.Steps)-1].ID]
	switch {
	case last.Result == nil:
		return json.RawMessage("null"), nil
	case len(last.Result.Structured) > 0:
		return last.Result.Structured, nil
	default:
		return binding.Marshal(last.text())
	}
}

// finder finds what bindings refer to.
type finder struct {
	state  State
	values map[string]*jsonpointer.Value // Cached by root: "input", or a step.
}

// Value returns the value of the first tokens of a pointer, and the other tokens.
func (f *finder) Value(tokens []string) (*jsonpointer.Value, []string, error) {
	key, below := "input", tokens[1:]
	if tokens[0] == "steps" {
		key, below = tokens[1], tokens[2:]
	}
	key = tokens[0] + "/" + key
	if v, ok := f.values[key]; ok {
		return v, below, nil
	}
	raw := f.state.Input
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	if tokens[0] == "steps" {
		step, made := f.state.Steps[tokens[1]]
		if !made {
			return nil, below, nil
		}
		var err error
		if raw, err = step.seen(); err != nil {
			return nil, nil, err
		}
	}
	if f.values == nil {
		f.values = make(map[string]*jsonpointer.Value)
	}
	f.values[key] = jsonpointer.NewValue(raw)
	return f.values[key], below, nil
}

// Because returns why the value of a reference may be absent.
func (f *finder) Because(tokens []string) string {
	if tokens[0] != "steps" {
		return ""
	}
	step, made := f.state.Steps[tokens[1]]
	switch {
	case !made:
		return fmt.Sprintf(": step %q was not run", tokens[1])
	case step.Result == nil:
		return fmt.Sprintf(": step %q failed (%s): %s", tokens[1], step.Kind, step.Msg)
	case step.Result.IsError:
		return fmt.Sprintf(": step %q returned an error", tokens[1])
	case len(tokens) > 2 && tokens[2] == "result" && len(step.Result.Structured) == 0:
		return fmt.Sprintf(": step %q returned text only, at /steps/%s/text", tokens[1], tokens[1])
	default:
		return ""
	}
}
