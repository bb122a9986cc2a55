package openai

import (
	"encoding/base64"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

func (m *Model) params(req *agent.ModelRequest, names *remote.Names) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{Model: req.Model, Messages: messages(req, names)}
	for _, t := range req.ProviderTools {
		params.Tools = append(params.Tools, param.Override[sdk.ChatCompletionToolUnionParam](t.Tool))
	}
	for _, t := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: names.Wire(t.Name), Parameters: remote.ProjectSchema(t.InputSchema)}
		if t.Description != "" {
			f.Description = sdk.String(t.Description)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	return params, m.options(&params, req, names)
}

func messages(req *agent.ModelRequest, names *remote.Names) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	if req.Instructions != "" {
		out = append(out, sdk.SystemMessage(req.Instructions))
	}
	for _, e := range remote.ReadTranscript(req.Messages) {
		switch e.Role {
		case agent.RoleSystem:
			out = append(out, sdk.SystemMessage(remote.Texts(e.Content)))
		case agent.RoleUser:
			out = append(out, user(e.Content))
		case agent.RoleAssistant:
			out = append(out, assistant(e, names)...)
		case agent.RoleTool: // ReadTranscript has joined it with its call.
		}
	}
	return out
}

// user returns images as images, and everything else as text.
func user(content []tool.Content) sdk.ChatCompletionMessageParamUnion {
	if !slices.ContainsFunc(content, remote.IsImage) {
		return sdk.UserMessage(remote.Texts(content))
	}
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, c := range content {
		if remote.IsImage(c) {
			parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
				URL: "data:" + c.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(c.Data),
			}))
		} else if text := remote.Describe(c); text != "" {
			parts = append(parts, sdk.TextContentPart(text))
		}
	}
	return sdk.UserMessage(parts)
}

// assistant returns a message with its calls, and a tool message for each. An
// empty one is left out.
func assistant(e remote.Entry, names *remote.Names) []sdk.ChatCompletionMessageParamUnion {
	var said sdk.ChatCompletionAssistantMessageParam
	text := remote.Texts(e.Content)
	if text == "" && len(e.Calls) == 0 {
		return nil
	}
	if text != "" {
		said.Content.OfString = sdk.String(text)
	}
	out := []sdk.ChatCompletionMessageParamUnion{{OfAssistant: &said}}
	for _, c := range e.Calls {
		said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: names.Wire(c.Call.Name), Arguments: string(remote.WriteArguments(c.Call.Arguments)),
				},
			},
		})
		out = append(out, sdk.ToolMessage(answerText(c), c.ID))
	}
	return out
}

// answerText is the text of a tool's answer. The API has no flag for errors, so
// they are described in the text.
func answerText(c remote.AnsweredCall) string {
	text := remote.Texts(c.Content)
	if c.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "Error: " + text
	}
	return text
}
