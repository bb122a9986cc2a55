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
	// OptIn keeps the tool switched off in a tenant until the tenant switches it on.
	OptIn bool
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
		c, err := r.syncBuiltin(ctx, b)
		if err != nil {
			return changes, fmt.Errorf("syncing built-in %q: %w", b.Key, err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func (r *Registry) syncBuiltin(ctx context.Context, b BuiltinSpec) (definition.Change, error) {
	p := tool.Principal{Subject: platformSubject}
	want := definition.ToolSpec{
		Slug: b.Key, BuiltinKey: b.Key, Version: b.Version, Publish: true, Definition: b.Definition, Policy: b.Policy,
	}
	if !b.OptIn {
		return r.applyTool(ctx, p, want, true)
	}
	before, versions, err := r.findOwn(ctx, "", b.Key)
	if err != nil {
		return definition.Change{}, err
	}
	if len(publishedNumbers(versions)) > 0 { // What the operator decided since stays.
		return r.applyTool(ctx, p, want, true)
	}
	// A draft runs nowhere: it is switched off before there is a version to call.
	draft := want
	draft.Publish = false
	if _, err := r.applyTool(ctx, p, draft, true); err != nil {
		return definition.Change{}, err
	}
	off := false
	if _, err := r.OverrideForAll(ctx, tool.Ref{Slug: b.Key}, tool.Override{
		Enabled: &off, Reason: "off until a tenant switches it on",
	}); err != nil {
		return definition.Change{}, err
	}
	c, err := r.applyTool(ctx, p, want, true)
	if before == nil {
		c.Action = definition.Created
	}
	return c, err
}
