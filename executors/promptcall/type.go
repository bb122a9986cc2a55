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

// Models lists the model providers of the workers.
type Models struct {
	Known []string // All of them. When empty, they are unknown and any is accepted.
	Local []string // Those that run within the worker; "scripted" when nil.
}

// Type describes prompts. The executor is nil in a process that only validates
// definitions. A prompt of mode agent or skill is an agent run.
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
			return nested.AgentParts(tool.Prompt, config, inputSchema)
		},
	}
	if executor != nil {
		t.Executor = executor
	}
	return t
}

func runsAgent(config json.RawMessage) bool { return agentcall.RunsAgent(tool.Prompt, config) }

// checkByMode checks a configuration by its mode: direct, or agent and skill.
func checkByMode(config, inputSchema json.RawMessage) error {
	if runsAgent(config) {
		return agentcall.CheckConfig(tool.Prompt, config, inputSchema)
	}
	return CheckConfig(config, inputSchema)
}

func inputSchema(config json.RawMessage) json.RawMessage {
	if runsAgent(config) {
		return agentcall.DefaultSchema()
	}
	return nil
}

// check refuses a prompt whose model provider no worker has.
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

// needs returns the egress class of a prompt. A direct prompt leaves the process,
// unless the model's provider is local. For other modes, the agent's own tools
// decide.
func (m Models) needs(config json.RawMessage) (tool.Egress, string) {
	if runsAgent(config) || slices.Contains(m.Local, Provider(config)) {
		return tool.EgressNone, ""
	}
	return tool.EgressReadOnly, ""
}
