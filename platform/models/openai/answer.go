package openai

import (
	"context"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// answer is a model's answer, streamed or not.
type answer struct {
	text, refusal strings.Builder
	calls         []*call
	finish        string
	usage         agent.Usage
}

type call struct {
	id        string
	name      string
	arguments strings.Builder
}

// whole requests an answer without streaming.
func whole(
	ctx context.Context, s *sdk.ChatCompletionService, params sdk.ChatCompletionNewParams, x *remote.Exchange,
) (*answer, error) {
	completion, err := s.New(ctx, params)
	if err != nil {
		return nil, x.Failure(ctx, err)
	}
	return read(completion, x)
}

func read(completion *sdk.ChatCompletion, x *remote.Exchange) (*answer, error) {
	if completion != nil {
		if failed := completion.JSON.ExtraFields["error"]; strings.HasPrefix(failed.Raw(), "{") {
			return nil, x.Event([]byte(`{"error":` + failed.Raw() + `}`)) // Some gateways return errors with status 200.
		}
	}
	if completion == nil || wrong(completion.JSON.Choices) || len(completion.Choices) == 0 {
		return nil, x.Garbled("it has no choices")
	}
	choice := completion.Choices[0]
	said := choice.Message
	if !strings.HasPrefix(choice.JSON.Message.Raw(), "{") || wrong(said.JSON.Content) || wrong(said.JSON.ToolCalls) ||
		wrong(choice.JSON.FinishReason) {
		return nil, x.Garbled("its message does not have the documented shape")
	}
	out := &answer{finish: choice.FinishReason, usage: usage(completion.Usage)}
	out.text.WriteString(said.Content)
	out.refusal.WriteString(said.Refusal)
	for _, c := range said.ToolCalls {
		f := c.Function
		made := &call{id: c.ID, name: f.Name}
		if wrong(f.JSON.Arguments) { // An object instead of a text, from some servers.
			made.arguments.WriteString(f.JSON.Arguments.Raw())
		} else {
			made.arguments.WriteString(f.Arguments)
		}
		out.calls = append(out.calls, made)
	}
	return out, nil
}

// wrong reports whether a member is present with another type than documented.
func wrong(f respjson.Field) bool { return f.Raw() != "" && f.Raw() != "null" && !f.Valid() }

func usage(u sdk.CompletionUsage) agent.Usage {
	return agent.Usage{
		InputTokens: remote.Tokens(u.PromptTokens), OutputTokens: remote.Tokens(u.CompletionTokens),
		CachedInputTokens: remote.Tokens(u.PromptTokensDetails.CachedTokens),
		ReasoningTokens:   remote.Tokens(u.CompletionTokensDetails.ReasoningTokens),
	}
}

// response returns the answer according to its stop reason. An undocumented
// reason counts as truncation, so that an incomplete call is never made.
func (a *answer) response(turn int, names *remote.Names, x *remote.Exchange) (*agent.ModelResponse, error) {
	out := &agent.ModelResponse{Text: a.text.String() + a.refusal.String(), Usage: a.usage}
	switch a.finish {
	case "stop", "tool_calls", "function_call", "": // Some servers give no reason.
	case "content_filter":
		return nil, x.Filtered()
	default:
		out.Truncated = true
	}
	for _, c := range a.calls {
		if c.name == "" {
			return nil, x.Garbled("a tool call in it names no function")
		}
		out.Calls = append(out.Calls, agent.Call{
			ID: c.id, Name: names.Ours(c.name), Arguments: remote.ReadArguments(c.arguments.String()),
		})
	}
	if a.finish == "tool_calls" && len(out.Calls) == 0 {
		return nil, x.Garbled("its stop reason is tool calls, but it has none")
	}
	remote.CallIDs(turn, out.Calls)
	if out.Truncated && out.Text == "" && len(out.Calls) == 0 {
		return nil, x.NothingSaid()
	}
	return out, nil
}
