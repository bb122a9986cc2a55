package openai

import (
	"context"
	"errors"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// streamed reads an answer as a stream, and passes its text on to tell.
func streamed(
	ctx context.Context, s *ssestream.Stream[sdk.ChatCompletionChunk], x *remote.Exchange, tell func(agent.Delta),
) (*answer, error) {
	defer func() { _ = s.Close() }() // It was read to its end, or abandoned.
	out := &answer{}
	byIndex := make(map[int64]int)
	for s.Next() {
		chunk := s.Current()
		if wrong(chunk.JSON.Choices) {
			return nil, x.Garbled("an event of it has no choices")
		}
		if chunk.JSON.Usage.Valid() {
			out.usage = usage(chunk.Usage)
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue // Only one choice was requested.
			}
			if err := out.add(choice, byIndex, x, tell); err != nil {
				return nil, err
			}
		}
	}
	if err := s.Err(); err != nil {
		if event, ok := errors.AsType[*ssestream.StreamError](err); ok {
			return nil, x.Event(event.Event.Data)
		}
		return nil, x.Failure(ctx, err)
	}
	if out.finish == "" {
		if ctx.Err() != nil {
			return nil, x.Failure(ctx, ctx.Err())
		}
		return nil, x.BrokeOff()
	}
	return out, nil
}

// add adds a piece of the stream. Calls are distinguished by their index, which
// need not be consecutive.
func (a *answer) add(
	choice sdk.ChatCompletionChunkChoice, byIndex map[int64]int, x *remote.Exchange, tell func(agent.Delta),
) error {
	delta := choice.Delta
	if wrong(choice.JSON.Delta) || wrong(delta.JSON.Content) || wrong(delta.JSON.ToolCalls) ||
		wrong(choice.JSON.FinishReason) {
		return x.Garbled("an event of it does not have the documented shape")
	}
	if text := delta.Content + delta.Refusal; text != "" {
		tell(agent.Delta{Text: text})
	}
	a.text.WriteString(delta.Content)
	a.refusal.WriteString(delta.Refusal)
	for _, piece := range delta.ToolCalls {
		at, known := byIndex[piece.Index]
		// Some servers send each call whole, all at the index 0.
		if !known || piece.ID != "" && a.calls[at].id != "" && piece.ID != a.calls[at].id {
			at = len(a.calls)
			byIndex[piece.Index] = at
			a.calls = append(a.calls, &call{})
		}
		c := a.calls[at]
		if c.id == "" {
			c.id = piece.ID
		}
		if c.name == "" {
			c.name = piece.Function.Name
		}
		c.arguments.WriteString(piece.Function.Arguments)
	}
	if choice.FinishReason != "" {
		a.finish = choice.FinishReason
	}
	return nil
}
