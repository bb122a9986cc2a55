package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/tool"
)

// Customs knows the executors that the workers have by name, for custom tools.
// Package executors/custom implements it.
type Customs interface {
	// Check reports what keeps a custom tool of a configuration from running, as
	// a [*tool.Error] with a Path within it: Conflict where no worker has its
	// executor.
	Check(config json.RawMessage) error
	// InputSchema returns the arguments that the executor of a configuration
	// declares; nil for none.
	InputSchema(config json.RawMessage) json.RawMessage
}

// declareInput gives a custom tool without an input schema the one that its
// executor declares.
func (r *Registry) declareInput(s *ToolSpec) error {
	if s.Implementation == tool.Custom && len(s.InputSchema) == 0 && r.opts.Customs != nil {
		s.InputSchema = r.opts.Customs.InputSchema(s.Config)
	}
	return nil
}

// checkHosts refuses to publish what the workers do not have: the executor of a
// custom tool, the function of a function tool, and the model provider of a prompt.
func (r *Registry) checkHosts(d *tool.Definition) error {
	switch d.ImplementationType() {
	case tool.Custom:
		if r.opts.Customs == nil {
			return nil
		}
		if err := r.opts.Customs.Check(d.Config); err != nil {
			e := *tool.AsError(within("/implementation_config", err))
			if e.Kind == tool.Conflict {
				e.Msg += "; the tool can be kept as a draft"
			}
			return &e
		}
	case tool.Prompt:
		return r.checkModelProvider(d.Config)
	case tool.Function:
		return r.checkFunction(d)
	case tool.Internal, tool.HTTP, tool.RAGRetrieval, tool.AgentCall, tool.Artifact, tool.MCP, tool.Task, tool.Composition,
		tool.Client, tool.Provider:
	}
	return nil
}

// checkFunction refuses a tool that names a function no worker has (checklist
// S3-42).
func (r *Registry) checkFunction(d *tool.Definition) error {
	name, known := functionName(d), r.opts.Functions
	if known == nil || slices.Contains(known, name) {
		return nil
	}
	hint := ""
	switch meant := nearest.Name(name, known); {
	case meant != "":
		hint = fmt.Sprintf(": did you mean %q?", meant)
	case len(known) == 0:
		hint = ": their host has registered none"
	}
	return refuse(tool.Conflict, "/implementation_config/function_name",
		"no worker here has a function %.64q%s; the tool can be kept as a draft", name, hint)
}

// checkModelProvider refuses a prompt to a model that no worker can ask. Prompts
// for agents name none.
func (r *Registry) checkModelProvider(config json.RawMessage) error {
	var c struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(config, &c) != nil || c.Model == "" || r.opts.ModelProviders == nil {
		return nil //nolint:nilerr // Another check says what is no JSON.
	}
	if provider, _, _ := strings.Cut(c.Model, "/"); !r.opts.ModelProviders(provider) {
		return refuse(tool.Conflict, "/implementation_config/model",
			"no worker here has a model provider %.64q (model %.80q): the tool can be kept as a draft", provider, c.Model)
	}
	return nil
}
