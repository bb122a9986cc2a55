package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolcrib/toolcrib/tool"
)

// maxSteps bounds the steps of one validation. The library cannot be
// interrupted, and a recursive schema can make it take exponential time, so
// the steps are counted beforehand, each (schema, value) pair once.
const maxSteps = 500_000

// meter refuses v when validating it would take too many steps. size is the
// length of v's source.
func (s *Schema) meter(v any, size int) error {
	if s.weight >= 0 && s.weight*(size/2+1) <= maxSteps {
		return nil // Cannot take more, whatever the value.
	}
	m := meter{costs: make(map[visit]int)}
	if m.cost(s.root, newNode(v)) > maxSteps {
		return &tool.Error{Kind: tool.Invalid, Op: "schema.Validate", Msg: "too large or too deeply nested to be checked against the schema"}
	}
	return nil
}

type visit struct {
	schema *jsonschema.Schema
	value  *node
}

type meter struct {
	costs map[visit]int
}

// cost counts the steps of validating n by s, saturating just above the limit.
func (m *meter) cost(s *jsonschema.Schema, n *node) int {
	key := visit{s, n}
	if c, ok := m.costs[key]; ok {
		return c
	}
	m.costs[key] = 1 // A cycle on the same value is the library's to refuse.
	total := ownCost(s)
	for _, e := range edges(s) {
		for _, child := range e.in(n) {
			total += m.cost(e.to, child)
			if total > maxSteps || len(m.costs) > maxSteps {
				m.costs[key] = maxSteps + 1
				return maxSteps + 1
			}
		}
	}
	m.costs[key] = total
	return total
}

// node gives each part of a decoded value an identity.
type node struct {
	items []*node
	props map[string]*node
}

func newNode(v any) *node {
	n := &node{}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n.items = append(n.items, newNode(item))
		}
	case map[string]any:
		n.props = make(map[string]*node, len(v))
		for name, item := range v {
			n.props[name] = newNode(item)
		}
	}
	return n
}

func itself(n *node) []*node    { return []*node{n} }
func everyItem(n *node) []*node { return n.items }

func everyProperty(n *node) []*node {
	out := make([]*node, 0, len(n.props))
	for _, p := range n.props {
		out = append(out, p)
	}
	return out
}

func (n *node) property(name string) []*node {
	if p, ok := n.props[name]; ok {
		return []*node{p}
	}
	return nil
}

func (n *node) item(i int) []*node {
	if i < len(n.items) {
		return n.items[i : i+1]
	}
	return nil
}
