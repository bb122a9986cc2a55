package mcpserver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// CheckOrigin fails with tool.Conflict where a version of an imported tool cannot
// be published: its server is not attached, no longer offers the tool, or offers
// another definition than the version pins. Else it ends the tool's quarantine.
// Other tools pass. With absentOK, so does a tool whose server is not attached:
// the same batch may attach it.
func (r *Registry) CheckOrigin(ctx context.Context, t *tool.Tool, v *tool.Version, absentOK bool) error {
	c, attached := remoteConfigOf(&v.Snapshot.Definition)
	if !attached || t.Global() {
		return nil
	}
	s, err := r.store.FindServer(ctx, t.Tenant, c.Server)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound && absentOK:
		return nil
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return refusal.New(tool.Conflict, "/implementation_config/server",
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
	case origin.State == StateGone || origin.State == StateRefused || origin.Seen == nil:
		return refusal.New(tool.Conflict, "", "tool %q of server %q cannot run: %s", origin.Name, s.Slug, origin.Reason)
	case origin.Seen.Digest != c.DefinitionDigest:
		return refusal.New(tool.Conflict, "/implementation_config/definition_digest",
			"server %q gives another definition of %q than this version pins: look at the difference and approve it, or "+
				"publish a version that pins what it gives", s.Slug, origin.Name)
	}
	t.Quarantine = ""
	return nil
}

// PinOrigin records, for a published version of an imported tool, that the
// definition that it pins is the one that may run.
func (r *Registry) PinOrigin(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	c, attached := remoteConfigOf(&v.Snapshot.Definition)
	if !attached || t.Global() || !v.Published || c.DefinitionDigest == "" {
		return nil
	}
	if err := r.store.PinTool(ctx, t.Tenant, t.ID, c.DefinitionDigest, v.CreatedBy); err != nil {
		return fmt.Errorf("keeping what tool %q pins: %w", t.Slug, err)
	}
	return nil
}
