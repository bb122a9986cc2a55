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

// Direct is the mode of prompts that are put to a model. The others, agent and
// skill, make runs.
const Direct = "direct"

// MaxSystem bounds a system prompt, in bytes.
const MaxSystem = 32 << 10

// maxOptions bounds model options, in bytes.
const maxOptions = 16 << 10

// Output is what is made of a model's answer.
type Output string

// Outputs.
const (
	TextOutput Output = "text" // As it stands; the default without an output schema.
	JSONOutput Output = "json" // The JSON value in it; the default with one.
)

// Config is the implementation_config of a prompt tool of mode direct.
type Config struct {
	// Type may repeat the implementation type, "prompt".
	Type tool.Implementation `json:"type,omitempty"`
	// Mode is direct. Required.
	Mode string `json:"mode"`
	// PromptTemplate is what the model is asked, with placeholders for arguments;
	// see package template. Required.
	PromptTemplate string `json:"prompt_template"`
	// System is the system message, as it stands: it takes no arguments.
	System string `json:"system,omitempty"`
	// Model is the model that is asked, as "provider/name". Required.
	Model string `json:"model"`
	// ModelOptions are the model's, as an agent has them.
	ModelOptions json.RawMessage `json:"model_options,omitempty"`
	// Output is text or json.
	Output Output `json:"output,omitempty"`
}

// prompt is a configuration made ready.
type prompt struct {
	Config

	provider, model string
	text            *template.Template
}

// CheckConfig reports what is wrong with the configuration of a prompt tool of
// mode direct whose arguments meet inputSchema, as [tool.Invalid] with the JSON
// Pointer of the fault. Registries call it before they store one. Whether there
// is such a model provider is for the workers to say.
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

// Provider returns the model provider that a configuration asks; empty where it
// asks none.
func Provider(raw json.RawMessage) string {
	p, err := read(raw)
	if err != nil {
		return ""
	}
	return p.provider
}

// read makes a configuration ready.
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
		return nil, fault("/mode", fmt.Sprintf("%.40q: want direct, for a prompt that is put to a model", c.Mode))
	case strings.TrimSpace(c.PromptTemplate) == "":
		return nil, fault("/prompt_template", "want what the model is asked, such as \"Summarize: {{text}}\"")
	case len(c.System) > MaxSystem:
		return nil, fault("/system", fmt.Sprintf("it has %d bytes: at most %d", len(c.System), MaxSystem))
	case strings.Contains(c.System, "{{"):
		return nil, fault(
			"/system", "it holds {{, and no argument is filled in there: what a caller says belongs into prompt_template",
		)
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

// checkOptions refuses options that are none. Which there are, the provider
// knows.
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
