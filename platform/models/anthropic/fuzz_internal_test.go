package anthropic

import (
	"context"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// Whatever a server sends, the answer is one that can be stored, or an error; never a panic.
func FuzzAnswer(f *testing.F) {
	response := func(said *answer, err error, names *remote.Names, x *remote.Exchange) (*agent.ModelResponse, error) {
		if err != nil {
			return nil, err
		}
		return said.response(1, names, x)
	}
	modeltest.FuzzAnswers(f, PublicURL,
		func(_ context.Context, sent []byte, names *remote.Names, x *remote.Exchange) (*agent.ModelResponse, error) {
			var whole sdk.Message
			if err := whole.UnmarshalJSON(sent); err != nil {
				return nil, err
			}
			said, err := read(&whole, x)
			return response(said, err, names, x)
		},
		func(ctx context.Context, sent []byte, names *remote.Names, x *remote.Exchange) (*agent.ModelResponse, error) {
			decoder := ssestream.NewDecoder(modeltest.Streamed(sent))
			events := ssestream.NewStream[sdk.MessageStreamEventUnion](decoder, nil)
			said, err := streamed(ctx, events, x, func(agent.Delta) {})
			return response(said, err, names, x)
		})
}
