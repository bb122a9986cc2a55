// Package responses implements models with OpenAI's Responses API, in which the
// provider runs tools of its own beside the functions of an agent.
//
// Nothing is kept at the provider: each request holds the whole transcript and
// says store: false. What the provider did, such as the calls of its code
// interpreter and its encrypted reasoning, is kept in the assistant's message
// and sent back to that provider only.
package responses

import (
	"context"

	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// PublicURL is the base URL of OpenAI's API.
const PublicURL = "https://api.openai.com/v1"

// Model calls the models of one provider. It is safe for concurrent use.
type Model struct {
	provider string
	endpoint *remote.Endpoint
}

var _ agent.Model = (*Model)(nil)

// New returns the models of the provider in cfg; without a base URL, OpenAI's. It
// fails with tool.Invalid if the base URL can't be one. The caller closes it.
func New(cfg remote.Config) (*Model, error) {
	e, err := remote.Open(cfg, PublicURL, remote.Auth{Scheme: egress.Bearer})
	if err != nil {
		return nil, err
	}
	return &Model{provider: cfg.Provider, endpoint: e}, nil
}

// Close closes idle connections.
func (m *Model) Close() error { return m.endpoint.Close() }

// Generate sends a turn to the model called req.Model. It streams if req.Stream
// is set.
//
// It fails with tool.Denied for an answer that a content filter stopped; a
// refusal in words is an answer. For other failures see package remote.
func (m *Model) Generate(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	names := remote.NewNames(req)
	params, omitted, err := m.params(req, names)
	if err != nil {
		return nil, err
	}
	ctx, exchange, err := m.endpoint.Begin(ctx, req)
	if err != nil {
		return nil, err
	}
	defer exchange.End()
	service := sdk.NewResponseService(
		option.WithBaseURL(m.endpoint.BaseURL()), option.WithHTTPClient(exchange), option.WithMaxRetries(0),
	)
	var said *answer
	if req.Stream == nil {
		said, err = whole(ctx, &service, params, exchange)
	} else {
		said, err = streamed(ctx, service.NewStreaming(ctx, params), exchange, req.Stream)
	}
	if err != nil {
		return nil, err
	}
	exchange.Answered(said.usage)
	resp, err := said.response(req.Turn, names, exchange)
	if err != nil {
		return nil, err
	}
	resp.Omitted, resp.Waited = omitted, exchange.Waited()
	return resp, nil
}
