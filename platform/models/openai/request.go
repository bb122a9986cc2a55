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
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// params returns a request to the API, and the tools that it can't describe.
func (m *Model) params(
	req *agent.ModelRequest, names *remote.Names,
) (sdk.ChatCompletionNewParams, []agent.OmittedTool, error) {
	params := sdk.ChatCompletionNewParams{Model: req.Model, Messages: messages(req, names)}
	for _, t := range req.ProviderTools {
		params.Tools = append(params.Tools, param.Override[sdk.ChatCompletionToolUnionParam](t.Tool))
	}
	tools, omitted := remote.ProjectTools(req.Tools, m.dialect())
	o := remote.ReadOptions(m.provider, req.Options)
	strict := o.Bool("strict_tools")
	for _, t := range tools {
		f := shared.FunctionDefinitionParam{Name: names.Wire(t.Name), Parameters: t.Schema}
		if schema, ok := t.Strict(strict); ok {
			f.Parameters, f.Strict = schema, sdk.Bool(true)
		}
		if t.Description != "" {
			f.Description = sdk.String(t.Description)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	return params, omitted, m.options(o, &params, tools, names)
}

// dialect returns the JSON Schema that the server knows.
func (m *Model) dialect() project.Dialect {
	if host := m.endpoint.Host(); strings.HasSuffix(host, ".googleapis.com") {
		return project.Gemini
	}
	return project.OpenAI
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
