package agentspec

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/tool"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// slugOf makes a slug of a name: words in camelCase, or the name itself where it is one.
func slugOf(name, otherwise string) string {
	if tool.ValidSlug(name) {
		return name
	}
	var b strings.Builder
	upper := false
	for _, r := range name {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-':
			upper = b.Len() > 0
			continue
		case b.Len() == 0 && !unicode.IsLetter(r):
			continue
		case b.Len() == 0:
			r = unicode.ToLower(r)
		case upper:
			r = unicode.ToUpper(r)
		}
		upper = false
		b.WriteRune(r)
		if b.Len() >= 56 {
			break
		}
	}
	if !tool.ValidSlug(b.String()) {
		return otherwise
	}
	return b.String()
}

// names gives out names that are unique.
type names map[string]bool

// take returns a slug that is not given out yet: the one that is asked for, or that with a number.
func (n names) take(slug string) string { return n.unique(slug[:min(len(slug), 58)]) }

// unique is take without the limit of slugs.
func (n names) unique(name string) string {
	free := name
	for i := 2; n[free]; i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	n[free] = true
	return free
}

// identifier makes a name of a slug that conditions can use behind a dot.
func identifier(slug string) string { return strings.ReplaceAll(slug, "-", "_") }
