package anthropic

import (
	"encoding/base64"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// params returns a request to the API, and the tools that it can't describe.
func (m *Model) params(
	req *agent.ModelRequest, names *remote.Names,
) (sdk.MessageNewParams, []agent.OmittedTool, error) {
	params := sdk.MessageNewParams{Model: req.Model}
	if req.Instructions != "" {
		params.System = append(params.System, sdk.TextBlockParam{Text: req.Instructions})
	}
	for _, e := range remote.ReadTranscript(req.Messages) {
		switch e.Role {
		case agent.RoleSystem:
			if text := remote.Texts(e.Content); text != "" {
				params.System = append(params.System, sdk.TextBlockParam{Text: text})
			}
		case agent.RoleUser:
			params.Messages = append(params.Messages, user(e.Content))
		case agent.RoleAssistant:
			params.Messages = append(params.Messages, m.assistant(e, names)...)
		case agent.RoleTool: // ReadTranscript has joined it with its call.
		}
	}
	for _, t := range req.ProviderTools {
		params.Tools = append(params.Tools, param.Override[sdk.ToolUnionParam](t.Tool))
	}
	tools, omitted := remote.ProjectTools(req.Tools, project.Anthropic)
	marks := maxToolMarks
	for _, t := range tools {
		made := toolParam(t, names.Wire(t.Name))
		if made.CacheControl.Type != "" {
			if marks--; marks < 0 {
				made.CacheControl = sdk.CacheControlEphemeralParam{}
			}
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: made})
	}
	return params, omitted, m.options(&params, req, tools, names)
}

// maxToolMarks is how many tools may be marked as ends of a cached prefix, beside
// the last one and the instructions: the API takes four marks.
const maxToolMarks = 2

func toolParam(t remote.ProjectedTool, name string) *sdk.ToolParam {
	out := &sdk.ToolParam{
		Name: name, InputSchema: sdk.ToolInputSchemaParam{ExtraFields: t.Schema},
	}
	if t.Description != "" {
		out.Description = sdk.String(t.Description)
	}
	if t.Options == nil {
		return out
	}
	if c := t.Options.Anthropic.CacheControl; c != nil {
		out.CacheControl = sdk.NewCacheControlEphemeralParam()
		out.CacheControl.TTL = sdk.CacheControlEphemeralTTL(c.TTL)
	}
	if eager := t.Options.Anthropic.EagerInputStreaming; eager != nil {
		out.EagerInputStreaming = sdk.Bool(*eager)
	}
	return out
}

// cacheable marks the end of the prefix that is the same for all turns, so that
// the provider caches it: the tools, then the instructions.
func cacheable(params *sdk.MessageNewParams) {
	if n := len(params.Tools); n > 0 {
		if last := params.Tools[n-1].OfTool; last != nil && last.CacheControl.Type == "" {
			last.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
	}
	if len(params.System) > 0 {
		params.System[0].CacheControl = sdk.NewCacheControlEphemeralParam()
	}
}

// noText is sent where the API requires a text and there is none.
const noText = "(empty)"

func user(content []tool.Content) sdk.MessageParam {
	var blocks []sdk.ContentBlockParamUnion
	for _, c := range content {
		if remote.IsImage(c) {
			blocks = append(blocks, sdk.NewImageBlockBase64(c.MIMEType, base64.StdEncoding.EncodeToString(c.Data)))
		} else if text := remote.Describe(c); strings.TrimSpace(text) != "" {
			blocks = append(blocks, sdk.NewTextBlock(text))
		}
	}
	if len(blocks) == 0 {
		blocks = append(blocks, sdk.NewTextBlock(noText))
	}
	return sdk.NewUserMessage(blocks...)
}

// assistant returns a message with its calls, and the message with all their
// answers. An empty one is left out: the API refuses it.
func (m *Model) assistant(e remote.Entry, names *remote.Names) []sdk.MessageParam {
	var answers []sdk.ContentBlockParamUnion
	said := m.said(e.Content)
	for _, c := range e.Calls {
		said = append(said, sdk.NewToolUseBlock(c.ID, remote.WriteArguments(c.Call.Arguments), names.Wire(c.Call.Name)))
		answers = append(answers, toolResult(c))
	}
	var out []sdk.MessageParam
	if len(said) > 0 {
		out = append(out, sdk.NewAssistantMessage(said...))
	}
	if len(answers) > 0 {
		out = append(out, sdk.NewUserMessage(answers...))
	}
	return out
}

// said returns an assistant's text, and the uses and results of the provider's own
// tools, in order.
func (m *Model) said(content []tool.Content) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	var texts []tool.Content
	flush := func() {
		if text := remote.Texts(texts); strings.TrimSpace(text) != "" {
			out = append(out, sdk.NewTextBlock(text))
		}
		texts = nil
	}
	for _, c := range content {
		if provider, ok := agent.BlockProvider(c); !ok || provider != m.provider {
			texts = append(texts, c)
			continue
		}
		flush()
		out = append(out, rawBlock(c.JSON))
	}
	flush()
	return out
}

func toolResult(c remote.AnsweredCall) sdk.ContentBlockParamUnion {
	out := sdk.ToolResultBlockParam{ToolUseID: c.ID}
	if c.IsError {
		out.IsError = sdk.Bool(true)
	}
	for _, block := range c.Content {
		if remote.IsImage(block) && !c.IsError { // Errors are texts only.
			image := sdk.NewImageBlockBase64(block.MIMEType, base64.StdEncoding.EncodeToString(block.Data))
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
		} else if text := remote.Describe(block); strings.TrimSpace(text) != "" {
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: text}})
		}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &out}
}
