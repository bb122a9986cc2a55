package scripted

import (
	"errors"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"

	"github.com/toolcrib/toolcrib/agent"
)

// Transcript lists the answers of a scripted model, by turn. A turn without calls ends a run; what
// follows it is said in runs that continue that one. So does one whose only calls are of skip.
type Transcript struct {
	Turns []Turn `yaml:"turns"`
}

// Turn is one answer of the model.
type Turn struct {
	// Expect lists expectations on the answers to earlier calls. If a tool returned
	// something else, the turn is what the first that is not met has otherwise, or fails
	// with an error that quotes the answer.
	Expect []Expectation `yaml:"expect,omitempty"`
	// Say is a text, or a list of texts and of references as arguments have them.
	Say  any    `yaml:"say,omitempty"`
	Call []Call `yaml:"call,omitempty"`
}

// Call is a tool call of the model. An argument of the form
//
//	{$from: c1, pointer: /orders/0/id}
//
// stands for a value in the answer to an earlier call, by JSON Pointer (RFC
// 6901); without a pointer for all of it.
type Call struct {
	ID   string `yaml:"id"`
	Tool string `yaml:"tool"`
	Args any    `yaml:"args,omitempty"`
	// Raw is sent verbatim instead of Args, such as a malformed payload.
	Raw string `yaml:"raw,omitempty"`
}

// Expectation is about the answer to one earlier call.
type Expectation struct {
	Call     string `yaml:"call"`
	IsError  *bool  `yaml:"is_error,omitempty"`
	Contains string `yaml:"contains,omitempty"` // In the answer's text or JSON.
	// Otherwise is the last answer of a run in which the expectation is not met, such as
	// where a person may reject the call.
	Otherwise string `yaml:"otherwise,omitempty"`
}

// Load reads a transcript from a YAML file. Errors name the line and column.
func Load(path string) (*Transcript, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // The operator names the directory.
	if err != nil {
		return nil, fmt.Errorf("reading transcript: %w", err)
	}
	var t Transcript
	if err := yaml.UnmarshalWithOptions(raw, &t, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("reading transcript %s: %w", path, err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("transcript %s: %w", path, err)
	}
	return &t, nil
}

// check validates a transcript.
func (t *Transcript) check() error {
	if len(t.Turns) == 0 {
		return errors.New("it has no turns")
	}
	named, seen := make(map[string]bool), make(map[string]bool) // seen excludes the current turn.
	for i, turn := range t.Turns {
		for _, e := range turn.Expect {
			if !seen[e.Call] {
				return fmt.Errorf("turn %d has an expectation for call %q, which no earlier turn makes", i+1, e.Call)
			}
		}
		for _, id := range references(turn.Say) {
			if !seen[id] {
				return fmt.Errorf("turn %d says what call %q answered, which no earlier turn makes", i+1, id)
			}
		}
		for _, c := range turn.Call {
			switch {
			case c.ID == "" || c.Tool == "":
				return fmt.Errorf("turn %d: a call needs an id and a tool", i+1)
			case named[c.ID]:
				return fmt.Errorf("turn %d: call id %q is used twice", i+1, c.ID)
			case c.Raw != "" && c.Args != nil:
				return fmt.Errorf("turn %d: call %q has both args and raw", i+1, c.ID)
			}
			named[c.ID] = true
			for _, id := range references(c.Args) {
				if !seen[id] {
					return fmt.Errorf("turn %d: call %q refers to call %q, which no earlier turn makes", i+1, c.ID, id)
				}
			}
		}
		for _, c := range turn.Call {
			seen[c.ID] = true
		}
	}
	last := t.Turns[len(t.Turns)-1]
	for _, c := range last.Call {
		if c.Tool != agent.SkipTool { // Which ends the run.
			return fmt.Errorf("turn %d: the last must make no calls", len(t.Turns))
		}
	}
	return nil
}
