package registry

import (
	"context"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/quality"
	"github.com/toolcrib/toolcrib/tool"
)

// Checked is what saving a draft would come to.
type Checked struct {
	Exists   bool // The tenant has a tool of this slug: saving replaces its draft.
	Warnings []string
	Findings []quality.Finding
}

// CheckDraft checks a definition as [Registry.Create] and [Registry.Update] do, with its weak points, and
// saves nothing. The error of a definition that could not be saved names the field.
func (r *Registry) CheckDraft(ctx context.Context, p tool.Principal, s definition.ToolSpec) (Checked, error) {
	if err := r.unpermitted(p); err != nil {
		return Checked{}, err
	}
	if err := refusePublished(s.AsksToPublish()); err != nil {
		return Checked{}, err
	}
	head, _, err := r.findOwn(ctx, p.Tenant, s.Slug)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{Exists: head != nil}
	var t tool.Tool
	if head == nil {
		t, out.Warnings, err = r.newTool(p.Tenant, s)
		out.Warnings = append(out.Warnings, r.shadowWarning(ctx, p.Tenant, s.Slug)...)
	} else {
		t, out.Warnings, err = r.edit(*head, s)
	}
	if err != nil {
		return out, err
	}
	var before tool.Definition
	if head != nil {
		before = head.Definition
	}
	if err := r.recordReads(p, before, &t); err != nil {
		return out, err
	}
	unpinned, err := r.pin(ctx, &t)
	if err != nil {
		return out, err
	}
	out.Warnings = append(out.Warnings, unpinned...)
	if err := r.checkRunnable(&t.Definition, t.ArtifactID != ""); err != nil {
		out.Warnings = append(out.Warnings, "it could be saved and not published: "+tool.AsError(err).Msg)
	}
	out.Findings, err = r.findings(ctx, p, &t)
	return out, err
}
