package promptcall

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/internal/nested"
	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/tool"
)

// Models is what a process knows of the workers' model providers.
type Models struct {
	Known []string // All of them. Empty, they are not known, and prompts may ask any.
	Local []string // Those that answer within the worker; "scripted" when nil.
}

// Type describes prompts. The executor is nil in a process that only judges
// definitions. A prompt in the modes agent and skill is a run of an agent.
func Type(executor *Executor, models Models) executors.Type {
	if models.Local == nil {
		models.Local = []string{"scripted"}
	}
	t := executors.Type{
		Traits:       tool.Traits{Implementation: tool.Prompt},
		CheckConfig:  checkByMode,
		CheckWorkers: models.check,
		Needs:        models.needs,
		InputSchema:  inputSchema,
		Parts: func(config, inputSchema json.RawMessage) (agent.Parts, error) {
			if !runsAgent(config) {
				return agent.Parts{}, nil
			}
			return nested.AgentParts(tool.Prompt, config, inputSchema) //nolint:wrapcheck // It has the path of the fault.
		},
	}
	if executor != nil {
		t.Executor = executor
	}
	return t
}

func runsAgent(config json.RawMessage) bool { return agentcall.RunsAgent(tool.Prompt, config) }

// checkByMode checks a configuration by its mode: one that is put to a model, or
// one that an agent answers.
func checkByMode(config, inputSchema json.RawMessage) error {
	if runsAgent(config) {
		return agentcall.CheckConfig(tool.Prompt, config, inputSchema) //nolint:wrapcheck // It has the path of the fault.
	}
	return CheckConfig(config, inputSchema)
}

func inputSchema(config json.RawMessage) json.RawMessage {
	if runsAgent(config) {
		return agentcall.DefaultSchema()
	}
	return nil
}

// check refuses a prompt to a model that no worker can ask.
func (m Models) check(config json.RawMessage) error {
	provider := Provider(config)
	if runsAgent(config) || provider == "" || len(m.Known) == 0 || slices.Contains(m.Known, provider) {
		return nil
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: "promptcall.Type", Path: "/model",
		Msg: fmt.Sprintf("no worker here has a model provider %.64q", provider),
	}
}

// needs returns the egress class of a prompt: one that is put to a model leaves
// the process, unless the model's provider is local. One that an agent answers
// is judged by the agent's own tools.
func (m Models) needs(config json.RawMessage) (tool.Egress, string) {
	if runsAgent(config) || slices.Contains(m.Local, Provider(config)) {
		return tool.EgressNone, ""
	}
	return tool.EgressReadOnly, ""
}
