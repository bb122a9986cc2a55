package remote

import (
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// ProjectedTool is a tool with its input schema in a provider's dialect.
type ProjectedTool struct {
	agent.ToolSpec

	Schema map[string]any
}

// ProjectTools returns tools in a provider's dialect. Those whose schemas have no form in it are
// returned apart: one such schema does not keep the others from the model.
func ProjectTools(specs []agent.ToolSpec, d project.Dialect) ([]ProjectedTool, []agent.OmittedTool) {
	out := make([]ProjectedTool, 0, len(specs))
	var omitted []agent.OmittedTool
	for _, spec := range specs {
		p, err := project.Input(spec.InputSchema, d)
		if err != nil {
			omitted = append(omitted, agent.OmittedTool{Name: spec.Name, Reason: tool.AsError(err).Msg})
			continue
		}
		out = append(out, ProjectedTool{ToolSpec: spec, Schema: p.Members()})
	}
	return out, omitted
}
