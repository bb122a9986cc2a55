package responses

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// params returns a request to the API, and the tools that it can't describe.
func (m *Model) params(
	req *agent.ModelRequest, names *remote.Names,
) (sdk.ResponseNewParams, []agent.OmittedTool, error) {
	params := sdk.ResponseNewParams{Model: req.Model, Store: param.NewOpt(false)}
	params.Input.OfInputItemList = m.input(req, names)
	if req.Instructions != "" {
		params.Instructions = param.NewOpt(req.Instructions)
	}
	for _, t := range req.ProviderTools {
		params.Tools = append(params.Tools, param.Override[sdk.ToolUnionParam](t.Tool))
	}
	tools, omitted := remote.ProjectTools(req.Tools, project.OpenAI)
	o := remote.ReadOptions(m.provider, req.Options)
	strict := o.Bool("strict_tools")
	for _, t := range tools {
		// Without the member, the API makes functions strict.
		f := &sdk.FunctionToolParam{Name: names.Wire(t.Name), Parameters: t.Schema, Strict: param.NewOpt(false)}
		if schema, ok := t.Strict(strict); ok {
			f.Parameters, f.Strict = schema, param.NewOpt(true)
		}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfFunction: f})
	}
	return params, omitted, options(o, &params, req, tools, names)
}

// input returns the transcript. Reasoning before the last message of the user is
// left out: the API does not use it.
func (m *Model) input(req *agent.ModelRequest, names *remote.Names) []sdk.ResponseInputItemUnionParam {
	entries := remote.ReadTranscript(req.Messages)
	asked := -1
	for i, e := range entries {
		if e.Role == agent.RoleUser {
			asked = i
		}
	}
	var out []sdk.ResponseInputItemUnionParam
	for i, e := range entries {
		switch e.Role {
		case agent.RoleSystem:
			out = append(out, message(remote.Texts(e.Content), sdk.EasyInputMessageRoleSystem))
		case agent.RoleUser:
			out = append(out, user(e.Content))
		case agent.RoleAssistant:
			out = append(out, m.said(e.Content, i > asked)...)
			out = append(out, calls(e, names)...)
		case agent.RoleTool: // ReadTranscript has joined it with its call.
		}
	}
	return out
}

func message(text string, role sdk.EasyInputMessageRole) sdk.ResponseInputItemUnionParam {
	return sdk.ResponseInputItemParamOfMessage(text, role)
}

// user returns images as images, and everything else as text.
func user(content []tool.Content) sdk.ResponseInputItemUnionParam {
	if !slices.ContainsFunc(content, remote.IsImage) {
		return message(remote.Texts(content), sdk.EasyInputMessageRoleUser)
	}
	var parts sdk.ResponseInputMessageContentListParam
	for _, c := range content {
		if remote.IsImage(c) {
			parts = append(parts, sdk.ResponseInputContentUnionParam{OfInputImage: &sdk.ResponseInputImageParam{
				Detail: sdk.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(dataURL(c)),
			}})
		} else if text := remote.Describe(c); text != "" {
			parts = append(parts, sdk.ResponseInputContentParamOfInputText(text))
		}
	}
	return sdk.ResponseInputItemParamOfMessage(parts, sdk.EasyInputMessageRoleUser)
}

func dataURL(c tool.Content) string {
	return "data:" + c.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(c.Data)
}

// said returns an assistant's text, and the items of what its provider did, in
// order. Empty text is left out.
func (m *Model) said(content []tool.Content, reasoning bool) []sdk.ResponseInputItemUnionParam {
	var out []sdk.ResponseInputItemUnionParam
	var texts []tool.Content
	flush := func() {
		if text := remote.Texts(texts); text != "" {
			out = append(out, message(text, sdk.EasyInputMessageRoleAssistant))
		}
		texts = nil
	}
	for _, c := range content {
		if provider, ok := agent.BlockProvider(c); !ok || provider != m.provider {
			texts = append(texts, c)
			continue
		}
		if reasoning || kindOf(c.JSON) != reasoningItem {
			flush()
			out = append(out, param.Override[sdk.ResponseInputItemUnionParam](c.JSON))
		}
	}
	flush()
	return out
}

// kindOf returns the type of an item.
func kindOf(raw json.RawMessage) string {
	var item struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &item) // Without a type, it is of none.
	return item.Type
}

// calls returns the calls of a message, each followed by its answer.
func calls(e remote.Entry, names *remote.Names) []sdk.ResponseInputItemUnionParam {
	var made, answers []sdk.ResponseInputItemUnionParam
	for _, c := range e.Calls {
		made = append(made, sdk.ResponseInputItemParamOfFunctionCall(
			string(remote.WriteArguments(c.Call.Arguments)), c.ID, names.Wire(c.Call.Name),
		))
		answers = append(answers, answered(c))
	}
	return append(made, answers...)
}

// answered returns a tool's answer, with images where it has some. The API has no
// flag for errors, so they are described in the text.
func answered(c remote.AnsweredCall) sdk.ResponseInputItemUnionParam {
	text := remote.Texts(c.Content)
	if c.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "Error: " + text
	}
	if c.IsError || !slices.ContainsFunc(c.Content, remote.IsImage) {
		return sdk.ResponseInputItemParamOfFunctionCallOutput(c.ID, text)
	}
	var parts sdk.ResponseFunctionCallOutputItemListParam
	for _, block := range c.Content {
		if remote.IsImage(block) {
			parts = append(parts, sdk.ResponseFunctionCallOutputItemUnionParam{
				OfInputImage: &sdk.ResponseInputImageContentParam{ImageURL: param.NewOpt(dataURL(block))},
			})
		} else if text := remote.Describe(block); text != "" {
			parts = append(parts, sdk.ResponseFunctionCallOutputItemUnionParam{
				OfInputText: &sdk.ResponseInputTextContentParam{Text: text},
			})
		}
	}
	return sdk.ResponseInputItemParamOfFunctionCallOutput(c.ID, parts)
}
