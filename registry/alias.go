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

// namesPath is what refusals blame that tell of a name another tool has.
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

// checkReach refuses to publish a version whose further names would lead
// elsewhere: the slug of a tool goes before every alias. What another tool has
// as a further name, the store refuses.
func (r *Registry) checkReach(ctx context.Context, v *tool.Version) error {
	if !v.Published {
		return nil
	}
	i := v.Snapshot.Interaction
	for _, name := range slices.Concat(i.Aliases, slices.Sorted(maps.Keys(i.FormerNames))) {
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
