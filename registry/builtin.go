package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// BuiltinSpec is a tool that comes with the platform.
type BuiltinSpec struct {
	Key        string // Its built-in key and its slug.
	Version    string
	Definition tool.Definition
	Policy     tool.Policy
}

// platformSubject is the subject that versions of built-ins are recorded with.
const platformSubject = "platform"

// SyncBuiltins brings the global tools up to date with the built-ins: new ones
// are published, changed ones get a new version. The registry must use a
// store that is opened for the platform. A built-in whose content changed under
// the same version fails with tool.Conflict. Tools that are no longer built in
// stay as they are.
func (r *Registry) SyncBuiltins(ctx context.Context, specs []BuiltinSpec) ([]definition.Change, error) {
	changes := make([]definition.Change, 0, len(specs))
	for _, b := range specs {
		c, err := r.applyTool(ctx, tool.Principal{Subject: platformSubject}, definition.ToolSpec{
			Slug: b.Key, BuiltinKey: b.Key, Version: b.Version, Publish: true, Definition: b.Definition, Policy: b.Policy,
		}, true)
		if err != nil {
			return changes, fmt.Errorf("syncing built-in %q: %w", b.Key, err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}
