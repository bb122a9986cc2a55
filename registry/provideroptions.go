package registry

import (
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// checkProviderOptions fails with tool.Invalid for options of a tool that no model provider's API has, or
// that its input schema does not permit.
func checkProviderOptions(d *tool.Definition) error {
	const path = "/interaction/provider_options"
	options, err := agent.ReadToolOptions(d.Interaction.ProviderOptions)
	if err != nil {
		return refusal.Within(path, err)
	}
	if options == nil || options.OpenAI.Strict == nil || !*options.OpenAI.Strict {
		return nil
	}
	if _, err := project.Input(d.InputSchema, project.OpenAIStrict); err != nil {
		return refusal.New(tool.Invalid, path+"/openai/strict",
			"the input schema has no strict form, so a call could not be all that it may be: %s", tool.AsError(err).Msg)
	}
	return nil
}
