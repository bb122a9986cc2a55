package responses

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/packages/respjson"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// Types of items of an answer. Any other is what the provider did.
const (
	messageItem   = "message"
	callItem      = "function_call"
	reasoningItem = "reasoning"
)

// answer is a model's answer, streamed or not.
type answer struct {
	items  []item // In order.
	status sdk.ResponseStatus
	reason string // Why it is incomplete.
	usage  agent.Usage
}

// item is a piece of an answer.
type item struct {
	kind      string
	text      string // Of a message, with its refusal.
	id, name  string // Of a call.
	arguments string // Of a call, verbatim.
	raw       json.RawMessage
}

// whole requests an answer without streaming.
func whole(
	ctx context.Context, s *sdk.ResponseService, params sdk.ResponseNewParams, x *remote.Exchange,
) (*answer, error) {
	said, err := s.New(ctx, params)
	if err != nil {
		return nil, x.Failure(ctx, err)
	}
	return read(said, nil, x)
}

// read reads an answer. Some servers end a stream with an answer without items:
// those of its events take their place.
func read(said *sdk.Response, told []sdk.ResponseOutputItemUnion, x *remote.Exchange) (*answer, error) {
	if said != nil && strings.HasPrefix(said.JSON.Error.Raw(), "{") {
		return nil, x.Event([]byte(`{"error":` + said.JSON.Error.Raw() + `}`)) // With status 200.
	}
	if said == nil || !said.JSON.Status.Valid() || !said.JSON.Output.Valid() {
		return nil, x.Garbled("it does not have the documented shape of a response")
	}
	out := &answer{status: said.Status, reason: said.IncompleteDetails.Reason, usage: usage(said.Usage)}
	output := said.Output
	if len(output) == 0 {
		output = told
	}
	for _, o := range output {
		made, ok := readItem(o)
		if !ok {
			return nil, x.Garbled("an item of it does not have the documented shape")
		}
		out.items = append(out.items, made)
	}
	return out, nil
}

func readItem(o sdk.ResponseOutputItemUnion) (item, bool) {
	made := item{kind: o.Type, raw: json.RawMessage(o.RawJSON())}
	switch {
	case !o.JSON.Type.Valid() || !strings.HasPrefix(o.RawJSON(), "{"):
		return item{}, false
	case o.Type == callItem:
		made.id, made.name, made.arguments = o.CallID, o.Name, o.Arguments.OfString
		if raw := o.JSON.Arguments.Raw(); made.arguments == "" && strings.HasPrefix(raw, "{") {
			made.arguments = raw // An object instead of a text, from some servers.
		}
		return made, made.name != ""
	case o.Type != messageItem:
		return made, true
	case wrong(o.JSON.Content):
		return item{}, false
	}
	for _, part := range o.Content {
		if wrong(part.JSON.Text) || wrong(part.JSON.Refusal) || part.Type == "" {
			return item{}, false
		}
		made.text += part.Text + part.Refusal
	}
	return made, true
}

// wrong reports whether a member is present with another type than documented.
func wrong(f respjson.Field) bool { return f.Raw() != "" && f.Raw() != "null" && !f.Valid() }

func usage(u sdk.ResponseUsage) agent.Usage {
	return agent.Usage{
		InputTokens: remote.Tokens(u.InputTokens), OutputTokens: remote.Tokens(u.OutputTokens),
		CachedInputTokens: remote.Tokens(u.InputTokensDetails.CachedTokens),
		ReasoningTokens:   remote.Tokens(u.OutputTokensDetails.ReasoningTokens),
	}
}

// response returns the answer according to its status. An undocumented status
// counts as truncation, so that an incomplete call is never made.
func (a *answer) response(turn int, names *remote.Names, x *remote.Exchange) (*agent.ModelResponse, error) {
	out := &agent.ModelResponse{Usage: a.usage, Truncated: a.status != sdk.ResponseStatusCompleted}
	if a.status == sdk.ResponseStatusIncomplete && a.reason == "content_filter" {
		return nil, x.Filtered()
	}
	for _, i := range a.items {
		switch i.kind {
		case messageItem:
			out.Text += i.text
		case callItem:
			out.Calls = append(out.Calls, agent.Call{
				ID: i.id, Name: names.Ours(i.name), Arguments: remote.ReadArguments(i.arguments),
			})
		}
	}
	out.Content = a.content(x.Provider(), out.Truncated)
	remote.CallIDs(turn, out.Calls)
	if out.Truncated && out.Text == "" && len(out.Calls) == 0 {
		return nil, x.NothingSaid()
	}
	return out, nil
}

// content returns the answer's text and what the provider did, in order; nil if
// that is nothing. Items that may be incomplete, and reasoning that can't be
// shown to the provider again, are left out.
func (a *answer) content(provider string, truncated bool) []tool.Content {
	var out []tool.Content
	did := false
	for n, i := range a.items {
		last := len(out) - 1
		switch {
		case i.kind == callItem:
		case i.kind == messageItem && i.text == "":
		case i.kind == messageItem && last >= 0 && out[last].Type == tool.ContentText:
			out[last].Text += i.text
		case i.kind == messageItem:
			out = append(out, tool.Text(i.text))
		case truncated && n == len(a.items)-1, i.kind == reasoningItem && !encrypted(i.raw):
		default:
			out, did = append(out, agent.ProviderBlock(provider, i.raw)), true
		}
	}
	if !did {
		return nil
	}
	return out
}

func encrypted(raw json.RawMessage) bool {
	var item struct {
		Encrypted string `json:"encrypted_content"`
	}
	return json.Unmarshal(raw, &item) == nil && item.Encrypted != ""
}
