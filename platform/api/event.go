package api

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

type listMessagesOutput struct {
	Body v1.Page[agent.Message]
}

type listEventsInput struct {
	ID    string `path:"id" maxLength:"64"`
	After int64  `query:"after" minimum:"0" doc:"Number of the last event you have"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"200"`
}

type listEventsOutput struct {
	Body v1.Page[tool.Event]
}

// listMessages answers with the whole transcript: a run's limits bound it.
func (s *server) listMessages(ctx context.Context, p tool.Principal, in *runInput) (*listMessagesOutput, error) {
	messages, err := s.cfg.Store.Transcript(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if messages == nil {
		messages = []agent.Message{}
	}
	return &listMessagesOutput{Body: v1.Page[agent.Message]{Items: messages}}, nil
}

func (s *server) listEvents(ctx context.Context, p tool.Principal, in *listEventsInput) (*listEventsOutput, error) {
	events, err := s.cfg.Store.ListEvents(ctx, p.Tenant, in.ID, in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	if events == nil {
		events = []tool.Event{}
	}
	return &listEventsOutput{Body: v1.Page[tool.Event]{Items: events}}, nil
}
