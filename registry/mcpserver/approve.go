package mcpserver

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Approval names a tool of a server whose current definition is approved.
type Approval struct {
	Name    string // As the server calls it.
	Digest  string // Of the reviewed definition; empty for the server's latest.
	Publish bool   // Whether to publish the draft too.
}

// Approve approves the current definition of an imported tool: the tool's draft
// takes over the server's definition, except for fields that were edited by hand,
// and gets the least version number that the change requires. A published tool
// resumes when that draft is published as a new version; a tool that was never
// published resumes at once.
//
// It fails with Conflict where there is nothing to approve, and where the
// server has since offered a definition other than the one reviewed.
func (r *Registry) Approve(
	ctx context.Context, p tool.Principal, slugOrID string, a Approval,
) (definition.Change, error) {
	s, err := r.own(ctx, p, slugOrID)
	if err != nil {
		return definition.Change{}, err
	}
	t, err := r.store.FindRemoteTool(ctx, p.Tenant, s.ID, a.Name)
	if err != nil {
		return definition.Change{}, fmt.Errorf("finding tool %q of server %q: %w", a.Name, s.Slug, err)
	}
	if err := checkApproval(&s, &t, a); err != nil {
		return definition.Change{}, err
	}
	head, versions, err := r.toolWithVersions(ctx, p.Tenant, t.ToolID)
	if err != nil {
		return definition.Change{}, err
	}
	spec, warnings, err := adopt(&s, &head, &t)
	if err != nil {
		return definition.Change{}, err
	}
	c, err := r.tools.Apply(ctx, p, spec)
	if err != nil {
		return definition.Change{}, fmt.Errorf("approving tool %q of server %q: %w", a.Name, s.Slug, err)
	}
	c.Warnings = append(c.Warnings, warnings...)
	if err := r.keepApproval(ctx, p, s, t, slices.ContainsFunc(versions,
		func(v tool.Version) bool { return v.Published })); err != nil {
		return definition.Change{}, err
	}
	if !a.Publish {
		return c, nil
	}
	if c.Version, err = r.tools.Publish(ctx, p, t.ToolID); err != nil {
		return definition.Change{}, fmt.Errorf("publishing tool %q: %w", c.Slug, err)
	}
	c.Published = true
	return c, nil
}

// checkApproval fails with tool.Conflict for a tool that cannot be approved: it was
// not imported, is gone or refused, or has another definition than the reviewed
// one.
func checkApproval(s *Server, t *Tool, a Approval) error {
	switch {
	case !t.Imported():
		return refusal.New(tool.Conflict, "", "tool %q of server %q was not imported: it is %s", t.Name, s.Slug, t.State)
	case t.State == StateGone || t.State == StateRefused || t.Seen == nil:
		return refusal.New(tool.Conflict, "", "tool %q of server %q cannot be approved: %s", t.Name, s.Slug, t.Reason)
	case a.Digest != "" && a.Digest != t.Seen.Digest:
		return refusal.New(
			tool.Conflict, "/digest", "tool %q of server %q changed again since that was looked at: look at the diff again",
			t.Name, s.Slug,
		)
	}
	return nil
}

// keepApproval records the approval of a definition. Unless a published version
// pins another definition, it also becomes the pinned one.
func (r *Registry) keepApproval(ctx context.Context, p tool.Principal, s Server, t Tool, released bool) error {
	now := r.opts.Clock().UTC()
	t.ApprovedDigest, t.ApprovedBy = t.Seen.Digest, p.Subject
	t.ApprovedAt, t.ChangedAt = &now, now
	approved := plan{server: &s, now: now, changes: Changes{Stop: make(map[string]string)}}
	switch {
	case !released || t.Pinned.Digest == t.Seen.Digest:
		t.Pinned = t.Seen
		approved.quarantine(&t, "")
		approved.put(t, StatePinned, "")
	default:
		approved.put(t, StateApproved, approvedReason)
	}
	if _, err := r.store.SaveServer(ctx, s, approved.changes); err != nil {
		return fmt.Errorf("keeping the approval of tool %q of server %q: %w", t.Name, s.Slug, err)
	}
	return nil
}

const approvedReason = "its new definition is approved: publish the draft, and it goes on"
