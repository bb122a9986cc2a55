package manage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Builtin is the key of the built-in whose calls a [Manager] serves.
const Builtin = "manageTools"

// Approvals finds the approval of a call. Package store implements it.
type Approvals interface {
	FindApproval(ctx context.Context, tenant tool.TenantID, id string) (wait.Approval, error)
}

// Manager serves requests of agents. It is safe for concurrent use.
type Manager struct {
	tools     *registry.Registry
	approvals Approvals
}

// New returns a manager of the tools of a registry. Approvals may be nil for one that only
// reads and previews.
func New(tools *registry.Registry, approvals Approvals) *Manager {
	return &Manager{tools: tools, approvals: approvals}
}

// Answer is what a request is answered.
type Answer struct {
	Tools      []tool.Meta     `json:"tools,omitempty"` // Of List.
	Next       string          `json:"next,omitempty"`  // The value of after for the next page; absent on the last.
	Tool       *tool.Meta      `json:"tool,omitempty"`
	Definition json.RawMessage `json:"definition,omitempty"` // Of Get. Secrets are redacted.
	Version    string          `json:"version,omitempty"`    // That was published.
	Deleted    bool            `json:"deleted,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"`
}

// Manage serves a call. A call that changes something fails with tool.Denied unless a person
// approved it: the policy of manageTools asks for that too, and this is the second check.
func (m *Manager) Manage(ctx context.Context, call *tool.Call) (Answer, error) {
	r, err := Parse(call.Arguments)
	if err != nil {
		return Answer{}, err
	}
	switch {
	case r.Action == List:
		return m.list(ctx, call.Principal, &r)
	case r.Action == Get:
		return m.get(ctx, call.Principal, r.Slug)
	}
	approved, err := m.approval(ctx, call)
	if err != nil {
		return Answer{}, err
	}
	return m.change(audit.With(ctx, actor(call, &approved)), call.Principal, &r)
}

// approval returns the approval of a call by people. A standing grant is for routine calls, and
// no person has seen this one.
func (m *Manager) approval(ctx context.Context, call *tool.Call) (wait.Approval, error) {
	denied := failed(tool.Denied, "", "a person has to approve each change of a tool")
	if m.approvals == nil || call.InvocationID == "" {
		return wait.Approval{}, denied
	}
	a, err := m.approvals.FindApproval(ctx, call.Principal.Tenant, call.InvocationID)
	switch {
	case tool.KindOf(err) == tool.NotFound:
		return a, denied
	case err != nil:
		return a, fmt.Errorf("finding the approval of the call: %w", err)
	case a.Status != wait.Approved || len(approvers(&a)) == 0:
		return a, denied
	}
	return a, nil
}

// approvers are the people who approved a call.
func approvers(a *wait.Approval) []string {
	var out []string
	for _, d := range a.Decisions {
		if d.Approve && d.GrantID == "" {
			out = append(out, d.Subject)
		}
	}
	return out
}

// actor is who changes a tool: whom the run acts for, with the agent, the run and the approvers.
func actor(call *tool.Call, approved *wait.Approval) audit.Actor {
	a := audit.ActorOf(call.Principal, call.RunID)
	by := "a call"
	if approved.Agent != "" {
		by = "agent " + approved.Agent
	}
	a.Reason = fmt.Sprintf("by %s in run %s, call %s, approved by %s",
		by, call.RunID, call.InvocationID, strings.Join(approvers(approved), ", "))
	return a
}

const (
	defaultPage = 20
	maxPage     = 50
	// afterAll follows every id of a slug.
	afterAll = "ffffffff-ffff-ffff-ffff-ffffffffffff"
)

// list returns a page of the tools that the caller may see.
func (m *Manager) list(ctx context.Context, p tool.Principal, r *Request) (Answer, error) {
	if err := mayRead(p); err != nil {
		return Answer{}, err
	}
	limit := defaultPage
	if r.Limit > 0 {
		limit = min(r.Limit, maxPage)
	}
	q := registry.ToolQuery{Search: r.Search, Status: r.Status, AfterSlug: r.After, Limit: limit + 1}
	if r.After != "" {
		q.AfterID = afterAll
	}
	found, err := m.tools.List(ctx, p, q)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{Tools: []tool.Meta{}}
	for i := range found {
		if i == limit {
			out.Next = found[i-1].Slug
			break
		}
		if visible(p, &found[i]) {
			out.Tools = append(out.Tools, found[i].Meta())
		}
	}
	return out, nil
}

// get returns a tool with its definition.
func (m *Manager) get(ctx context.Context, p tool.Principal, slug string) (Answer, error) {
	if err := mayRead(p); err != nil {
		return Answer{}, err
	}
	t, err := m.find(ctx, p, slug)
	if err != nil {
		return Answer{}, err
	}
	meta := t.Meta()
	return Answer{Tool: &meta, Definition: shown(stored(&t))}, nil
}

// find returns a tool that the caller may see. Others are not found, as tools that do not exist.
func (m *Manager) find(ctx context.Context, p tool.Principal, slug string) (tool.Tool, error) {
	absent := failed(tool.NotFound, "", "no tool %.64q: manageTools.list finds tools", slug)
	if !tool.ValidSlug(slug) {
		return tool.Tool{}, absent
	}
	t, err := m.tools.Get(ctx, p, tool.Ref{Slug: slug})
	switch {
	case tool.KindOf(err) == tool.NotFound, err == nil && !visible(p, &t):
		return tool.Tool{}, absent
	case err != nil:
		return tool.Tool{}, err
	}
	return t, nil
}

func mayRead(p tool.Principal) error {
	if p.Tenant == "" || !p.May(access.ToolsRead) && !p.May(access.ToolsWrite) {
		return failed(tool.Denied, "", "the caller lacks the permission %q", access.ToolsRead)
	}
	return nil
}

// visible reports whether a caller may know of a tool: it has the permission that calls need, and the
// tool is not the platform's for certain tenants, which others must not hear of.
func visible(p tool.Principal, t *tool.Tool) bool {
	return p.May(t.RequiredPermission) && (!t.Global() || len(t.TenantSlugs) == 0)
}

// change makes a change that was approved.
func (m *Manager) change(ctx context.Context, p tool.Principal, r *Request) (Answer, error) {
	if r.Action == Create {
		return m.create(ctx, p, r)
	}
	before, err := m.find(ctx, p, r.Slug)
	if err != nil {
		return Answer{}, err
	}
	if before.Global() {
		return Answer{}, failed(tool.Denied, "", "%s is the platform's: it cannot be changed", before.Slug)
	}
	at, ref := m.tools.At(r.Revision), tool.Ref{ID: before.ID}
	var t tool.Tool
	switch r.Action {
	case Update:
		return m.update(ctx, p, r, &before)
	case Publish:
		var v tool.Version
		if t, v, err = at.Publish(ctx, p, ref); err == nil {
			return changed(&t, v.Number, nil), nil
		}
	case Deprecate:
		t, err = at.Deprecate(ctx, p, ref)
	case Disable:
		t, err = at.Disable(ctx, p, ref)
	case Enable:
		t, err = at.Enable(ctx, p, ref)
	case Delete:
		t, err = at.Delete(ctx, p, ref)
	case List, Get, Create: // Served above.
	}
	if err != nil {
		return Answer{}, err
	}
	out := changed(&t, "", nil)
	out.Deleted = r.Action == Delete
	return out, nil
}

// create makes a new tool. It fails before anything is stored where the tool could not be
// published as it asks.
func (m *Manager) create(ctx context.Context, p tool.Principal, r *Request) (Answer, error) {
	spec, err := m.newSpec(ctx, p, r)
	if err != nil {
		return Answer{}, err
	}
	if _, err := m.tools.Check(ctx, p, definition.Definition{Tool: &spec}); err != nil {
		return Answer{}, err
	}
	publish := spec.Publish
	spec.Publish = false
	t, warnings, err := m.tools.Create(ctx, p, spec)
	if err != nil || !publish {
		return changed(&t, "", warnings), err
	}
	published, v, err := m.tools.At(t.Revision).Publish(ctx, p, tool.Ref{ID: t.ID})
	if err != nil {
		return Answer{}, err
	}
	return changed(&published, v.Number, warnings), nil
}

// newSpec returns the definition of a new tool, if the caller may make it.
func (m *Manager) newSpec(ctx context.Context, p tool.Principal, r *Request) (definition.ToolSpec, error) {
	spec, err := r.spec(nil)
	if err != nil {
		return spec, err
	}
	if err := limits(p, nil, &spec); err != nil {
		return spec, err
	}
	switch there, err := m.tools.Get(ctx, p, tool.Ref{Slug: r.Slug}); {
	case tool.KindOf(err) == tool.NotFound:
		return spec, nil
	case err != nil:
		return spec, err
	case there.Global():
		return spec, failed(tool.Denied, "/slug",
			"%q is the slug of a tool of the platform, which an agent does not replace", r.Slug)
	default:
		return spec, failed(tool.Conflict, "/slug", "there is a tool %q", r.Slug)
	}
}

// update changes the draft of a tool, and publishes it where the request asks for that.
func (m *Manager) update(ctx context.Context, p tool.Principal, r *Request, before *tool.Tool) (Answer, error) {
	spec, err := r.spec(before)
	if err != nil {
		return Answer{}, err
	}
	if err := limits(p, before, &spec); err != nil {
		return Answer{}, err
	}
	spec.Revision = r.Revision
	if !spec.Publish {
		t, warnings, err := m.tools.Update(ctx, p, tool.Ref{ID: before.ID}, spec)
		if err != nil {
			return Answer{}, err
		}
		return changed(&t, "", warnings), nil
	}
	c, err := m.tools.Apply(ctx, p, definition.Definition{Tool: &spec})
	if err != nil {
		return Answer{}, err
	}
	t, err := m.tools.Get(ctx, p, tool.Ref{ID: before.ID})
	if err != nil {
		return Answer{}, err
	}
	return changed(&t, c.Version, c.Warnings), nil
}

func changed(t *tool.Tool, version string, warnings []string) Answer {
	meta := t.Meta()
	return Answer{Tool: &meta, Version: version, Warnings: warnings}
}

// failed returns an error about a field of the request, or about the whole of it.
func failed(kind tool.Kind, path, format string, args ...any) *tool.Error {
	return &tool.Error{Kind: kind, Op: "manage", Path: path, Msg: fmt.Sprintf(format, args...)}
}
