package api

import (
	"context"
	"net/http"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

type listAgentsOutput struct {
	Body v1.Page[v1.Agent]
}

type agentInput struct {
	Agent string `path:"agent" maxLength:"64" doc:"Slug or id"`
}

type agentOutput struct {
	Body v1.Agent
}

type listAgentVersionsOutput struct {
	Body v1.Page[v1.AgentVersion]
}

type publishAgentOutput struct {
	Body v1.PublishedAgent
}

func (s *server) registerAgents() {
	handle(s, route{
		id: "listAgents", method: http.MethodGet, path: "/v1/agents", tag: "agents", permission: AgentsRead,
		summary: "List agents in the order of slugs",
	}, s.listAgents)
	handle(s, route{
		id: "getAgent", method: http.MethodGet, path: "/v1/agents/{agent}", tag: "agents", permission: AgentsRead,
		summary: "Get an agent",
	}, s.getAgent)
	handle(s, route{
		id: "listAgentVersions", method: http.MethodGet, path: "/v1/agents/{agent}/versions", tag: "agents", permission: AgentsRead,
		summary: "List an agent's versions, newest first",
	}, s.listAgentVersions)
	handle(s, route{
		id: "publishAgent", method: http.MethodPost, path: "/v1/agents/{agent}/publish", tag: "agents", permission: AgentsWrite,
		summary: "Publish an agent's draft",
		detail:  "Resolves all its tools as production would. One that is missing, or two of one name, are refused here.",
	}, s.publishAgent)
}

func (s *server) listAgents(ctx context.Context, p tool.Principal, in *Paging) (*listAgentsOutput, error) {
	after := ""
	if in.Cursor != "" {
		var err error
		if after, err = openCursor(in.Cursor); err != nil {
			return nil, err
		}
		if !tool.ValidSlug(after) {
			return nil, badCursor()
		}
	}
	agents, err := s.cfg.Registry.ListAgents(ctx, p, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return &listAgentsOutput{Body: page(*in, agents, v1.FromAgent, func(a agent.Agent) string { return a.Slug })}, nil
}

func (s *server) getAgent(ctx context.Context, p tool.Principal, in *agentInput) (*agentOutput, error) {
	a, err := s.cfg.Registry.GetAgent(ctx, p, in.Agent)
	if err != nil {
		return nil, err
	}
	return &agentOutput{Body: v1.FromAgent(a)}, nil
}

func (s *server) listAgentVersions(ctx context.Context, p tool.Principal, in *agentInput) (*listAgentVersionsOutput, error) {
	versions, err := s.cfg.Registry.AgentVersions(ctx, p, in.Agent)
	if err != nil {
		return nil, err
	}
	out := &listAgentVersionsOutput{Body: v1.Page[v1.AgentVersion]{Items: make([]v1.AgentVersion, len(versions))}}
	for i, v := range versions {
		out.Body.Items[i] = v1.FromAgentVersion(v)
	}
	return out, nil
}

func (s *server) publishAgent(ctx context.Context, p tool.Principal, in *agentInput) (*publishAgentOutput, error) {
	a, v, err := s.cfg.Registry.PublishAgent(ctx, p, in.Agent)
	if err != nil {
		return nil, err
	}
	return &publishAgentOutput{Body: v1.PublishedAgent{Agent: v1.FromAgent(a), Version: v1.FromAgentVersion(v)}}, nil
}
