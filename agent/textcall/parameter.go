package textcall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// Elements within the markup of a call.
var (
	nameElements      = []string{"name", "tool_name", "function_name"}
	argumentElements  = []string{"arguments", "parameters", "input", "args"}
	parameterElements = []string{"parameter", "param", "arg", "argument"}
)

// parameters reads the arguments of a call as elements of their own, from pos on to the ending
// of the markup, which must be there: without it, some could be missing. The values are strings,
// of which the tool's schema makes what it declares. A call within other markup needs no
// arguments.
func (f *finder) parameters(o opening, pos, depth int) ([]Call, int, bool) {
	var members []jsonvalue.Member
	for {
		if pos = skipSpace(f.text, pos, ""); pos >= len(f.text) || f.left < 0 {
			return nil, pos, false
		}
		if end := f.ending(o, pos); end >= 0 {
			args := arguments(jsonvalue.NewObject(members))
			if args == nil || len(members) == 0 && depth == 0 {
				return nil, end, false
			}
			return []Call{{Name: o.tool, Arguments: args}}, end, true
		}
		name, text, end, ok := f.element(pos, parameterElements)
		repeated := slices.ContainsFunc(members, func(m jsonvalue.Member) bool { return m.Name == name })
		if !ok || name == "" || repeated || len(members) == maxParameters || strings.Contains(text, "<parameter") {
			return nil, pos, false
		}
		members = append(members, jsonvalue.Member{Name: name, Value: jsonvalue.NewString(inElement(text))})
		pos = end
	}
}

// maxParameters bounds the elements of a call.
const maxParameters = 64

// inElement returns the text of an element without the white space that only sets it apart from
// its tags.
func inElement(text string) string {
	if line := strings.TrimSpace(text); !strings.Contains(line, "\n") {
		return line
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// element reads the element at pos, if it is one of the given ones: the name in its tag, its
// text and its end.
func (f *finder) element(pos int, allowed []string) (name, text string, end int, ok bool) {
	if pos >= len(f.text) || f.text[pos] != '<' {
		return "", "", pos, false
	}
	tag, attributes, closing, from, ok := element(f.text, pos)
	if !ok || closing || !slices.Contains(allowed, tag) {
		return "", "", pos, false
	}
	written := f.text[pos+1 : from] // With its namespace.
	ending := "</" + strings.ToLower(written[:strings.IndexAny(written, " \t=>")]) + ">"
	before := f.pos
	ok = f.skipTo(from, ending)
	end, f.pos = f.pos, before
	if !ok {
		return "", "", pos, false
	}
	return nameIn(attributes), f.text[from : end-len(ending)], end, true
}

// nameIn returns the name that a tag has: behind an equals sign, or in the attribute "name".
func nameIn(attributes string) string {
	value, ok := strings.CutPrefix(attributes, "=")
	if !ok {
		if value, ok = strings.CutPrefix(attributes, "name="); !ok {
			return ""
		}
	}
	value = strings.TrimSpace(value)
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		value, _, _ = strings.Cut(value[1:], value[:1])
	}
	return value
}

// described reads a call whose name and arguments are elements within its markup.
func (f *finder) described(o opening, pos, depth int) ([]Call, int, bool) {
	_, name, end, ok := f.element(pos, nameElements)
	if !ok {
		return nil, pos, false
	}
	o.tool = strings.TrimSpace(name)
	if !f.offered(o.tool) {
		return nil, pos, false
	}
	pos = skipSpace(f.text, end, "")
	_, text, end, ok := f.element(pos, argumentElements)
	if !ok {
		return f.parameters(o, pos, depth)
	}
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") || !f.spend(2*len(text)) {
		return nil, pos, false
	}
	v, repaired, err := decodeText(text)
	closed := f.ending(o, skipSpace(f.text, end, ""))
	if err != nil || closed < 0 {
		return nil, pos, false
	}
	var args json.RawMessage
	if args = arguments(v); args == nil {
		return nil, pos, false
	}
	return []Call{{Name: o.tool, Arguments: args, Repaired: repaired}}, closed, true
}
