package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// maxNames bounds the further names of a tool.
const maxNames = 32

// namesPath is the Path of errors about a name that another tool has.
const namesPath = "/interaction/aliases"

// checkFurtherNames judges the aliases and former names of a tool by themselves.
func checkFurtherNames(s *ToolSpec) error {
	i := s.Interaction
	if n := len(i.Aliases) + len(i.FormerNames); n > maxNames {
		return refuse(tool.Invalid, "/interaction/aliases", "%d further names: expected at most %d", n, maxNames)
	}
	for n, alias := range i.Aliases {
		path := fmt.Sprintf("/interaction/aliases/%d", n)
		if err := checkName(path, "alias", alias, s.Slug); err != nil {
			return err
		}
		if slices.Contains(i.Aliases[:n], alias) {
			return refuse(tool.Invalid, path, "alias %q is given twice", alias)
		}
	}
	for _, old := range slices.Sorted(maps.Keys(i.FormerNames)) {
		path := "/interaction/former_names/" + old
		if err := checkName(path, "former name", old, s.Slug); err != nil {
			return err
		}
		if slices.Contains(i.Aliases, old) {
			return refuse(tool.Invalid, path, "%q is both an alias and a former name", old)
		}
		if _, err := time.Parse(time.DateOnly, i.FormerNames[old]); err != nil {
			return refuse(tool.Invalid, path, "%.40q: expected the last day that the name works, such as 2027-06-30",
				i.FormerNames[old])
		}
	}
	return nil
}

func checkName(path, what, name, slug string) error {
	if !tool.ValidSlug(name) {
		return refuse(tool.Invalid, path, "%s %.80q: expected what a slug may be", what, name)
	}
	if name == slug {
		return refuse(tool.Invalid, path, "%s %q is the tool's own slug", what, name)
	}
	return nil
}

// FurtherName is a name that a tool has beside its slug.
type FurtherName struct {
	Name    string
	ToolID  string
	Slug    string // Of the tool.
	LastDay string // Of a former name, "2006-01-02" in UTC; empty for an alias.
}

// Former reports whether the tool had the name, and keeps it until a day.
func (n FurtherName) Former() bool { return n.LastDay != "" }

// Taken refuses the name to another tool: a former name as its slug, and any as a
// further name of its own.
func (n FurtherName) Taken(op string) *tool.Error {
	if !n.Former() {
		return &tool.Error{Kind: tool.Conflict, Op: op, Path: namesPath, Msg: fmt.Sprintf(
			"the name %q belongs to another tool already; take it from that one first, by publishing a version of it without",
			n.Name)}
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: op, Path: "/slug", Err: &RenamedError{Slug: n.Slug}, Msg: fmt.Sprintf(
			"%q is the former name of tool %q until %s: choose another slug, or end the former names of that tool with "+
				"toolcrib tool rename %s %s --drop-former", n.Name, n.Slug, n.LastDay, n.Slug, n.Slug),
	}
}

// furtherNames returns the aliases and former names that a version gives its tool.
func furtherNames(i tool.Interaction) []string {
	return slices.Concat(i.Aliases, slices.Sorted(maps.Keys(i.FormerNames)))
}

// checkFormer refuses a slug for a new tool that is a former name of another one.
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

// checkReach refuses to publish a version whose further names would lead
// elsewhere: the slug of a tool goes before every alias, and what another tool
// has as a further name it keeps.
func (r *Registry) checkReach(ctx context.Context, v *tool.Version) error {
	if !v.Published {
		return nil
	}
	names := furtherNames(v.Snapshot.Interaction)
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
			return refuse(tool.Conflict, namesPath, "%q is the slug of the %s tool %s, which calls by that name reach", name,
				other.Scope(), other.ID)
		case tool.KindOf(err) != tool.NotFound:
			return fmt.Errorf("looking for a tool %q: %w", name, err)
		}
	}
	return nil
}
