package quality

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/registry/definition"
)

// reading are verbs of tools that only read; changing are those of tools that change what is there,
// and so have to be given a target.
var (
	reading = strings.Fields(`browse calculate check compare compute convert count describe detect estimate evaluate explain
		fetch filter find format get identify inspect list look lookup preview query rank read recommend research retrieve
		review search show suggest summarize validate verify view`)
	changing = strings.Fields(`accept activate approve archive assign cancel change clear close deactivate decide delete
		disable disconnect dismiss edit enable erase merge modify move mute patch pause pay publish purge reject release
		remove rename reopen replace reschedule resolve restore resume revoke trigger unassign unblock unlock unpublish
		unsubscribe update upgrade withdraw refund delegate`)
)

// slug checks the name of a tool.
func slug(s *Subject) []Finding {
	var out []Finding
	for _, text := range definition.SlugWarnings(s.Slug) {
		code := SlugVerb
		if !definition.CamelCase(s.Slug) {
			code = SlugStyle
		}
		out = append(out, Finding{code, "/slug", text})
	}
	return out
}

// words splits a slug into its verb and its nouns, in lower case and the singular.
func words(slug string) (verb string, nouns []string) {
	var all []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			all = append(all, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	for _, r := range slug {
		switch {
		case r == '_' || r == '-':
			flush()
			continue
		case unicode.IsUpper(r):
			flush()
		}
		word.WriteRune(r)
	}
	flush()
	if len(all) == 0 {
		return "", nil
	}
	for _, noun := range all[1:] {
		nouns = append(nouns, singular(noun))
	}
	return all[0], nouns
}

// singular returns the singular of an English noun, for comparing.
func singular(noun string) string {
	switch {
	case len(noun) > 4 && strings.HasSuffix(noun, "ies"):
		return strings.TrimSuffix(noun, "ies") + "y"
	case len(noun) > 4 && slices.ContainsFunc([]string{"sses", "xes", "ches"}, func(end string) bool {
		return strings.HasSuffix(noun, end)
	}):
		return strings.TrimSuffix(noun, "es")
	case len(noun) > 3 && strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss"):
		return strings.TrimSuffix(noun, "s")
	}
	return noun
}

// finder looks for a tool that only reads and finds the target of a change.
func finder(s *Subject, siblings []Sibling) []Finding {
	verb, nouns := words(s.Slug)
	if !changes(s) || !slices.Contains(changing, verb) || len(nouns) == 0 {
		return nil
	}
	for _, other := range siblings {
		by, of := words(other.Slug)
		if other.Reads && slices.Contains(reading, by) && slices.Contains(of, nouns[0]) {
			return nil
		}
	}
	target := strings.ToUpper(nouns[0][:1]) + nouns[0][1:]
	return []Finding{{
		NoFinder, "/slug",
		"no tool that only reads finds what it changes: make one such as list" + target + "s or get" + target,
	}}
}
