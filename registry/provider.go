package registry

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// fitModel fails with tool.Invalid for a provider tool whose provider is not that of
// the agent's model.
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
			return refusal.New(tool.Invalid, "/tools", "%s", tool.AsError(err).Msg)
		}
	}
	return nil
}
