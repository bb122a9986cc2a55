package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of templates.
const (
	MaxTemplate = 32 << 10  // Bytes of a template.
	MaxRendered = 256 << 10 // Bytes of a rendered template.
)

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	parts []part
}

// part is a literal, or a placeholder.
type part struct {
	literal string
	place   *jsonpointer.Pointer
	offset  int // Of the placeholder in the template.
}

// Parse parses a template. It fails with [tool.Invalid], with line and column of the fault.
func Parse(text string) (*Template, error) {
	if len(text) > MaxTemplate {
		return nil, fault(fmt.Sprintf("the template has %d bytes: at most %d", len(text), MaxTemplate))
	}
	t := &Template{}
	for at := 0; at < len(text); {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			t.literal(text[at:])
			break
		}
		before := text[at : at+open]
		at += open + len("{{")
		plain := strings.TrimRight(before, `\`)
		slashes := len(before) - len(plain)
		t.literal(plain + strings.Repeat(`\`, slashes/2))
		if slashes%2 == 1 {
			t.literal("{{")
			continue
		}
		content, _, closed := strings.Cut(text[at:], "}}")
		if !closed {
			return nil, faultAt(
				text, at-len("{{"), `{{ is not closed: want }} after the name, or \{{ for the two braces themselves`,
			)
		}
		place, err := placeOf(strings.TrimSpace(content))
		if err != nil {
			return nil, faultAt(text, at-len("{{"), err.Error())
		}
		t.parts = append(t.parts, part{place: place, offset: at - len("{{")})
		at += len(content) + len("}}")
	}
	return t, nil
}

// literal appends text to the previous literal, or as a new one.
func (t *Template) literal(text string) {
	if n := len(t.parts); n > 0 && t.parts[n-1].place == nil {
		t.parts[n-1].literal += text
	} else if text != "" {
		t.parts = append(t.parts, part{literal: text})
	}
}

// placeOf parses the text between the braces.
func placeOf(name string) (*jsonpointer.Pointer, error) {
	if strings.HasPrefix(name, "/") {
		p, err := jsonpointer.Parse(name)
		return &p, err
	}
	if name == "" {
		return nil, errors.New("a placeholder without a name: want {{name}} or {{/name/of/a/value}}")
	}
	if strings.ContainsAny(name, "{}\n\r") {
		return nil, fmt.Errorf(`%.40q is no name of an argument: want {{name}}, or \{{ for the two braces themselves`, name)
	}
	p := jsonpointer.New(name)
	return &p, nil
}

// Check checks a template for arguments of inputSchema: it refuses placeholders for values
// that such arguments cannot have. It fails with [tool.Invalid], with line and column of
// the fault.
func Check(text string, inputSchema json.RawMessage) error {
	t, err := Parse(text)
	if err != nil {
		return err
	}
	for _, p := range t.parts {
		if p.place == nil {
			continue
		}
		if i := schema.Undeclared(inputSchema, p.place.Tokens()); i >= 0 {
			return faultAt(
				text, p.offset, fmt.Sprintf("the input schema declares no %q", jsonpointer.New(p.place.Tokens()[:i+1]...)),
			)
		}
	}
	return nil
}

// Render fills in a call's arguments, a JSON object. It fails with [tool.Invalid] when they are
// not one, or when the text would be larger than [MaxRendered].
func (t *Template) Render(arguments json.RawMessage) (string, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	if !json.Valid(arguments) || bytes.TrimSpace(arguments)[0] != '{' {
		return "", &tool.Error{Kind: tool.Invalid, Op: "template.Render", Msg: "the arguments are not a JSON object"}
	}
	value := jsonpointer.NewValue(arguments)
	var b strings.Builder
	for _, p := range t.parts {
		text := p.literal
		if p.place != nil {
			var err error
			if text, err = textAt(value, *p.place); err != nil {
				return "", err
			}
		}
		if b.Len()+len(text) > MaxRendered {
			path := ""
			if p.place != nil {
				path = p.place.String()
			}
			return "", &tool.Error{
				Kind: tool.Invalid, Op: "template.Render", Path: path,
				Msg: fmt.Sprintf("the rendered template is larger than %d bytes: send less", MaxRendered),
			}
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// textAt returns the text of a placeholder's value.
func textAt(value *jsonpointer.Value, place jsonpointer.Pointer) (string, error) {
	raw, ok := value.Find(place)
	if !ok {
		return "", nil
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err // Can't be: the arguments are valid.
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, raw)
	return compact.String(), err // Can't be: the arguments are valid.
}

// faultAt returns a fault with its line and column in characters, both counted from 1.
func faultAt(text string, offset int, msg string) *tool.Error {
	before := text[:offset]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fault(fmt.Sprintf("line %d, column %d: %s", line, column, msg))
}

func fault(msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "template.Check", Msg: msg}
}
