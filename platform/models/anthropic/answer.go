package anthropic

import (
	"context"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/respjson"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// answer is what a model said, however it came.
type answer struct {
	blocks []*block // Texts and calls, in order.
	stop   sdk.StopReason
	usage  agent.Usage
}

// block is a text, or a call when it has a name.
type block struct {
	id, name string
	text     strings.Builder // Of a call: its arguments.
}

func (a *answer) add(id, name string) *block {
	b := &block{id: id, name: name}
	a.blocks = append(a.blocks, b)
	return b
}

// whole asks for an answer in one piece.
func whole(ctx context.Context, s *sdk.MessageService, params sdk.MessageNewParams, x *remote.Exchange) (*answer, error) {
	message, err := s.New(ctx, params)
	if err != nil {
		return nil, x.Failure(ctx, err)
	}
	return read(message, x)
}

func read(message *sdk.Message, x *remote.Exchange) (*answer, error) {
	if message == nil || !message.JSON.Content.Valid() || !message.JSON.StopReason.Valid() {
		return nil, x.Garbled("it is no message of the documented shape")
	}
	out := &answer{stop: message.StopReason, usage: usage(message.Usage)}
	for _, b := range message.Content {
		switch {
		case b.Type == "text" && b.JSON.Text.Valid():
			out.add("", "").text.WriteString(b.Text)
		case b.Type == "tool_use" && b.Name != "":
			out.add(b.ID, b.Name).text.WriteString(b.JSON.Input.Raw())
		case b.Type == "text" || b.Type == "tool_use" || b.Type == "":
			return nil, x.Garbled("a block in it is not of the documented shape")
		} // Thoughts, and blocks of a later day, are not for us.
	}
	return out, nil
}

// wrong reports whether a member is there and of another type than documented.
func wrong(f respjson.Field) bool { return f.Raw() != "" && f.Raw() != "null" && !f.Valid() }

// usage counts what came from and went to the cache with the input: the API
// tells them apart.
func usage(u sdk.Usage) agent.Usage {
	cached := remote.Tokens(u.CacheReadInputTokens)
	return agent.Usage{
		InputTokens:  remote.Tokens(u.InputTokens) + cached + remote.Tokens(u.CacheCreationInputTokens),
		OutputTokens: remote.Tokens(u.OutputTokens), CachedInputTokens: cached,
		ReasoningTokens: remote.Tokens(u.OutputTokensDetails.ThinkingTokens),
	}
}

// response judges how the answer ended. A reason that is not documented counts
// as a cut, so that a call which may be half of one is not made.
func (a *answer) response(turn int, names *remote.Names, x *remote.Exchange) (*agent.ModelResponse, error) {
	out := &agent.ModelResponse{Usage: a.usage}
	switch a.stop {
	case sdk.StopReasonEndTurn, sdk.StopReasonToolUse, sdk.StopReasonStopSequence:
	case sdk.StopReasonRefusal:
		return nil, x.Filtered()
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded, sdk.StopReasonPauseTurn:
		out.Truncated = true
	default:
		out.Truncated = true
	}
	for _, b := range a.blocks {
		if b.name == "" {
			out.Text += b.text.String()
			continue
		}
		out.Calls = append(out.Calls, agent.Call{ID: b.id, Name: names.Ours(b.name), Arguments: remote.ReadArguments(b.text.String())})
	}
	if a.stop == sdk.StopReasonToolUse && len(out.Calls) == 0 {
		return nil, x.Garbled("it ends with calls and has none")
	}
	remote.CallIDs(turn, out.Calls)
	if out.Truncated && out.Text == "" && len(out.Calls) == 0 {
		return nil, x.NothingSaid()
	}
	return out, nil
}
