package demo

import (
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
)

// modelVariable names the model to use: "openai/…", "anthropic/…", that of
// another configured provider, or "scripted".
const modelVariable = "TOOLCRIB_DEMO_MODEL"

// Models that are used when nothing else is said.
const (
	scriptedModel  = "scripted/support-desk" // As the example has it.
	openaiModel    = "openai/gpt-4.1-mini"
	anthropicModel = "anthropic/claude-haiku-4-5"
)

// pickedModel is the model that answers the customer.
type pickedModel struct {
	name string
	live bool
	why  string
}

// pickModel takes a live model where there is a key for one.
func pickModel(environ []string) pickedModel {
	named := variable(environ, modelVariable)
	switch {
	case named == "scripted" || named == scriptedModel:
		return pickedModel{name: scriptedModel, why: modelVariable + " says so"}
	case named != "":
		return pickedModel{name: named, live: true, why: modelVariable + " says so"}
	case variable(environ, models.OpenAIKey) != "":
		return pickedModel{name: openaiModel, live: true, why: models.OpenAIKey + " is set"}
	case variable(environ, models.AnthropicKey) != "":
		return pickedModel{name: anthropicModel, live: true, why: models.AnthropicKey + " is set"}
	default:
		return pickedModel{name: scriptedModel, why: "no " + models.OpenAIKey + " or " + models.AnthropicKey + " is set"}
	}
}

func variable(environ []string, name string) string {
	var value string
	for _, entry := range environ {
		if have, text, _ := strings.Cut(entry, "="); have == name {
			value = strings.TrimSpace(text)
		}
	}
	return value
}

// describe says which model it is, and why.
func (m pickedModel) describe() string {
	if m.live {
		return m.name + ", live: what it does differs from run to run (" + m.why + ")"
	}
	return m.name + ", which plays a transcript (" + m.why + ")"
}

// standard is what calls are judged by.
func (m pickedModel) standard() string {
	if m.live {
		return "the platform promises"
	}
	return "the transcript expects"
}

// openModels returns the models that the worker offers.
func (d *demo) openModels() (map[string]agent.Model, error) {
	all := map[string]agent.Model{"scripted": scripted.New(filepath.Join(d.cfg.Root, "examples", "transcripts"))}
	if !d.model.live {
		return all, nil
	}
	set, err := models.Open(models.Config{Environ: d.cfg.Environ, SecretsDir: d.company.secrets})
	if err != nil {
		return nil, err
	}
	d.closeLater(set.Close)
	return set.Models(all), nil
}
