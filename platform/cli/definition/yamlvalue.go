package definition

import (
	"encoding/json"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// member is a name and a value of a mapping.
type member struct {
	name  string
	key   ast.Node
	value ast.Node
}

// members lists the members of a mapping, with those that its merge key brings.
func (r *reader) members(values []*ast.MappingValueNode) ([]member, error) {
	var own, merged []member
	for _, v := range values {
		if v.Key.IsMergeKey() {
			brought, err := r.merge(v.Value)
			if err != nil {
				return nil, err
			}
			merged = append(merged, brought...)
			continue
		}
		name := v.Key.GetToken().Value
		if slices.ContainsFunc(own, func(m member) bool { return m.name == name }) {
			return nil, r.fault(v.Key, "%q is given twice", name)
		}
		own = append(own, member{name: name, key: v.Key, value: v.Value})
	}
	for _, m := range merged {
		if !slices.ContainsFunc(own, func(have member) bool { return have.name == m.name }) {
			own = append(own, m)
		}
	}
	return own, nil
}

// merge lists what a merge key's value brings.
func (r *reader) merge(n ast.Node) ([]member, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, r.fault(n, "the document is too large, or its aliases make it so")
	}
	switch n := n.(type) {
	case *ast.AliasNode:
		target, err := r.target(n)
		if err != nil {
			return nil, err
		}
		return r.merge(target)
	case *ast.MappingNode:
		return r.members(n.Values)
	case *ast.MappingValueNode:
		return r.members([]*ast.MappingValueNode{n})
	default:
		return nil, r.fault(n, "a merge key takes a mapping, or an alias of one")
	}
}

// scalar writes a value without members.
func (r *reader) scalar(n ast.Node) error {
	switch n := n.(type) {
	case *ast.NullNode:
		r.out.WriteString("null")
		return nil
	case *ast.BoolNode:
		return r.encode(n, n.Value)
	case *ast.IntegerNode:
		if isNumber(n.Token.Value) {
			r.out.WriteString(n.Token.Value)
			return nil
		}
		return r.encode(n, n.Value) // Hexadecimal and the like.
	case *ast.FloatNode:
		if isNumber(n.Token.Value) {
			r.out.WriteString(n.Token.Value)
			return nil
		}
		return r.encode(n, n.Value)
	case *ast.StringNode:
		// Numbers too large for a machine, and such as 1e3, are parsed as text.
		if n.Token.Type == token.StringType && isNumber(n.Token.Value) {
			r.out.WriteString(n.Token.Value)
			return nil
		}
		return r.encode(n, n.Value)
	case *ast.LiteralNode:
		return r.encode(n, n.Value.Value)
	case *ast.InfinityNode, *ast.NanNode:
		return r.fault(n, "%s is no number in JSON", n.GetToken().Value)
	default:
		return r.fault(n, "this cannot be written as JSON")
	}
}

func (r *reader) encode(n ast.Node, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return r.fault(n, "this cannot be written as JSON")
	}
	r.out.Write(raw)
	return nil
}

// isNumber reports whether text is a number as JSON spells one.
func isNumber(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	return json.Valid([]byte(text))
}
