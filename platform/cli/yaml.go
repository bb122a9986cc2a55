package cli

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
)

// maxNodes bounds what aliases may blow a file up to.
const maxNodes = 200_000

// parseDocuments reads the YAML documents of a file, JSON being YAML, as JSON.
// Numbers keep their spelling, and every value its place.
func parseDocuments(name string, raw []byte) ([]document, error) {
	file, err := parser.ParseBytes(raw, 0)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	var documents []document
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		r := reader{file: name, places: make(map[string]place), anchors: make(map[string]ast.Node)}
		r.mark("", doc.Body)
		if err := r.value("", doc.Body); err != nil {
			return nil, err
		}
		documents = append(documents, document{file: name, raw: json.RawMessage(r.out.String()), places: r.places})
	}
	return documents, nil
}

func syntaxError(name string, err error) error {
	e, ok := errors.AsType[*yaml.SyntaxError](err)
	if !ok || e.Token == nil {
		return &FileError{File: name, Msg: "malformed YAML: " + err.Error()}
	}
	return &FileError{File: name, Line: e.Token.Position.Line, Column: e.Token.Position.Column, Msg: "malformed YAML: " + e.Message}
}

// reader writes a document as JSON.
type reader struct {
	file    string
	out     bytes.Buffer
	places  map[string]place
	anchors map[string]ast.Node
	nodes   int
}

func (r *reader) mark(pointer string, n ast.Node) {
	if t := first(n); t != nil {
		r.places[spelling(pointer)] = place{t.Position.Line, t.Position.Column}
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
		e.Line, e.Column = t.Position.Line, t.Position.Column
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

// mapping writes members. Those that a merge key brings come first, unless a
// member of the same name stands beside it.
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
		at := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(m.name)
		r.mark(at, m.key)
		if err := r.value(at, m.value); err != nil {
			return err
		}
	}
	r.out.WriteByte('}')
	return nil
}
