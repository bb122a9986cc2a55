package responses

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3/packages/ssestream"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// streamed reads an answer as a stream, and passes its text on to tell. The last
// event holds the whole answer.
func streamed(
	ctx context.Context, s *ssestream.Stream[sdk.ResponseStreamEventUnion], x *remote.Exchange, tell func(agent.Delta),
) (*answer, error) {
	defer func() { _ = s.Close() }() // It was read to its end, or abandoned.
	var told []sdk.ResponseOutputItemUnion
	var out *answer
	for out == nil && s.Next() {
		event := s.Current()
		switch event.Type {
		case "response.output_text.delta", "response.refusal.delta":
			if wrong(event.JSON.Delta) {
				return nil, x.Garbled("an event of it has no text")
			}
			if event.Delta != "" {
				tell(agent.Delta{Text: event.Delta})
			}
		case "response.output_item.done":
			told = append(told, event.Item)
		case "response.completed", "response.incomplete", "response.failed":
			var err error
			if out, err = read(&event.Response, told, x); err != nil {
				return nil, err
			}
		case "error":
			return nil, x.Event([]byte(`{"error":` + event.RawJSON() + `}`))
		}
	}
	if out != nil {
		return out, nil
	}
	if err := s.Err(); err != nil {
		if event, ok := errors.AsType[*ssestream.StreamError](err); ok {
			return nil, x.Event(event.Event.Data)
		}
		return nil, x.Failure(ctx, err)
	}
	if ctx.Err() != nil {
		return nil, x.Failure(ctx, ctx.Err())
	}
	return nil, x.BrokeOff()
}
