package models

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/openai"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/platform/models/responses"
)

// openAI is a provider with both of OpenAI's APIs, of which the model option
// "api" of an agent names one.
type openAI struct {
	chat, responses model
	unset           model // One of the two, for agents that name none.
}

func openOpenAI(cfg remote.Config, unset API) (model, error) {
	chat, err := openai.New(cfg)
	if err != nil {
		return nil, err
	}
	other, err := responses.New(cfg)
	if err != nil {
		return nil, errors.Join(err, chat.Close())
	}
	m := &openAI{chat: chat, responses: other, unset: chat}
	if unset == Responses {
		m.unset = other
	}
	return m, nil
}

// Generate implements [agent.Model]. An option that names no API is refused by
// the one that is asked then.
func (m *openAI) Generate(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	var options map[string]json.RawMessage
	var name string
	if json.Unmarshal(req.Options, &options) == nil {
		_ = json.Unmarshal(options[remote.APIOption], &name)
	}
	switch name {
	case remote.ChatCompletions:
		return m.chat.Generate(ctx, req)
	case remote.Responses:
		return m.responses.Generate(ctx, req)
	default:
		return m.unset.Generate(ctx, req)
	}
}

// Close closes idle connections.
func (m *openAI) Close() error { return errors.Join(m.chat.Close(), m.responses.Close()) }
