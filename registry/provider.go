package registry

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

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
			return refusal.New(tool.Invalid, "/tools", "%s", tool.AsError(err).Msg)
		}
	}
	return nil
}
