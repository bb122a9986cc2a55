package remote

import "github.com/toolcrib/toolcrib/schema/project"

// Strict returns the schema of a strict function of OpenAI's: if the tool's own option says so, or else
// all of the agent's tools are to be strict, and it loses nothing by it.
func (t ProjectedTool) Strict(all *bool) (schema map[string]any, ok bool) {
	if t.Options != nil && t.Options.OpenAI.Strict != nil {
		all = t.Options.OpenAI.Strict
	}
	if all == nil || !*all {
		return nil, false
	}
	p, err := project.Input(t.InputSchema, project.OpenAIStrict)
	if err != nil {
		return nil, false
	}
	return p.Members(), true
}
