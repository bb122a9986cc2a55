package definition

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// maxNames bounds the further names of a tool.
const maxNames = 32

// NamesPath is the Path of errors about a name that another tool has.
const NamesPath = "/interaction/aliases"

// checkFurtherNames fails for malformed or repeated aliases and former names. It
// does not compare them with the names of other tools.
func checkFurtherNames(s *ToolSpec) error {
	i := s.Interaction
	if n := len(i.Aliases) + len(i.FormerNames); n > maxNames {
		return refusal.New(tool.Invalid, "/interaction/aliases", "%d further names: expected at most %d", n, maxNames)
	}
	for n, alias := range i.Aliases {
		path := fmt.Sprintf("/interaction/aliases/%d", n)
		if err := checkName(path, "alias", alias, s.Slug); err != nil {
			return err
		}
		if slices.Contains(i.Aliases[:n], alias) {
			return refusal.New(tool.Invalid, path, "alias %q is given twice", alias)
		}
	}
	for _, old := range slices.Sorted(maps.Keys(i.FormerNames)) {
		path := "/interaction/former_names/" + old
		if err := checkName(path, "former name", old, s.Slug); err != nil {
			return err
		}
		if slices.Contains(i.Aliases, old) {
			return refusal.New(tool.Invalid, path, "%q is both an alias and a former name", old)
		}
		if _, err := time.Parse(time.DateOnly, i.FormerNames[old]); err != nil {
			return refusal.New(tool.Invalid, path, "%.40q: expected the last day that the name works, such as 2027-06-30",
				i.FormerNames[old])
		}
	}
	return nil
}

func checkName(path, what, name, slug string) error {
	if !tool.ValidSlug(name) {
		return refusal.New(tool.Invalid, path, "%s %.80q: expected what a slug may be", what, name)
	}
	if name == slug {
		return refusal.New(tool.Invalid, path, "%s %q is the tool's own slug", what, name)
	}
	return nil
}

// FurtherNames returns the aliases and former names that a version gives its tool.
func FurtherNames(i tool.Interaction) []string {
	return slices.Concat(i.Aliases, slices.Sorted(maps.Keys(i.FormerNames)))
}
