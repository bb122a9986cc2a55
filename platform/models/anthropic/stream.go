package anthropic

import (
	"context"
	"errors"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// reader assembles an answer from the events of a stream.
type reader struct {
	answer
	exchange *remote.Exchange
	tell     func(agent.Delta)
	open     map[int64]*block // By their index.
	counted  sdk.Usage
	done     bool
}

// streamed reads an answer as a stream, and passes its text on to tell.
func streamed(
	ctx context.Context, s *ssestream.Stream[sdk.MessageStreamEventUnion], x *remote.Exchange, tell func(agent.Delta),
) (*answer, error) {
	defer func() { _ = s.Close() }() // It was read to its end, or abandoned.
	r := &reader{exchange: x, tell: tell, open: make(map[int64]*block)}
	for s.Next() {
		if err := r.event(s.Current()); err != nil {
			return nil, err
		}
	}
	if err := s.Err(); err != nil {
		if event, ok := errors.AsType[*sdk.Error](err); ok {
			return nil, x.Event([]byte(event.RawJSON()))
		}
		return nil, x.Failure(ctx, err)
	}
	if !r.done {
		if ctx.Err() != nil {
			return nil, x.Failure(ctx, ctx.Err())
		}
		return nil, x.BrokeOff()
	}
	r.usage = usage(r.counted)
	return &r.answer, nil
}

func (r *reader) event(e sdk.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		r.counted = e.Message.Usage
	case "content_block_start":
		return r.start(e)
	case "content_block_delta":
		return r.delta(e)
	case "message_delta":
		if wrong(e.Delta.JSON.StopReason) {
			return r.exchange.Garbled("an event of it has no stop reason")
		}
		if e.Delta.StopReason != "" {
			r.stop = e.Delta.StopReason
		}
		r.count(e.Usage)
	case "message_stop":
		r.done = r.stop != ""
	}
	return nil // Other events are ignored.
}

func (r *reader) start(e sdk.MessageStreamEventUnion) error {
	b := e.ContentBlock
	made := newBlock(b.Type, b.ID, b.Name, b.RawJSON())
	if made == nil && b.Type == "" {
		return nil // No block at all.
	}
	if made == nil || r.open[e.Index] != nil || made.kind == textBlock && b.Name != "" {
		return r.exchange.Garbled("a block in it does not have the documented shape")
	}
	r.open[e.Index] = made
	if made.kind != otherBlock {
		r.answer.add(made)
	}
	if made.kind == textBlock {
		r.write(made, b.Text)
	}
	return nil
}

func (r *reader) delta(e sdk.MessageStreamEventUnion) error {
	switch e.Delta.Type {
	case "text_delta", "input_json_delta", "thinking_delta", "signature_delta":
		b := r.open[e.Index]
		if b == nil || wrong(e.Delta.JSON.Text) || wrong(e.Delta.JSON.PartialJSON) {
			return r.exchange.Garbled("an event of it refers to an unknown block")
		}
		b.signature += e.Delta.Signature
		r.write(b, e.Delta.Text+e.Delta.PartialJSON+e.Delta.Thinking)
	}
	return nil
}

func (r *reader) write(b *block, text string) {
	b.text.WriteString(text)
	if b.kind == textBlock && text != "" {
		r.tell(agent.Delta{Text: text})
	}
}

// count sets the token counts of an event, which are totals. Absent ones are left
// unchanged.
func (r *reader) count(u sdk.MessageDeltaUsage) {
	if u.JSON.OutputTokens.Valid() {
		r.counted.OutputTokens = u.OutputTokens
	}
	if u.JSON.OutputTokensDetails.Valid() {
		r.counted.OutputTokensDetails = u.OutputTokensDetails
	}
	if u.JSON.InputTokens.Valid() {
		r.counted.InputTokens = u.InputTokens
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		r.counted.CacheReadInputTokens = u.CacheReadInputTokens
	}
	if u.JSON.CacheCreationInputTokens.Valid() {
		r.counted.CacheCreationInputTokens = u.CacheCreationInputTokens
	}
}
