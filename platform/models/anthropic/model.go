// Package anthropic implements models with Anthropic's Messages API.
package anthropic

import (
	"context"
	"slices"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// PublicURL is the base URL of Anthropic's API.
const PublicURL = "https://api.anthropic.com"

// sdkTimeout is longer than any context's deadline. The SDK refuses to request long
// answers without streaming unless it is given a timeout.
const sdkTimeout = 24 * time.Hour

// Model calls the models of one provider. It is safe for concurrent use.
type Model struct {
	provider string
	endpoint *remote.Endpoint
}

var _ agent.Model = (*Model)(nil)

// New returns the models of the provider in cfg; without a base URL, Anthropic's.
// It fails with tool.Invalid if the base URL can't be one. The caller closes it.
func New(cfg remote.Config) (*Model, error) {
	e, err := remote.Open(cfg, PublicURL, remote.Auth{Scheme: egress.Raw, Header: "X-Api-Key"})
	if err != nil {
		return nil, err
	}
	return &Model{provider: cfg.Provider, endpoint: e}, nil
}

// Close closes idle connections.
func (m *Model) Close() error { return m.endpoint.Close() }

// maxPauses bounds how often the provider may pause one answer. After that the
// answer counts as truncated.
const maxPauses = 10

// Generate sends a turn to the model called req.Model. It streams if req.Stream
// is set. If the provider pauses its answer because its own tools take long,
// Generate asks it to continue: the parts are one answer, and one turn.
//
// It fails with tool.Denied for an answer that the API's safety checks stopped;
// a refusal in the model's own words is an answer. For other failures see
// package remote.
func (m *Model) Generate(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	names := remote.NewNames(req)
	params, omitted, err := m.params(req, names)
	if err != nil {
		return nil, err
	}
	said, exchange, err := m.ask(ctx, req, params)
	if err != nil {
		return nil, err
	}
	asked := params.Messages
	for range maxPauses {
		soFar := said.soFar()
		if said.stop != sdk.StopReasonPauseTurn || len(soFar) == 0 {
			break
		}
		params.Messages = append(slices.Clip(asked), sdk.NewAssistantMessage(soFar...))
		more, next, err := m.ask(ctx, req, params)
		if err != nil {
			return nil, afterPause(err)
		}
		said.goOn(more)
		exchange = next
	}
	resp, err := said.response(req.Turn, names, exchange)
	if err != nil {
		return nil, err
	}
	resp.Omitted, resp.Waited = omitted, said.waited
	return resp, nil
}

// afterPause is the failure of an answer after its first part: a request was
// certainly sent.
func afterPause(err error) error {
	e := *tool.AsError(err)
	e.Sent = true
	return &e
}

// ask sends one request and reads its answer.
func (m *Model) ask(
	ctx context.Context, req *agent.ModelRequest, params sdk.MessageNewParams,
) (*answer, *remote.Exchange, error) {
	ctx, exchange, err := m.endpoint.Begin(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer exchange.End()
	messages := sdk.NewMessageService(
		option.WithBaseURL(m.endpoint.BaseURL()), option.WithHTTPClient(exchange), option.WithMaxRetries(0),
		option.WithRequestTimeout(sdkTimeout),
	)
	var said *answer
	if req.Stream == nil {
		said, err = whole(ctx, &messages, params, exchange)
	} else {
		said, err = streamed(ctx, messages.NewStreaming(ctx, params), exchange, req.Stream)
	}
	if err != nil {
		return nil, nil, err
	}
	exchange.Answered(said.usage)
	said.waited = exchange.Waited()
	return said, exchange, nil
}
