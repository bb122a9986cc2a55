package anthropic

import (
	"context"
	"encoding/json"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/respjson"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// answer is a model's answer, streamed or not.
type answer struct {
	blocks []*block // In order.
	stop   sdk.StopReason
	usage  agent.Usage
	waited time.Duration // For the provider's rate limits.
}

func (a *answer) add(b *block) { a.blocks = append(a.blocks, b) }

// goOn appends the answer that continues after a pause.
func (a *answer) goOn(more *answer) {
	a.blocks, a.stop = append(a.blocks, more.blocks...), more.stop
	a.waited += more.waited
	a.usage.InputTokens += more.usage.InputTokens
	a.usage.OutputTokens += more.usage.OutputTokens
	a.usage.CachedInputTokens += more.usage.CachedInputTokens
	a.usage.ReasoningTokens += more.usage.ReasoningTokens
}

// whole requests an answer without streaming.
func whole(
	ctx context.Context, s *sdk.MessageService, params sdk.MessageNewParams, x *remote.Exchange,
) (*answer, error) {
	message, err := s.New(ctx, params)
	if err != nil {
		return nil, x.Failure(ctx, err)
	}
	return read(message, x)
}

func read(message *sdk.Message, x *remote.Exchange) (*answer, error) {
	if message == nil || !message.JSON.Content.Valid() || !message.JSON.StopReason.Valid() {
		return nil, x.Garbled("it does not have the documented shape of a message")
	}
	out := &answer{stop: message.StopReason, usage: usage(message.Usage)}
	for _, b := range message.Content {
		made := newBlock(b.Type, b.ID, b.Name, b.RawJSON())
		switch {
		case made == nil, made.kind == textBlock && !b.JSON.Text.Valid():
			return nil, x.Garbled("a block in it does not have the documented shape")
		case made.kind == textBlock:
			made.text.WriteString(b.Text)
		case made.kind == callBlock:
			made.text.WriteString(b.JSON.Input.Raw())
		}
		if made.kind != otherBlock {
			out.add(made)
		}
	}
	return out, nil
}

// wrong reports whether a member is present with another type than documented.
func wrong(f respjson.Field) bool { return f.Raw() != "" && f.Raw() != "null" && !f.Valid() }

// usage adds up the input tokens, including those read from and written to the
// cache: the API reports them separately.
func usage(u sdk.Usage) agent.Usage {
	cached := remote.Tokens(u.CacheReadInputTokens)
	return agent.Usage{
		InputTokens:  remote.Tokens(u.InputTokens) + cached + remote.Tokens(u.CacheCreationInputTokens),
		OutputTokens: remote.Tokens(u.OutputTokens), CachedInputTokens: cached,
		ReasoningTokens: remote.Tokens(u.OutputTokensDetails.ThinkingTokens),
	}
}

// response returns the answer according to its stop reason. An undocumented
// reason counts as truncation, so that an incomplete call is never made.
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
		switch b.kind {
		case textBlock:
			out.Text += b.text.String()
		case callBlock:
			out.Calls = append(out.Calls, agent.Call{
				ID: b.id, Name: names.Ours(b.name), Arguments: remote.ReadArguments(b.text.String()),
			})
		case toolBlock, thoughtBlock, otherBlock:
		}
	}
	out.Content = a.content(x.Provider())
	if a.stop == sdk.StopReasonToolUse && len(out.Calls) == 0 {
		return nil, x.Garbled("its stop reason is tool calls, but it has none")
	}
	remote.CallIDs(turn, out.Calls)
	if out.Truncated && out.Text == "" && len(out.Calls) == 0 {
		return nil, x.NothingSaid()
	}
	return out, nil
}

// content returns the answer's text and the uses and results of the provider's
// tools, in order; nil if they were not used.
func (a *answer) content(provider string) []tool.Content {
	open := a.unanswered()
	var out []tool.Content
	tools := false
	for _, b := range a.blocks {
		last := len(out) - 1
		switch {
		case b.kind == textBlock && b.text.Len() == 0:
		case b.kind == textBlock && last >= 0 && out[last].Type == tool.ContentText:
			out[last].Text += b.text.String() // Split into pieces by what they cite.
		case b.kind == textBlock:
			out = append(out, tool.Text(b.text.String()))
		case b.kind == toolBlock && !open[b]:
			out, tools = append(out, agent.ProviderBlock(provider, b.whole())), true
		}
	}
	if !tools {
		return nil
	}
	return out
}

// unanswered returns the uses of the provider's tools without results: the API
// refuses such blocks in a request, except beside calls of our tools.
func (a *answer) unanswered() map[*block]bool {
	open := make(map[*block]bool)
	if a.stop == sdk.StopReasonToolUse {
		return open
	}
	byID := make(map[string]*block)
	for _, b := range a.blocks {
		if b.kind != toolBlock {
			continue
		}
		var of struct {
			ID string `json:"tool_use_id"`
		}
		_ = json.Unmarshal(b.raw, &of) // It was read as an object.
		switch {
		case of.ID != "":
			delete(open, byID[of.ID])
		case b.id != "":
			byID[b.id], open[b] = b, true
		}
	}
	return open
}
