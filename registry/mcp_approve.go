package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// OfferedSide is what a [Diff] calls the content that a draft would have with
// what its server offers now.
const OfferedSide = "offered"

// Drift is how a server's tool differs from what was approved.
type Drift struct {
	Tool     RemoteTool
	Diff     Diff     // From the last release, or the draft, to the draft that an approval would make.
	Warnings []string // What an approval would keep, or raise, and why.
}

// Approval names a tool of a server whose definition is to be let in.
type Approval struct {
	Name    string // As the server calls it.
	Digest  string // Of the definition that was looked at; any that the server gave last when empty.
	Publish bool   // Whether to publish the draft too.
}

// CompareRemote returns how a tool's server has changed it since it was
// approved.
func (r *Registry) CompareRemote(ctx context.Context, p tool.Principal, slugOrID, name string) (Drift, error) {
	s, err := r.Server(ctx, p, slugOrID)
	if err != nil {
		return Drift{}, err
	}
	remote, err := r.store.FindRemoteTool(ctx, p.Tenant, s.ID, name)
	if err != nil {
		return Drift{}, fmt.Errorf("finding tool %q of server %q: %w", name, s.Slug, err)
	}
	drift := Drift{Tool: remote}
	if warning := removedWarning(remote.Seen); warning != "" {
		drift.Warnings = []string{warning}
	}
	if !remote.Imported() || remote.Seen == nil {
		return drift, nil
	}
	head, versions, err := r.toolWithVersions(ctx, p.Tenant, remote.ToolID)
	if err != nil {
		return Drift{}, err
	}
	spec, warnings, err := adopted(&s, &head, &remote)
	if err != nil {
		return Drift{}, err
	}
	after := head
	after.Definition = spec.Definition
	after.Version = proposeTool(&after, versions)
	before, err := sideOf(&head, versions, "", "")
	if err != nil {
		return Drift{}, err
	}
	if before.content == nil {
		before = side{DraftSide, head.Version, &head.Definition}
	}
	to := side{OfferedSide, after.Version, &after.Definition}
	if drift.Diff, err = compareSides(head.Slug, before, to); err != nil {
		return Drift{}, err
	}
	policy, err := fieldChanges(head.Policy, spec.Policy, schema.NoBump)
	if err != nil {
		return Drift{}, err
	}
	drift.Diff.Changes = append(drift.Diff.Changes, policy...)
	drift.Warnings = append(drift.Warnings, warnings...)
	return drift, drift.Diff.judge(to, releasesOf(versions))
}

// ApproveRemote approves what a server now offers of a tool that was imported:
// the tool's draft takes over the server's definition, except for fields that
// were edited by hand, and gets the least version number that the change
// requires. A published tool resumes when that draft is published as a new
// version; a tool that was never published resumes at once.
//
// It fails with Conflict where there is nothing to approve, and where the
// server has since offered a definition other than the one reviewed.
func (r *Registry) ApproveRemote(ctx context.Context, p tool.Principal, slugOrID string, a Approval) (Change, error) {
	s, err := r.ownServer(ctx, p, slugOrID)
	if err != nil {
		return Change{}, err
	}
	remote, err := r.store.FindRemoteTool(ctx, p.Tenant, s.ID, a.Name)
	if err != nil {
		return Change{}, fmt.Errorf("finding tool %q of server %q: %w", a.Name, s.Slug, err)
	}
	if err := approvable(&s, &remote, a); err != nil {
		return Change{}, err
	}
	head, versions, err := r.toolWithVersions(ctx, p.Tenant, remote.ToolID)
	if err != nil {
		return Change{}, err
	}
	spec, warnings, err := adopted(&s, &head, &remote)
	if err != nil {
		return Change{}, err
	}
	c, err := r.applyTool(ctx, p, spec, true)
	if err != nil {
		return Change{}, fmt.Errorf("approving tool %q of server %q: %w", a.Name, s.Slug, err)
	}
	c.Warnings = append(c.Warnings, warnings...)
	if err := r.keepApproval(ctx, p, s, remote, len(publishedNumbers(versions)) > 0); err != nil {
		return Change{}, err
	}
	if !a.Publish {
		return c, nil
	}
	_, v, err := r.Publish(ctx, p, tool.Ref{ID: remote.ToolID})
	if err != nil {
		return Change{}, fmt.Errorf("publishing tool %q: %w", c.Slug, err)
	}
	c.Version, c.Published = v.Number, true
	return c, nil
}

// approvable refuses to let in what is not there to be let in.
func approvable(s *MCPServer, remote *RemoteTool, a Approval) error {
	switch {
	case !remote.Imported():
		return refuse(tool.Conflict, "", "tool %q of server %q was not imported: it is %s", remote.Name, s.Slug, remote.State)
	case remote.State == Gone || remote.State == Refused || remote.Seen == nil:
		return refuse(tool.Conflict, "", "tool %q of server %q cannot be approved: %s", remote.Name, s.Slug, remote.Reason)
	case a.Digest != "" && a.Digest != remote.Seen.Digest:
		return refuse(
			tool.Conflict, "/digest", "tool %q of server %q changed again since that was looked at: look at the diff again",
			remote.Name, s.Slug,
		)
	}
	return nil
}

// keepApproval notes with the server that its definition was let in. Where no
// version pins another one, it is what may run.
func (r *Registry) keepApproval(
	ctx context.Context, p tool.Principal, s MCPServer, remote RemoteTool, released bool,
) error {
	now := r.opts.Clock().UTC()
	remote.ApprovedDigest, remote.ApprovedBy = remote.Seen.Digest, p.Subject
	remote.ApprovedAt, remote.ChangedAt = &now, now
	approved := plan{server: &s, now: now, changes: RemoteChanges{Stop: make(map[string]string)}}
	switch {
	case !released || remote.Pinned.Digest == remote.Seen.Digest:
		remote.Pinned = remote.Seen
		approved.quarantine(&remote, "")
		approved.put(remote, Pinned, "")
	default:
		approved.put(remote, Approved, approvedReason)
	}
	if _, err := r.store.SaveServer(ctx, s, approved.changes); err != nil {
		return fmt.Errorf("keeping the approval of tool %q of server %q: %w", remote.Name, s.Slug, err)
	}
	return nil
}

const approvedReason = "its new definition is approved: publish the draft, and it goes on"

// adopted returns the head of a tool with the server's current definition in
// place of its previous one. Fields that were edited by hand since are kept.
func adopted(s *MCPServer, head *tool.Tool, remote *RemoteTool) (ToolSpec, []string, error) {
	before, err := remoteSpec(s, remote.Pinned)
	if err != nil {
		return ToolSpec{}, nil, err
	}
	after, err := remoteSpec(s, remote.Seen)
	if err != nil {
		return ToolSpec{}, nil, err
	}
	spec := ToolSpec{
		Slug: head.Slug, Definition: head.Definition, Policy: head.Policy,
		BuiltinKey: head.BuiltinKey, ArtifactID: head.ArtifactID, ArtifactVersion: head.ArtifactVersion,
	}
	var warnings []string
	keep := func(what string) {
		warnings = append(warnings, "the "+what+" was changed by hand and stays; the server's is another one now")
	}
	for _, text := range []struct {
		what        string
		have        *string
		before, now string
	}{
		{"name", &spec.Name, before.Name, after.Name},
		{"description", &spec.Description, before.Description, after.Description},
	} {
		switch {
		case *text.have == text.before:
			*text.have = text.now
		case text.before != text.now && *text.have != text.now:
			keep(text.what)
		}
	}
	for _, raw := range []struct {
		what        string
		have        *json.RawMessage
		before, now json.RawMessage
	}{
		{"input schema", &spec.InputSchema, before.InputSchema, after.InputSchema},
		{"output schema", &spec.OutputSchema, before.OutputSchema, after.OutputSchema},
		{"annotations", &spec.Interaction.Annotations, before.Interaction.Annotations, after.Interaction.Annotations},
	} {
		switch {
		case sameJSON(*raw.have, raw.before):
			*raw.have = raw.now
		case !sameJSON(raw.before, raw.now) && !sameJSON(*raw.have, raw.now):
			keep(raw.what)
		}
	}
	if s.TrustHints && spec.EgressClass == tool.EgressReadOnly && onlyReads(remote.Pinned) && !onlyReads(remote.Seen) {
		spec.EgressClass, spec.Execution.Pure = tool.EgressWrite, false
		warnings = append(
			warnings,
			"the server no longer says that the tool only reads: its egress class becomes write, which asks for approval, and "+
				"it is pure no more",
		)
	}
	spec.Config, err = repinned(head.Config, remote.Seen.Digest)
	return spec, warnings, err
}

// repinned returns a configuration that pins another definition.
func repinned(config json.RawMessage, digest string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(config, &fields); err != nil || fields == nil {
		return nil, refuse(tool.Invalid, "/implementation_config", "expected a JSON object")
	}
	pin, err := json.Marshal(digest)
	if err != nil {
		return nil, refuse(tool.Invalid, "/implementation_config/definition_digest", "expected a digest")
	}
	fields["definition_digest"] = pin
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, refuse(tool.Invalid, "/implementation_config", "expected a JSON object")
	}
	return raw, nil
}

func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	x, errX := tool.Canonical(a)
	y, errY := tool.Canonical(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// toolWithVersions returns a tool of the tenant's own by its id.
func (r *Registry) toolWithVersions(
	ctx context.Context, tenant tool.TenantID, id string,
) (tool.Tool, []tool.Version, error) {
	t, err := r.store.FindTool(ctx, tenant, tool.Ref{ID: id})
	if err != nil {
		return tool.Tool{}, nil, fmt.Errorf("finding tool %q: %w", id, err)
	}
	versions, err := r.store.ListVersions(ctx, tenant, id)
	if err != nil {
		return tool.Tool{}, nil, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	return t, versions, nil
}
