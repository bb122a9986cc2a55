package responses

import (
	"regexp"
	"slices"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// options reads the agent's model options into params.
func options(
	o *remote.Options, params *sdk.ResponseNewParams, req *agent.ModelRequest, tools []remote.ProjectedTool,
	names *remote.Names,
) error {
	o.API()
	if v := o.Float("temperature", 0, 2); v != nil {
		params.Temperature = param.NewOpt(*v)
	}
	if v := o.Float("top_p", 0, 1); v != nil {
		params.TopP = param.NewOpt(*v)
	}
	if v := o.Int("max_tokens", 1); v != nil {
		params.MaxOutputTokens = param.NewOpt(*v)
	}
	if v := o.Int("max_tool_calls", 1); v != nil {
		params.MaxToolCalls = param.NewOpt(*v)
	}
	params.Reasoning.Effort = shared.ReasoningEffort(o.Word("reasoning_effort", "none", "minimal", "low", "medium", "high",
		"xhigh"))
	params.Text.Verbosity = sdk.ResponseTextConfigVerbosity(o.Word("verbosity", "low", "medium", "high"))
	params.ServiceTier = sdk.ResponseNewParamsServiceTier(o.Word("service_tier", "auto", "default", "flex", "scale",
		"priority"))
	params.Include = include(o.Bool("keep_reasoning"), string(params.Reasoning.Effort), req)
	parallel, choice := o.Bool("parallel_tool_calls"), o.Choice(remote.ToolNames(tools))
	if len(params.Tools) > 0 { // The API refuses both without tools.
		if parallel != nil {
			params.ParallelToolCalls = param.NewOpt(*parallel)
		}
		choose(params, choice, names)
	}
	return o.Err()
}

func choose(params *sdk.ResponseNewParams, c remote.Choice, names *remote.Names) {
	switch {
	case c.Tool != "":
		params.ToolChoice.OfFunctionTool = &sdk.ToolChoiceFunctionParam{Name: names.Wire(c.Tool)}
	case c.Mode != "":
		params.ToolChoice.OfToolChoiceMode = param.NewOpt(sdk.ToolChoiceOptions(c.Mode))
	}
}

// reasoners are the names of models that reason, as OpenAI gives them. Others
// refuse a request for their encrypted reasoning.
var reasoners = regexp.MustCompile(`^(ft:)?(o[1-9]|gpt-([5-9]|[1-9][0-9])(-|\.|$))`)

// chats are models named like those that reason, but which do not.
var chats = regexp.MustCompile(`-chat(-|:|$)`)

// include lists what answers are to contain beyond what they always do: the
// encrypted reasoning, which keep or else the model's name decides on, and what
// the provider's own tools returned.
func include(keep *bool, effort string, req *agent.ModelRequest) []sdk.ResponseIncludable {
	var out []sdk.ResponseIncludable
	reasons := reasoners.MatchString(req.Model) && !chats.MatchString(req.Model)
	if effort != "" {
		reasons = effort != "none"
	}
	if keep != nil {
		reasons = *keep
	}
	if reasons {
		out = append(out, sdk.ResponseIncludableReasoningEncryptedContent)
	}
	for kind, output := range map[string]sdk.ResponseIncludable{
		"code_interpreter": sdk.ResponseIncludableCodeInterpreterCallOutputs,
		"file_search":      sdk.ResponseIncludableFileSearchCallResults,
	} {
		if slices.ContainsFunc(req.ProviderTools, func(t agent.ProviderTool) bool { return t.Type() == kind }) {
			out = append(out, output)
		}
	}
	slices.Sort(out)
	return out
}
