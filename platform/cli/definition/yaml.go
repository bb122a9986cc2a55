package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// maxNodes bounds what aliases may blow a file up to.
const maxNodes = 200_000

// Parse reads the YAML documents of a file, JSON being YAML, as JSON.
// Numbers keep their spelling, and every value its place.
func Parse(name string, raw []byte) (documents []Document, err error) {
	defer func() {
		if e, ok := errors.AsType[*FileError](err); ok {
			e.quote(raw)
		}
	}()
	for _, part := range splitDocuments(raw) {
		file, err := parser.ParseBytes(part.text, 0)
		if err != nil {
			return nil, syntaxError(name, part.before, err)
		}
		for _, doc := range file.Docs {
			if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
				continue
			}
			r := reader{file: name, before: part.before, places: make(map[string]place), anchors: make(map[string]ast.Node)}
			r.mark("", doc.Body)
			if err := r.value("", doc.Body); err != nil {
				return nil, err
			}
			documents = append(documents, Document{
				file: name, Raw: json.RawMessage(r.out.String()), places: r.places, source: raw,
			})
		}
	}
	return documents, nil
}

// part is the text of one document of a file.
type part struct {
	text   []byte
	before int // Lines before it.
}

// splitDocuments splits a file at its document markers, which cannot occur
// elsewhere. The parser would lose a document that follows an empty one.
func splitDocuments(raw []byte) []part {
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	parts := []part{{}}
	for i, line := range bytes.SplitAfter(raw, []byte("\n")) {
		last := &parts[len(parts)-1]
		if rest, ok := afterMarker(line); ok {
			parts = append(parts, part{text: rest, before: i})
			continue
		}
		if bytes.HasPrefix(line, []byte("%")) && len(bytes.TrimSpace(last.text)) == 0 {
			line = []byte("\n") // A directive.
		}
		last.text = append(last.text, line...)
	}
	return parts
}

// afterMarker returns what follows a document marker, in its column.
func afterMarker(line []byte) (rest []byte, ok bool) {
	for _, marker := range []string{"---", "..."} {
		rest, found := bytes.CutPrefix(line, []byte(marker))
		if found && (len(rest) == 0 || bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[0]))) {
			return append([]byte("   "), rest...), true
		}
	}
	return nil, false
}

func syntaxError(name string, before int, err error) error {
	e, ok := errors.AsType[*yaml.SyntaxError](err)
	if !ok || e.Token == nil {
		return &FileError{File: name, Msg: "malformed YAML: " + err.Error()}
	}
	msg := e.Message
	if strings.Contains(msg, "character '\t'") {
		msg = "there is a tab, and YAML is indented with spaces"
	}
	return &FileError{
		File: name, Line: before + e.Token.Position.Line, Column: e.Token.Position.Column,
		Msg: "malformed YAML: " + msg,
	}
}

// reader writes a document as JSON.
type reader struct {
	file    string
	before  int // Lines before the document.
	out     bytes.Buffer
	places  map[string]place
	anchors map[string]ast.Node
	nodes   int
}

func (r *reader) mark(pointer string, n ast.Node) {
	if t := first(n); t != nil {
		r.places[spelling(pointer)] = place{r.before + t.Position.Line, t.Position.Column}
	}
}

// first returns the token a node begins with.
func first(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

func (r *reader) fault(n ast.Node, format string, args ...any) error {
	e := &FileError{File: r.file, Msg: fmt.Sprintf(format, args...)}
	if t := first(n); t != nil {
		e.Line, e.Column = r.before+t.Position.Line, t.Position.Column
	}
	return e
}

// value writes a node.
func (r *reader) value(pointer string, n ast.Node) error {
	if r.nodes++; r.nodes > maxNodes {
		return r.fault(n, "the document is too large, or its aliases make it so")
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(pointer, n, n.Values)
	case *ast.MappingValueNode:
		return r.mapping(pointer, n, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		return r.sequence(pointer, n)
	case *ast.AnchorNode:
		if err := r.value(pointer, n.Value); err != nil {
			return err
		}
		r.anchors[n.Name.GetToken().Value] = n.Value // Only now: an alias within would have no end.
		return nil
	case *ast.AliasNode:
		target, err := r.target(n)
		if err != nil {
			return err
		}
		return r.value(pointer, target)
	case *ast.TagNode:
		return r.fault(n, "the tag %s is not supported", n.GetToken().Value)
	default:
		return r.scalar(n)
	}
}

func (r *reader) target(n *ast.AliasNode) (ast.Node, error) {
	name := n.Value.GetToken().Value
	if target, ok := r.anchors[name]; ok {
		return target, nil
	}
	return nil, r.fault(n, "there is no anchor &%s before this alias", name)
}

func (r *reader) sequence(pointer string, n *ast.SequenceNode) error {
	r.out.WriteByte('[')
	for i, item := range n.Values {
		if i > 0 {
			r.out.WriteByte(',')
		}
		at := pointer + "/" + strconv.Itoa(i)
		r.mark(at, item)
		if err := r.value(at, item); err != nil {
			return err
		}
	}
	r.out.WriteByte(']')
	return nil
}

// mapping writes members. Those of a merge key come first, unless the mapping
// has a member of the same name.
func (r *reader) mapping(pointer string, n ast.Node, values []*ast.MappingValueNode) error {
	members, err := r.members(values)
	if err != nil {
		return err
	}
	r.out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			r.out.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return r.fault(n, "the name %q cannot be written as JSON", m.name)
		}
		r.out.Write(name)
		r.out.WriteByte(':')
		at := pointer + "/" + jsonpointer.Escape(m.name)
		r.mark(at, m.key)
		if err := r.value(at, m.value); err != nil {
			return err
		}
	}
	r.out.WriteByte('}')
	return nil
}
