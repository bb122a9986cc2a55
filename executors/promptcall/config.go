package promptcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/internal/template"
	"github.com/toolcrib/toolcrib/tool"
)

// Direct is the mode of prompts that are sent to a model. The other modes, agent
// and skill, start agent runs.
const Direct = "direct"

// MaxSystem bounds a system prompt, in bytes.
const MaxSystem = 32 << 10

// maxOptions bounds model options, in bytes.
const maxOptions = 16 << 10

// Output is how a model's answer is read.
type Output string

// Outputs.
const (
	TextOutput Output = "text" // Unchanged; the default without an output schema.
	JSONOutput Output = "json" // The JSON value in it; the default with one.
)

// Config is the implementation_config of a prompt tool of mode direct.
type Config struct {
	// Type may repeat the implementation type, "prompt".
	Type tool.Implementation `json:"type,omitempty"`
	// Mode is direct. Required.
	Mode string `json:"mode"`
	// PromptTemplate is the prompt, with placeholders for arguments; see package
	// template. Required.
	PromptTemplate string `json:"prompt_template"`
	// System is the system message. It has no placeholders.
	System string `json:"system,omitempty"`
	// Model is the model to call, as "provider/name". Required.
	Model string `json:"model"`
	// ModelOptions are the model's options, as in agents.
	ModelOptions json.RawMessage `json:"model_options,omitempty"`
	// Output is text or json.
	Output Output `json:"output,omitempty"`
}

// prompt is a parsed configuration.
type prompt struct {
	Config

	provider, model string
	text            *template.Template
}

// CheckConfig checks the configuration of a prompt tool of mode direct, with
// placeholders for arguments of inputSchema. It fails with [tool.Invalid] and the
// JSON Pointer of the fault. Registries call it before they store one. It does not
// check that a worker has the model provider.
func CheckConfig(raw, inputSchema json.RawMessage) error {
	p, err := read(raw)
	if err != nil {
		return err
	}
	if err := template.Check(p.PromptTemplate, inputSchema); err != nil {
		return fault("/prompt_template", tool.AsError(err).Msg)
	}
	return nil
}

// Provider returns the model provider of a configuration; empty without one.
func Provider(raw json.RawMessage) string {
	p, err := read(raw)
	if err != nil {
		return ""
	}
	return p.provider
}

// read parses a configuration.
func read(raw json.RawMessage) (*prompt, error) {
	var c Config
	if err := strict.Decode("promptcall.CheckConfig", raw, &c); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return c.ready()
}

func (c *Config) ready() (*prompt, error) {
	p := &prompt{Config: *c}
	provider, model, ok := strings.Cut(c.Model, "/")
	p.provider, p.model = provider, model
	switch {
	case c.Type != "" && c.Type != tool.Prompt:
		return nil, fault("/type", fmt.Sprintf("%.40q is not prompt", c.Type))
	case c.Mode != Direct:
		return nil, fault("/mode", fmt.Sprintf("%.40q: want direct, for a prompt that is sent to a model", c.Mode))
	case strings.TrimSpace(c.PromptTemplate) == "":
		return nil, fault("/prompt_template", "want the prompt, such as \"Summarize: {{text}}\"")
	case len(c.System) > MaxSystem:
		return nil, fault("/system", fmt.Sprintf("it has %d bytes: at most %d", len(c.System), MaxSystem))
	case strings.Contains(c.System, "{{"):
		return nil, fault("/system", "it contains {{, but has no placeholders: use arguments in prompt_template")
	case !ok || provider == "" || model == "" || strings.ContainsAny(c.Model, " \t\r\n"):
		return nil, fault("/model", fmt.Sprintf(`%.80q: want a model as "provider/name"`, c.Model))
	case c.Output != "" && c.Output != TextOutput && c.Output != JSONOutput:
		return nil, fault("/output", fmt.Sprintf("%.40q: want text or json", c.Output))
	}
	if err := checkOptions(c.ModelOptions); err != nil {
		return nil, err
	}
	var err error
	if p.text, err = template.Parse(c.PromptTemplate); err != nil {
		return nil, fault("/prompt_template", tool.AsError(err).Msg)
	}
	return p, nil
}

// checkOptions refuses options that are too long or not an object. The provider
// checks their names.
func checkOptions(raw json.RawMessage) error {
	var members map[string]json.RawMessage
	switch {
	case len(raw) > maxOptions:
		return fault("/model_options", fmt.Sprintf("they have %d bytes: at most %d", len(raw), maxOptions))
	case len(raw) > 0 && json.Unmarshal(raw, &members) != nil:
		return fault("/model_options", "want a JSON object")
	}
	return nil
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "promptcall.CheckConfig", Path: path, Msg: msg}
}
