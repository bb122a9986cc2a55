package api

import (
	"context"
	"net/http"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

type changeAgentInput struct {
	AgentPath
	Changing
}

type versionAgentInput struct {
	AgentPath
	Changing
	NewVersion string `query:"new_version" required:"true" minLength:"1" maxLength:"100" doc:"A semantic version greater than the last" example:"1.3.0"`
}

type publishAgentOutput struct {
	Etag string `header:"Etag"`
	Body v1.PublishedAgent
}

// registerAgentChanges adds the endpoints that change the state of an agent.
func (s *server) registerAgentChanges() {
	handle(s, route{
		id: "publishAgent", method: http.MethodPost, path: "/v1/agents/{agent}/publish", tag: "agents",
		permission: AgentsWrite,
		summary:    "Publish an agent's draft",
		detail:     "Resolves all its tools as a production run does. A missing tool, or two of the same name, are refused.",
	}, s.publishAgent)
	handle(s, route{
		id: "versionAgent", method: http.MethodPost, path: "/v1/agents/{agent}/version", tag: "agents",
		permission: AgentsWrite,
		summary:    "Snapshot an agent's draft under a number, without publishing it",
		detail:     "The number must be greater than the last.",
	}, s.versionAgent)
	for _, change := range []struct {
		id, summary, detail string
		apply               func(*registry.Registry) func(context.Context, tool.Principal, string) (agent.Agent, error)
	}{
		{
			"disable", "Stop new runs of an agent", "Running runs continue.",
			func(r *registry.Registry) func(context.Context, tool.Principal, string) (agent.Agent, error) {
				return r.DisableAgent
			},
		},
		{
			"enable", "Enable a disabled agent", "Its status becomes published if it has a published version, else draft.",
			func(r *registry.Registry) func(context.Context, tool.Principal, string) (agent.Agent, error) {
				return r.EnableAgent
			},
		},
	} {
		handle(s, route{
			id: change.id + "Agent", method: http.MethodPost, path: "/v1/agents/{agent}/" + change.id, tag: "agents",
			permission: AgentsWrite, summary: change.summary, detail: change.detail,
		}, func(ctx context.Context, p tool.Principal, in *changeAgentInput) (*agentOutput, error) {
			found, changing, err := s.changingAgent(ctx, p, in.Agent, in.Changing)
			if err != nil {
				return nil, err
			}
			a, err := change.apply(changing)(ctx, p, found.ID)
			if err != nil {
				return nil, in.failed(err)
			}
			return showAgent(a), nil
		})
	}
}

// changingAgent returns an agent, and the registry that changes it under the
// condition.
func (s *server) changingAgent(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (agent.Agent, *registry.Registry, error) {
	a, err := s.cfg.Registry.GetAgent(ctx, p, name)
	if err != nil {
		return agent.Agent{}, nil, err
	}
	changing, err := conditional(c, s.cfg.Registry, a.ID, a.Revision)
	return a, changing, err
}

func (s *server) publishAgent(
	ctx context.Context, p tool.Principal, in *changeAgentInput,
) (*publishAgentOutput, error) {
	found, changing, err := s.changingAgent(ctx, p, in.Agent, in.Changing)
	if err != nil {
		return nil, err
	}
	a, v, err := changing.PublishAgent(ctx, p, found.ID)
	if err != nil {
		return nil, in.failed(err)
	}
	return &publishAgentOutput{
		Etag: etag(a.ID, a.Revision), Body: v1.PublishedAgent{Agent: v1.FromAgent(a), Version: v1.FromAgentVersion(v)},
	}, nil
}

func (s *server) versionAgent(
	ctx context.Context, p tool.Principal, in *versionAgentInput,
) (*body[v1.AgentVersion], error) {
	found, changing, err := s.changingAgent(ctx, p, in.Agent, in.Changing)
	if err != nil {
		return nil, err
	}
	_, v, err := changing.VersionAgent(ctx, p, found.ID, in.NewVersion)
	if err != nil {
		return nil, in.failed(err)
	}
	return answer(v1.FromAgentVersion(v)), nil
}
