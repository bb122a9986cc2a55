package registry

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// FurtherName is an alias or a former name of a tool.
type FurtherName struct {
	Name    string
	ToolID  string
	Slug    string // Of the tool.
	LastDay string // Of a former name, "2006-01-02" in UTC; empty for an alias.
}

// Former reports whether the name is a former slug, kept until LastDay.
func (n FurtherName) Former() bool { return n.LastDay != "" }

// Taken returns the Conflict for another tool that asks for the name: of a former
// name as its slug, of an alias as a further name.
func (n FurtherName) Taken(op string) *tool.Error {
	if !n.Former() {
		return &tool.Error{Kind: tool.Conflict, Op: op, Path: definition.NamesPath, Msg: fmt.Sprintf(
			"the name %q belongs to another tool already; take it from that one first, by publishing a version of it without",
			n.Name)}
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: op, Path: "/slug", Err: &RenamedError{Slug: n.Slug}, Msg: fmt.Sprintf(
			"%q is the former name of tool %q until %s: choose another slug, or end the former names of that tool with "+
				"toolcrib tool rename %s %s --drop-former", n.Name, n.Slug, n.LastDay, n.Slug, n.Slug),
	}
}

// checkFormer fails with tool.Conflict for a slug of a new tool that is a former
// name of another one.
func (r *Registry) checkFormer(ctx context.Context, tenant tool.TenantID, slug string) error {
	names, err := r.store.FurtherNames(ctx, tenant, []string{slug})
	if err != nil {
		return fmt.Errorf("looking for former names %q: %w", slug, err)
	}
	for _, n := range names {
		if n.Former() {
			return n.Taken("registry")
		}
	}
	return nil
}

// checkReach fails with tool.Conflict for a published version with a further name
// that is the slug or a further name of another tool: calls by that name would
// reach the other tool.
func (r *Registry) checkReach(ctx context.Context, v *tool.Version) error {
	if !v.Published {
		return nil
	}
	names := definition.FurtherNames(v.Snapshot.Interaction)
	held, err := r.store.FurtherNames(ctx, v.Tenant, names)
	if err != nil {
		return fmt.Errorf("looking for further names: %w", err)
	}
	for _, n := range held {
		if n.ToolID != v.ToolID {
			return FurtherName{Name: n.Name}.Taken("registry")
		}
	}
	for _, name := range names {
		other, err := r.store.FindTool(ctx, v.Tenant, tool.Ref{Slug: name})
		switch {
		case err == nil:
			return refusal.New(tool.Conflict, definition.NamesPath,
				"%q is the slug of the %s tool %s, which calls by that name reach", name,
				other.Scope(), other.ID)
		case tool.KindOf(err) != tool.NotFound:
			return fmt.Errorf("looking for a tool %q: %w", name, err)
		}
	}
	return nil
}
