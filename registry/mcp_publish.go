package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// checkOrigin refuses to publish a tool of an attached server that the server
// does not offer as the version pins it, and otherwise takes the tool's
// quarantine back.
func (r *Registry) checkOrigin(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	c, attached := remoteConfigOf(&v.Snapshot.Definition)
	if !attached || t.Global() {
		return nil
	}
	s, err := r.store.FindServer(ctx, t.Tenant, c.Server)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound && r.dry:
		return nil
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return refuse(tool.Conflict, "/implementation_config/server",
			"no server %q is attached: attach it before publishing what runs on it", c.Server)
	case err != nil:
		return fmt.Errorf("finding server %q: %w", c.Server, err)
	}
	origin, err := r.store.FindToolOrigin(ctx, t.Tenant, t.ID)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound: // Written by hand.
		return nil
	case err != nil:
		return fmt.Errorf("finding what tool %q was made of: %w", t.Slug, err)
	case origin.State == Gone || origin.State == Refused || origin.Seen == nil:
		return refuse(tool.Conflict, "", "tool %q of server %q cannot run: %s", origin.Name, s.Slug, origin.Reason)
	case origin.Seen.Digest != c.DefinitionDigest:
		return refuse(tool.Conflict, "/implementation_config/definition_digest",
			"server %q gives another definition of %q than this version pins: look at the difference and approve it, or "+
				"publish a version that pins what it gives", s.Slug, origin.Name)
	}
	t.Quarantine = ""
	return nil
}

// pinOrigin notes that a version which is published now pins what its server
// gives.
func (r *Registry) pinOrigin(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	c, attached := remoteConfigOf(&v.Snapshot.Definition)
	if !attached || t.Global() || !v.Published || c.DefinitionDigest == "" {
		return nil
	}
	if err := r.store.PinTool(ctx, t.Tenant, t.ID, c.DefinitionDigest, v.CreatedBy); err != nil {
		return fmt.Errorf("keeping what tool %q pins: %w", t.Slug, err)
	}
	return nil
}
