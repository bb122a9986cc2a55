package agentspec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved are words that no expression may have as a member's name.
var reserved = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
	"namespace", "null", "package", "return", "true", "var", "void", "while",
}

func member(name string) string {
	if plainName.MatchString(name) && !slices.Contains(reserved, name) {
		return "." + name
	}
	return "[" + quoted(name) + "]"
}

// expression writes a binding of a text as an expression of one. What is missing is its default, or no text.
func expression(b any) string {
	ref, ok := b.(map[string]any)
	from, isRef := ref[keyFrom].(string)
	if !ok || !isRef {
		if lit, ok := ref[keyLiteral]; ok {
			b = lit
		}
		return quoted(plain(b))
	}
	p, err := jsonpointer.Parse(from)
	if err != nil || len(p.Tokens()) == 0 {
		return quoted("")
	}
	tokens := p.Tokens()
	path, known := tokens[0], 1
	if tokens[0] == "nodes" && len(tokens) > 1 { // Which are named one by one, and always there.
		path, known = path+member(tokens[1]), 2
	}
	var present []string
	for _, name := range tokens[known:] {
		present = append(present, fmt.Sprintf("%s in %s", quoted(name), path))
		path += member(name)
	}
	fallback, has := ref[keyDefault]
	if !has || len(present) == 0 {
		return "string(" + path + ")"
	}
	return fmt.Sprintf("(%s ? string(%s) : %s)", strings.Join(present, " && "), path, quoted(plain(fallback)))
}

// plain returns a value as a text.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return string(encode(v))
}
