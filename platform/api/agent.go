package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// AgentPath names the agent of a path. It is exported as [Paging] is.
type AgentPath struct {
	Agent string `path:"agent" maxLength:"64" doc:"Slug or id" example:"supportDesk"`
}

type listAgentsInput struct {
	Status string `query:"status" enum:"draft,published,deprecated,disabled"`
	Search string `query:"search" maxLength:"200" doc:"In slug, name and description"`
	Paging
}

type agentInput struct {
	AgentPath
	Reading
}

type agentOutput struct {
	Status int
	Etag   string `header:"Etag" doc:"Names this state of the agent, for If-Match and If-None-Match"`
	Body   v1.Agent
}

type agentVersionInput struct {
	AgentPath
	Version string `path:"version" maxLength:"100" doc:"Its exact number" example:"1.2.0"`
}

func (s *server) registerAgents() {
	handle(s, route{
		id: "listAgents", method: http.MethodGet, path: "/v1/agents", tag: "agents", permission: AgentsRead,
		summary: "List agents in the order of slugs", detail: "Drafts and disabled ones included.",
	}, s.listAgents)
	handle(s, route{
		id: "getAgent", method: http.MethodGet, path: "/v1/agents/{agent}", tag: "agents", permission: AgentsRead,
		summary: "Get an agent", detail: "Its draft head and its state.",
	}, s.getAgent)
	handle(s, route{
		id: "listAgentVersions", method: http.MethodGet, path: "/v1/agents/{agent}/versions", tag: "agents",
		permission: AgentsRead,
		summary:    "List an agent's versions, newest first", detail: "Published or not.",
	}, s.listAgentVersions)
	handle(s, route{
		id: "getAgentVersion", method: http.MethodGet, path: "/v1/agents/{agent}/versions/{version}", tag: "agents",
		permission: AgentsRead,
		summary:    "Get a version of an agent", detail: "An immutable snapshot, found by its exact number.",
	}, s.getAgentVersion)
	s.registerAgentEdits()
	s.registerAgentChanges()
}

func (s *server) listAgents(ctx context.Context, p tool.Principal, in *listAgentsInput) (*listed[v1.Agent], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if after != "" && !tool.ValidSlug(after) {
		return nil, badCursor()
	}
	var agents []agent.Agent
	for want := in.fetch(); len(agents) < want; {
		found, err := s.cfg.Registry.ListAgents(ctx, p, after, want)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if after = found[i].Slug; in.matches(&found[i]) && len(agents) < want {
				agents = append(agents, found[i])
			}
		}
		if len(found) < want {
			break
		}
	}
	return answer(page(in.Paging, agents, v1.FromAgent, func(a agent.Agent) string { return a.Slug })), nil
}

// matches reports whether an agent is asked for. A tenant has few of them, so that they are read to be filtered.
func (in *listAgentsInput) matches(a *agent.Agent) bool {
	if in.Status != "" && tool.Status(in.Status) != a.Status {
		return false
	}
	wanted := strings.ToLower(in.Search)
	return slices.ContainsFunc([]string{a.Slug, a.Name, a.Description}, func(text string) bool {
		return strings.Contains(strings.ToLower(text), wanted)
	})
}

func (s *server) getAgent(ctx context.Context, p tool.Principal, in *agentInput) (*agentOutput, error) {
	a, err := s.cfg.Registry.GetAgent(ctx, p, in.Agent)
	if err != nil {
		return nil, err
	}
	out := showAgent(a)
	if in.unchanged(out.Etag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

func showAgent(a agent.Agent) *agentOutput {
	return &agentOutput{Status: http.StatusOK, Etag: etag(a.ID, a.Revision), Body: v1.FromAgent(a)}
}

func (s *server) listAgentVersions(
	ctx context.Context, p tool.Principal, in *AgentPath,
) (*listed[v1.AgentVersion], error) {
	versions, err := s.cfg.Registry.AgentVersions(ctx, p, in.Agent)
	if err != nil {
		return nil, err
	}
	out := answer(v1.Page[v1.AgentVersion]{Items: make([]v1.AgentVersion, len(versions))})
	for i, v := range versions {
		out.Body.Items[i] = v1.FromAgentVersion(v)
	}
	return out, nil
}

func (s *server) getAgentVersion(
	ctx context.Context, p tool.Principal, in *agentVersionInput,
) (*body[v1.AgentVersion], error) {
	versions, err := s.cfg.Registry.AgentVersions(ctx, p, in.Agent)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if v.Number == in.Version {
			return answer(v1.FromAgentVersion(v)), nil
		}
	}
	return nil, &tool.Error{
		Kind: tool.NotFound, Op: "api.getAgentVersion", Msg: fmt.Sprintf("agent %q has no version %q", in.Agent, in.Version),
	}
}
