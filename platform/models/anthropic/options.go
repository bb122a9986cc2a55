package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

const (
	// defaultMaxTokens bounds answers of agents that set no limit; the API
	// requires one.
	defaultMaxTokens = 8192
	minThinking      = 1024
	maxStops         = 16
)

// options reads the agent's model options into params.
func (m *Model) options(
	params *sdk.MessageNewParams, req *agent.ModelRequest, tools []remote.ProjectedTool, names *remote.Names,
) error {
	o := remote.ReadOptions(m.provider, req.Options)
	params.MaxTokens = defaultMaxTokens
	if v := o.Int("max_tokens", 1); v != nil {
		params.MaxTokens = *v
	}
	if v := o.Float("temperature", 0, 1); v != nil {
		params.Temperature = sdk.Float(*v)
	}
	if v := o.Float("top_p", 0, 1); v != nil {
		params.TopP = sdk.Float(*v)
	}
	if v := o.Int("top_k", 0); v != nil {
		params.TopK = sdk.Int(*v)
	}
	params.StopSequences = o.Texts("stop", maxStops)
	params.OutputConfig.Effort = sdk.OutputConfigEffort(o.Word("reasoning_effort", "low", "medium", "high", "xhigh",
		"max"))
	params.ServiceTier = sdk.MessageNewParamsServiceTier(o.Word("service_tier", "auto", "standard_only"))
	if budget := o.Int("thinking_budget", minThinking); budget != nil && mayThink(req.Messages) {
		params.Thinking = sdk.ThinkingConfigParamOfEnabled(*budget)
		params.MaxTokens = max(params.MaxTokens, *budget+minThinking)
	}
	if v := o.Bool("prompt_cache"); v == nil || *v {
		cacheable(params)
	}
	parallel, choice := o.Bool("parallel_tool_calls"), o.Choice(remote.ToolNames(tools))
	if len(params.Tools) > 0 { // The API refuses a choice without tools.
		choose(params, choice, parallel, names)
	}
	return o.Err()
}

// mayThink reports whether the model may think before this turn's answer. A
// model that thought before it called a tool must be sent its thoughts when it
// continues, and transcripts do not keep them. So it thinks only directly after
// a message of the user.
func mayThink(messages []agent.Message) bool {
	return len(messages) == 0 || messages[len(messages)-1].Role == agent.RoleUser
}

func choose(params *sdk.MessageNewParams, c remote.Choice, parallel *bool, names *remote.Names) {
	one := sdk.Bool(true)
	if parallel == nil || *parallel {
		one = sdk.ToolChoiceAutoParam{}.DisableParallelToolUse // Unset.
	}
	switch {
	case c.Tool != "":
		params.ToolChoice.OfTool = &sdk.ToolChoiceToolParam{Name: names.Wire(c.Tool), DisableParallelToolUse: one}
	case c.Mode == "required":
		params.ToolChoice.OfAny = &sdk.ToolChoiceAnyParam{DisableParallelToolUse: one}
	case c.Mode == "none":
		params.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{}
	case c.Mode == "auto" || parallel != nil:
		params.ToolChoice.OfAuto = &sdk.ToolChoiceAutoParam{DisableParallelToolUse: one}
	}
}
