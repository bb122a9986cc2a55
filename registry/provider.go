package registry

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// checkProvider refuses a provider's tool that could not be passed to a model.
func checkProvider(s *ToolSpec) error {
	if s.Implementation != tool.Provider {
		return nil
	}
	if _, err := agent.ReadProviderTool(s.Slug, s.Config); err != nil {
		return within("/implementation_config", err)
	}
	return nil
}

// providerObstacle says why a provider's tool of the given policy would never
// be passed to a model: the platform cannot stop its calls, so it cannot ask
// for an approval either.
func providerObstacle(p tool.Policy) error {
	const why = "the model's provider runs the tool by itself, so no approval can be asked for before it does, and " +
		"it would never be passed to a model"
	switch {
	case p.EgressClass == tool.EgressWrite:
		return refuse(tool.Invalid, "/egress_class", "what is of egress class write asks for an approval of every call; %s",
			why)
	case p.RequiresApproval:
		return refuse(tool.Invalid, "/requires_approval", "%s: drop requires_approval", why)
	case p.PermissionPolicy == tool.AlwaysAsk:
		return refuse(tool.Invalid, "/permission_policy", "%s: set permission_policy to auto", why)
	}
	return nil
}

// fitModel refuses to publish an agent whose model is of another provider than
// one of its tools.
func fitModel(model string, tools []*resolver.Resolved) error {
	for _, t := range tools {
		d := &t.Version.Snapshot.Definition
		if d.ImplementationType() != tool.Provider {
			continue
		}
		p, err := agent.ReadProviderTool(t.Tool.Slug, d.Config)
		if err != nil {
			return fmt.Errorf("reading the configuration of %s: %w", t.Version, err)
		}
		if err := p.Fits(model); err != nil {
			return refuse(tool.Invalid, "/tools", "%s", tool.AsError(err).Msg)
		}
	}
	return nil
}
