// Package openai implements models with the Chat Completions API: OpenAI's, and
// those of the many compatible servers.
package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

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
	completions := sdk.NewChatCompletionService(
		option.WithBaseURL(m.endpoint.BaseURL()), option.WithHTTPClient(exchange), option.WithMaxRetries(0),
	)
	var said *answer
	if req.Stream == nil {
		said, err = whole(ctx, &completions, params, exchange)
	} else {
		params.StreamOptions.IncludeUsage = sdk.Bool(true)
		said, err = streamed(ctx, completions.NewStreaming(ctx, params), exchange, req.Stream)
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
