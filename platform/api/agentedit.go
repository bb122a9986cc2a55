package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

type updateAgentInput struct {
	AgentPath
	Changing
	Body json.RawMessage
}

type savedAgentOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.SavedAgent
}

// registerAgentEdits adds the endpoints that write the draft of an agent.
func (s *server) registerAgentEdits() {
	handle(s, route{
		id: "createAgent", method: http.MethodPost, path: "/v1/agents", tag: "agents", permission: AgentsWrite,
		status:  http.StatusCreated,
		summary: "Create an agent", body: reflect.TypeFor[v1.AgentDefinition](), maxBody: MaxApplyBytes,
		detail: "Creates a draft. Only the publish endpoint publishes, so status published is refused. A slug that the " +
			"tenant already has is a conflict.",
	}, s.createAgent)
	handle(s, route{
		id: "updateAgent", method: http.MethodPut, path: "/v1/agents/{agent}", tag: "agents", permission: AgentsWrite,
		summary: "Replace an agent's draft", body: reflect.TypeFor[v1.AgentDefinition](), maxBody: MaxApplyBytes,
		detail: "Absent fields get the defaults of a new agent. Versions are not changed, and nothing is " +
			"published. The slug cannot change.",
	}, s.updateAgent)
}

func (s *server) createAgent(
	ctx context.Context, p tool.Principal, in *body[json.RawMessage],
) (*savedAgentOutput, error) {
	spec, err := parseAgent(in.Body, "")
	if err != nil {
		return nil, err
	}
	a, warnings, err := s.cfg.Registry.CreateAgent(ctx, p, spec)
	if err != nil {
		return nil, err
	}
	out := showSavedAgent(a, warnings)
	out.Location = "/v1/agents/" + a.Slug
	return out, nil
}

func (s *server) updateAgent(ctx context.Context, p tool.Principal, in *updateAgentInput) (*savedAgentOutput, error) {
	found, changing, err := s.changingAgent(ctx, p, in.Agent, in.Changing)
	if err != nil {
		return nil, err
	}
	spec, err := parseAgent(in.Body, found.Slug)
	if err != nil {
		return nil, err
	}
	a, warnings, err := changing.UpdateAgent(ctx, p, found.ID, spec)
	if err != nil {
		return nil, in.failed(err)
	}
	return showSavedAgent(a, warnings), nil
}

func showSavedAgent(a agent.Agent, warnings []string) *savedAgentOutput {
	return &savedAgentOutput{
		Etag: etag(a.ID, a.Revision), Body: v1.SavedAgent{Agent: v1.FromAgent(a), Warnings: warnings},
	}
}

// parseAgent reads the definition of an agent; its kind is optional. A slug, if
// there is one, is that of an existing agent.
func parseAgent(raw json.RawMessage, slug string) (definition.AgentSpec, error) {
	raw, err := withField(raw, "agent", "kind")
	if err == nil && slug != "" {
		raw, err = withField(raw, slug, "slug")
	}
	if err != nil {
		return definition.AgentSpec{}, err
	}
	d, err := definition.Parse(raw)
	if err != nil {
		return definition.AgentSpec{}, err
	}
	if d.Agent == nil {
		return definition.AgentSpec{}, otherKind("agent")
	}
	return *d.Agent, nil
}
