package manage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Preview is what a call of manageTools changes if it is made now. The arguments name the revision
// of the tool that the call changes, so whoever approves them approves this change and no other:
// a call for a tool that changed since is refused.
type Preview struct {
	Action  Action          `json:"action"`
	Slug    string          `json:"slug"`
	Before  json.RawMessage `json:"before,omitempty"` // The definition, secrets redacted; absent for a new tool.
	After   json.RawMessage `json:"after,omitempty"`  // Absent for a deleted tool.
	Changes []schema.Change `json:"changes"`
	Refusal string          `json:"refusal,omitempty"` // Why the call will be refused, as far as that can be seen now.
}

// Preview shows what a call in a tenant would change, without changing it. It returns nil for a
// call that changes nothing. The caller's permissions are checked when the call is made.
func (m *Manager) Preview(ctx context.Context, tenant tool.TenantID, arguments json.RawMessage) (*Preview, error) {
	r, err := Parse(arguments)
	if err != nil {
		return &Preview{Changes: []schema.Change{}, Refusal: tool.AsError(err).Msg}, nil
	}
	if r.Action.Reads() {
		return nil, nil //nolint:nilnil // There is nothing to show.
	}
	out := &Preview{Action: r.Action, Slug: r.Slug, Changes: []schema.Change{}}
	p := tool.Principal{Tenant: tenant, Subject: "preview", Permissions: []string{access.All}}
	fill := m.previewOf
	if r.Action == Create {
		fill = m.previewNew
	}
	if err := fill(ctx, p, &r, out); err != nil {
		switch tool.KindOf(err) {
		case tool.NotFound, tool.Conflict, tool.Denied, tool.Invalid:
			out.Refusal = pathed(err)
		case tool.RateLimited, tool.Unavailable, tool.Timeout, tool.Unknown, tool.Cancelled, tool.InternalError:
			return nil, err
		}
	}
	return out, nil
}

// pathed returns an error's text with the field that it is about.
func pathed(err error) string {
	e := tool.AsError(err)
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

func (m *Manager) previewNew(ctx context.Context, p tool.Principal, r *Request, out *Preview) error {
	spec, err := r.spec(nil)
	if err != nil {
		return err
	}
	out.After = shown(specDocument(&spec))
	out.Changes = append(out.Changes, schema.Change{Path: "", Reason: "the tool is new"})
	if _, err := m.newSpec(ctx, p, r); err != nil {
		return err
	}
	_, err = m.tools.Check(ctx, p, definition.Definition{Tool: &spec})
	return err
}

// previewOf previews the change of an existing tool.
func (m *Manager) previewOf(ctx context.Context, p tool.Principal, r *Request, out *Preview) error {
	t, err := m.find(ctx, p, r.Slug)
	if err != nil {
		return err
	}
	out.Before = shown(stored(&t))
	if t.Global() {
		return failed(tool.Denied, "", "%s is the platform's: it cannot be changed", t.Slug)
	}
	if err := definition.CheckRevision("tool", t.Slug, t.Revision, r.Revision); err != nil {
		return err
	}
	to := func(s tool.Status) {
		out.After = out.Before
		if s != t.Status {
			out.Changes = append(out.Changes, schema.Change{
				Path: "status", Reason: fmt.Sprintf("it goes from %q to %q", t.Status, s),
			})
		}
	}
	switch r.Action {
	case Update:
		return m.previewUpdate(ctx, p, r, &t, out)
	case Publish:
		to(tool.Published)
		d, err := m.tools.Compare(ctx, p, tool.Ref{ID: t.ID}, "", release.DraftSide)
		if err != nil {
			return err
		}
		out.Changes = append(out.Changes, d.Changes...)
		if d.Refusal != "" {
			return failed(tool.Conflict, "/version", "%s", d.Refusal)
		}
	case Deprecate:
		to(tool.Deprecated)
		if t.Status != tool.Published && t.Status != tool.Deprecated {
			return failed(tool.Conflict, "", "only a published tool can be deprecated: it is %s", t.Status)
		}
	case Disable:
		to(tool.Disabled)
	case Enable:
		to(tool.Published)
	case Delete:
		out.Changes = append(out.Changes, schema.Change{Path: "", Reason: "the tool is deleted"})
		if t.Status == tool.Published || t.Status == tool.Deprecated {
			return failed(tool.Conflict, "", "the tool is %s: it has to be disabled first", t.Status)
		}
	case List, Get, Create: // Not of an existing tool.
	}
	return nil
}

func (m *Manager) previewUpdate(
	ctx context.Context, p tool.Principal, r *Request, t *tool.Tool, out *Preview,
) error {
	spec, err := r.spec(t)
	if err != nil {
		return err
	}
	out.After = shown(specDocument(&spec))
	if err := limits(p, t, &spec); err != nil {
		return err
	}
	spec.Revision = r.Revision
	d, err := m.tools.CompareSpec(ctx, p, spec, release.DraftSide)
	if err != nil {
		return err
	}
	out.Changes = append(out.Changes, d.Changes...)
	if spec.Publish && t.Status != tool.Published {
		out.Changes = append(out.Changes, schema.Change{
			Path: "status", Reason: fmt.Sprintf("it goes from %q to %q", t.Status, tool.Published),
		})
	}
	_, err = m.tools.Check(ctx, p, definition.Definition{Tool: &spec})
	return err
}

// specDocument returns a definition as stored returns that of a tool.
func specDocument(s *definition.ToolSpec) map[string]json.RawMessage {
	doc := stored(&tool.Tool{
		Slug: s.Slug, Definition: s.Definition, Policy: s.Policy, ArtifactID: s.ArtifactID,
		ArtifactVersion: s.ArtifactVersion,
	})
	if s.Version != "" {
		doc["version"] = encoded(s.Version)
	}
	if s.Publish {
		doc["publish"] = encoded(true)
	}
	return doc
}
