package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolcrib/toolcrib/tool"
)

// maxProblems is how many problems a message lists.
const maxProblems = 3

// problem is one way in which a value misses the schema.
type problem struct {
	path     string // JSON Pointer; empty for the whole value.
	expected string
	got      string
}

func (p problem) String() string {
	path := p.path
	if path == "" {
		path = "the top"
	}
	return fmt.Sprintf("at %s expected %s, got %s", clip(path, 120), p.expected, p.got)
}

// explain turns the library's finding about v into the platform's error.
func (s *Schema) explain(ve *jsonschema.ValidationError, v any) error {
	problems := s.problems(ve, v)
	slices.SortFunc(problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.expected, b.expected))
	})
	problems = slices.Compact(problems)
	texts := make([]string, 0, maxProblems+1)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		texts = append(texts, p.String())
	}
	if more := len(problems) - maxProblems; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return &tool.Error{
		Kind: tool.Invalid, Op: "schema.Validate",
		Msg: strings.Join(texts, "; "), Path: clip(problems[0].path, 240),
	}
}

// problems lists the leaves of the library's finding.
func (s *Schema) problems(ve *jsonschema.ValidationError, v any) []problem {
	keyword := lastToken(fragment(ve.AbsoluteKeywordLocation))
	if (keyword == "anyOf" || keyword == "oneOf") && len(ve.Causes) > 0 {
		return s.alternatives(ve, v)
	}
	if len(ve.Causes) > 0 && keyword != "minContains" {
		var out []problem
		for _, cause := range ve.Causes {
			out = append(out, s.problems(cause, v)...)
		}
		return out
	}
	path := unescapeLocation(ve.InstanceLocation)
	value, _ := lookup(v, path)
	node, _ := lookup(s.doc, parent(fragment(ve.AbsoluteKeywordLocation)))
	m, _ := node.(map[string]any)
	var out []problem
	switch keyword {
	case "required":
		out = missing(m, value, path)
	case "additionalProperties":
		out = surplus(m, value, path)
	default:
		out = s.dependent(fragment(ve.AbsoluteKeywordLocation), path)
	}
	if len(out) == 0 {
		out = []problem{{path, expectation(keyword, m), describe(value)}}
	}
	return out
}

// alternatives explains a failed anyOf or oneOf: by the one branch that the
// value seems to mean, if there is one.
func (s *Schema) alternatives(ve *jsonschema.ValidationError, v any) []problem {
	path := unescapeLocation(ve.InstanceLocation)
	var meant []*jsonschema.ValidationError
	for _, branch := range ve.Causes {
		leaf := firstLeaf(branch)
		if leaf.InstanceLocation != ve.InstanceLocation || lastToken(leaf.AbsoluteKeywordLocation) != "type" {
			meant = append(meant, branch)
		}
	}
	if len(meant) == 1 {
		return s.problems(meant[0], v)
	}
	value, _ := lookup(v, path)
	var kinds []string
	node, _ := lookup(s.doc, fragment(ve.AbsoluteKeywordLocation))
	branches, _ := node.([]any)
	for _, branch := range branches {
		if m, ok := branch.(map[string]any); ok && m["type"] != nil {
			kinds = append(kinds, expectation("type", m))
		}
	}
	expected := fmt.Sprintf("one of %d forms", len(ve.Causes))
	if len(kinds) == len(branches) && len(kinds) > 0 {
		slices.Sort(kinds)
		expected = clip(strings.Join(slices.Compact(kinds), " or "), 120)
	}
	return []problem{{path, expected, describe(value)}}
}

func missing(m map[string]any, value any, path string) []problem {
	object, _ := value.(map[string]any)
	required, _ := m["required"].([]any)
	props, _ := m["properties"].(map[string]any)
	var out []problem
	for _, name := range required {
		name, _ := name.(string)
		if _, ok := object[name]; ok {
			continue
		}
		expected := "a value (it is required)"
		if sub, ok := props[name].(map[string]any); ok && sub["type"] != nil {
			expected = expectation("type", sub) + " (it is required)"
		}
		out = append(out, problem{path + "/" + escapeToken(name), expected, "nothing"})
	}
	return out
}

func surplus(m map[string]any, value any, path string) []problem {
	object, _ := value.(map[string]any)
	props, _ := m["properties"].(map[string]any)
	patterns, _ := m["patternProperties"].(map[string]any)
	expected := "no such property"
	if len(props) > 0 {
		expected += fmt.Sprintf(" (there are %s)", clip(strings.Join(slices.Sorted(maps.Keys(props)), ", "), 160))
	}
	var out []problem
	for name, item := range object {
		if _, declared := props[name]; declared || matchesAny(patterns, name) {
			continue
		}
		out = append(out, problem{path + "/" + clip(escapeToken(name), 40), expected, describe(item)})
	}
	return out
}

// dependent explains a property that is required beside another.
func (s *Schema) dependent(location, path string) []problem {
	names := tokens(location)
	if n := len(names); n < 3 || names[n-3] != "dependentRequired" && names[n-3] != "dependencies" {
		return nil
	}
	required, _ := lookup(s.doc, location)
	name, ok := required.(string)
	if !ok {
		return nil
	}
	beside := names[len(names)-2]
	return []problem{{path + "/" + escapeToken(name), fmt.Sprintf("a value (it is required beside %s)", clip(beside, 40)), "nothing"}}
}

// firstLeaf follows the first cause down to its end.
func firstLeaf(ve *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(ve.Causes) > 0 {
		ve = ve.Causes[0]
	}
	return ve
}

// parent drops the last name of a JSON Pointer.
func parent(pointer string) string {
	if i := strings.LastIndexByte(pointer, '/'); i >= 0 {
		return pointer[:i]
	}
	return ""
}
