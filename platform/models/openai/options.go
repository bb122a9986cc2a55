package openai

import (
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/toolcrib/toolcrib/platform/models/remote"
)

const maxStops = 4

// options reads the agent's model options into params.
func (m *Model) options(
	o *remote.Options, params *sdk.ChatCompletionNewParams, tools []remote.ProjectedTool, names *remote.Names,
) error {
	o.API()
	if v := o.Float("temperature", 0, 2); v != nil {
		params.Temperature = sdk.Float(*v)
	}
	if v := o.Float("top_p", 0, 1); v != nil {
		params.TopP = sdk.Float(*v)
	}
	if v := o.Float("frequency_penalty", -2, 2); v != nil {
		params.FrequencyPenalty = sdk.Float(*v)
	}
	if v := o.Float("presence_penalty", -2, 2); v != nil {
		params.PresencePenalty = sdk.Float(*v)
	}
	if v := o.Int("seed", -1<<63); v != nil {
		params.Seed = sdk.Int(*v)
	}
	if v := o.Int("max_tokens", 1); v != nil {
		m.limit(params, *v)
	}
	params.Stop.OfStringArray = o.Texts("stop", maxStops)
	params.ReasoningEffort = shared.ReasoningEffort(o.Word("reasoning_effort", "none", "minimal", "low", "medium", "high",
		"xhigh"))
	params.Verbosity = sdk.ChatCompletionNewParamsVerbosity(o.Word("verbosity", "low", "medium", "high"))
	params.ServiceTier = sdk.ChatCompletionNewParamsServiceTier(o.Word("service_tier", "auto", "default", "flex", "scale",
		"priority"))
	parallel, choice := o.Bool("parallel_tool_calls"), o.Choice(remote.ToolNames(tools))
	if len(params.Tools) > 0 { // The API refuses both without tools.
		if parallel != nil {
			params.ParallelToolCalls = sdk.Bool(*parallel)
		}
		choose(params, choice, names)
	}
	return o.Err()
}

// limit bounds the answer. OpenAI's reasoning models support the newer name only,
// most other servers only the older one.
func (m *Model) limit(params *sdk.ChatCompletionNewParams, tokens int64) {
	if host := m.endpoint.Host(); host == "openai.com" || strings.HasSuffix(host, ".openai.com") ||
		strings.HasSuffix(host, ".openai.azure.com") {
		params.MaxCompletionTokens = sdk.Int(tokens)
		return
	}
	params.MaxTokens = sdk.Int(tokens)
}

func choose(params *sdk.ChatCompletionNewParams, c remote.Choice, names *remote.Names) {
	switch {
	case c.Tool != "":
		params.ToolChoice = sdk.ToolChoiceOptionFunctionToolChoice(sdk.ChatCompletionNamedToolChoiceFunctionParam{
			Name: names.Wire(c.Tool),
		})
	case c.Mode != "":
		params.ToolChoice.OfAuto = sdk.String(c.Mode)
	}
}
