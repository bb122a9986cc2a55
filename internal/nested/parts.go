// Package nested determines the dependencies of a tool's calls, where they are
// runs of agents or calls of other tools. Registries use it to check
// definitions before they store and publish them.
package nested

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/internal/nested/compose"
	"github.com/toolcrib/toolcrib/tool"
)

// Parts reads what the calls of a tool are made of, and gives a tool that runs
// an agent and has no input schema the one that goes without saying. It fails
// with [tool.Invalid] and a Path within the configuration.
func Parts(d *tool.Definition) (agent.Parts, error) {
	impl := d.ImplementationType()
	switch {
	case impl == tool.Composition:
		return steps(d)
	case agentcall.RunsAgent(impl, d.Config):
		return target(impl, d)
	default:
		return agent.Parts{}, nil
	}
}

func target(impl tool.Implementation, d *tool.Definition) (agent.Parts, error) {
	if len(d.InputSchema) == 0 {
		d.InputSchema = agentcall.DefaultSchema()
	}
	if err := agentcall.CheckConfig(impl, d.Config, d.InputSchema); err != nil {
		return agent.Parts{}, err //nolint:wrapcheck // It has the path of the fault.
	}
	c, err := agentcall.ParseConfig(impl, d.Config)
	if err != nil {
		return agent.Parts{}, err //nolint:wrapcheck // It has the path of the fault.
	}
	path := "/target_agent_slug"
	if c.AgentID != "" {
		path = "/target_agent_id"
	}
	return agent.Parts{Agent: &agent.Target{Ref: c.Ref(), Path: path, Skill: c.Skill, Detached: !c.Waits()}}, nil
}

func steps(d *tool.Definition) (agent.Parts, error) {
	if err := compose.CheckConfig(d.Config, d.InputSchema); err != nil {
		return agent.Parts{}, err //nolint:wrapcheck // It has the path of the fault.
	}
	c, err := compose.ParseConfig(d.Config)
	if err != nil {
		return agent.Parts{}, err //nolint:wrapcheck // It has the path of the fault.
	}
	parts := make([]agent.StepPart, len(c.Steps))
	for i, step := range c.Steps {
		parts[i] = agent.StepPart{ID: step.ID, Tool: step.Tool, Path: fmt.Sprintf("/steps/%d/tool", i)}
	}
	return agent.Parts{Steps: parts}, nil
}
