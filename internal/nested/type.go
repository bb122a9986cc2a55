// Package nested describes the implementation types whose calls are runs of
// agents or calls of other tools: agent_call, task, composition and graph. Prompts are
// runs of agents in some modes.
package nested

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/tool"
)

// AgentCall describes tools whose calls run an agent.
func AgentCall() executors.Type { return agentType(tool.AgentCall) }

// Task describes tools whose calls start an agent run, and may wait for it.
func Task() executors.Type { return agentType(tool.Task) }

func agentType(impl tool.Implementation) executors.Type {
	return executors.Type{
		Traits: tool.Traits{Implementation: impl, RunBy: tool.RunByWorkflow},
		CheckConfig: func(config, inputSchema json.RawMessage) error {
			return agentcall.CheckConfig(impl, config, inputSchema)
		},
		InputSchema: func(json.RawMessage) json.RawMessage { return agentcall.DefaultSchema() },
		Parts: func(config, inputSchema json.RawMessage) (agent.Parts, error) {
			return AgentParts(impl, config, inputSchema)
		},
	}
}

// Composition describes tools whose calls are calls of other tools, one after the other.
func Composition() executors.Type {
	t := graphType(tool.Composition)
	t.Guarded = true
	return t
}

// Graph describes tools whose calls are runs of a graph.
func Graph() executors.Type { return graphType(tool.Graph) }

func graphType(impl tool.Implementation) executors.Type {
	return executors.Type{
		Traits: tool.Traits{Implementation: impl, RunBy: tool.RunByWorkflow},
		CheckConfig: func(config, inputSchema json.RawMessage) error {
			_, err := graph.Of(impl, config, inputSchema)
			return err
		},
		Parts: func(config, inputSchema json.RawMessage) (agent.Parts, error) {
			return nodes(impl, config, inputSchema)
		},
	}
}

func nodes(impl tool.Implementation, config, inputSchema json.RawMessage) (agent.Parts, error) {
	g, err := graph.Of(impl, config, inputSchema)
	if err != nil {
		return agent.Parts{}, err
	}
	out := agent.Parts{Waits: !g.Sequence()}
	for _, p := range g.Parts() {
		if p.Agent.Name() != "" {
			out.Agents = append(out.Agents, agent.Target{Ref: p.Agent, Path: p.Path})
			continue
		}
		out.Steps = append(out.Steps, agent.StepPart{ID: p.ID, Tool: p.Tool, Path: p.Path})
	}
	return out, nil
}

// AgentParts returns the agent that a tool's calls run. It fails with [tool.Invalid] and a
// Path within the configuration.
func AgentParts(impl tool.Implementation, config, inputSchema json.RawMessage) (agent.Parts, error) {
	if err := agentcall.CheckConfig(impl, config, inputSchema); err != nil {
		return agent.Parts{}, err
	}
	c, err := agentcall.ParseConfig(impl, config)
	if err != nil {
		return agent.Parts{}, err
	}
	path := "/target_agent_slug"
	if c.AgentID != "" {
		path = "/target_agent_id"
	}
	return agent.Parts{Agent: &agent.Target{Ref: c.Ref(), Path: path, Skill: c.Skill, Detached: !c.Waits()}}, nil
}
