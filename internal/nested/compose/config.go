package compose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of compositions.
const (
	MaxSteps  = 50
	MaxConfig = 256 << 10 // Bytes of a configuration.
	MaxDepth  = binding.MaxDepth
	MaxFrom   = binding.MaxFrom
	MaxBound  = binding.MaxBound // Bytes of a step's arguments, or the output, once bound.
)

// Config is the implementation_config of a composition.
type Config struct {
	// Type may repeat the implementation type, "composition".
	Type tool.Implementation `json:"type,omitempty"`
	// Steps run in order. Required: 1 to [MaxSteps].
	Steps []Step `json:"steps"`
	// Bound is the binding of the output. Defaults to the last step's result.
	Bound json.RawMessage `json:"output,omitempty"`

	args   []binding.Binding // Of the steps.
	output *binding.Binding
}

// Step is one call of a composition.
type Step struct {
	// ID names the step in bindings: a slug, unique.
	ID string `json:"id"`
	// Tool is the tool to call, with a version constraint. It is pinned with the
	// run, like the tools of an agent.
	Tool tool.Ref `json:"tool"`
	// Arguments are an object of bindings; none when empty.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// OnError is the effect of a failure or an error result of the step: [Stop] when
	// empty.
	OnError OnError `json:"on_error,omitempty"`
}

// OnError is the effect of a failed step.
type OnError string

// Effects of a failed step.
const (
	Stop     OnError = "stop"     // No further step runs, and the composition fails.
	Continue OnError = "continue" // Later steps run, and may refer to is_error.
)

// ParseConfig reads a composition's configuration. It fails with
// [tool.Invalid] and the JSON Pointer of the fault.
func ParseConfig(raw json.RawMessage) (*Config, error) {
	if len(raw) > MaxConfig {
		return nil, fault("", fmt.Sprintf("%d bytes: at most %d", len(raw), MaxConfig))
	}
	var c Config
	if err := decode(raw, &c); err != nil {
		return nil, err
	}
	if c.Type != "" && c.Type != tool.Composition {
		return nil, fault("/type", fmt.Sprintf("%.40q is not composition", c.Type))
	}
	if len(c.Steps) < 1 || len(c.Steps) > MaxSteps {
		return nil, fault("/steps", fmt.Sprintf("%d steps: want 1 to %d", len(c.Steps), MaxSteps))
	}
	earlier := make(map[string]bool, len(c.Steps))
	c.args = make([]binding.Binding, len(c.Steps))
	for i := range c.Steps {
		path := fmt.Sprintf("/steps/%d", i)
		if err := c.Steps[i].check(path, earlier); err != nil {
			return nil, err
		}
		var err error
		if c.args[i], err = binding.Parse(c.Steps[i].Arguments, path+"/arguments", c.places(earlier)); err != nil {
			return nil, err
		}
		earlier[c.Steps[i].ID] = true
	}
	if c.Bound != nil {
		output, err := binding.Parse(c.Bound, "/output", c.places(earlier))
		if err != nil {
			return nil, err
		}
		c.output = &output
	}
	return &c, nil
}

// decode decodes one JSON value, without unknown members.
func decode(raw json.RawMessage, c *Config) error {
	err := strict.Decode("compose.CheckConfig", raw, c)
	if errors.Is(err, io.EOF) {
		return fault("/steps", fmt.Sprintf("no steps: want 1 to %d", MaxSteps))
	}
	return err
}

func (s *Step) check(path string, earlier map[string]bool) error {
	switch {
	case !tool.ValidSlug(s.ID):
		return fault(path+"/id", fmt.Sprintf("id %.80q: want a letter, then letters, digits, _ or -, at most 64", s.ID))
	case earlier[s.ID]:
		return fault(path+"/id", fmt.Sprintf("an earlier step has the id %q too", s.ID))
	case s.Tool.Name() == "":
		return fault(path+"/tool", "want the tool to call, such as \"findOrder@^1.0\"")
	case s.OnError != "" && s.OnError != Stop && s.OnError != Continue:
		return fault(path+"/on_error", fmt.Sprintf("on_error %.40q: want stop or continue", s.OnError))
	}
	if args := bytes.TrimSpace(s.Arguments); len(args) > 0 && args[0] != '{' {
		return fault(path+"/arguments", "want an object of arguments by name")
	}
	return nil
}

// Stops reports whether a failure of the step ends the composition.
func (s *Step) Stops() bool { return s.OnError != Continue }

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "compose.CheckConfig", Path: path, Msg: msg}
}
