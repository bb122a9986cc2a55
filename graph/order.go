package graph

import (
	"fmt"

	"github.com/toolcrib/toolcrib/graph/flow"
)

// leads returns where a node of a body may lead, in order.
func (n *node) leads() []int {
	var out []int
	for _, to := range []int{n.next, n.byDefault, n.failTo} {
		if to >= 0 {
			out = append(out, to)
		}
	}
	for _, c := range n.cases {
		if c.next >= 0 {
			out = append(out, c.next)
		}
	}
	return out
}

// order checks that the nodes of a body follow one another without cycles, and that the first
// leads to all of them; it records which may come before which.
func (p *parser) order(b *body) {
	count := len(b.nodes)
	b.before = make([][]bool, count)
	for i := range b.before {
		b.before[i] = make([]bool, count)
	}
	const unseen, open, closed = 0, 1, 2
	mark := make([]int, count)
	cyclic := false
	var visit func(i int)
	visit = func(i int) {
		mark[i] = open
		for _, to := range b.nodes[i].leads() {
			if mark[to] == open && !cyclic {
				cyclic = true
				p.faults.add(b.nodes[i].path, "node %q leads back to %q: edges make no cycles; repeat with a node of kind %s",
					b.nodes[i].ID, b.nodes[to].ID, flow.Loop)
			}
			if mark[to] == unseen {
				visit(to)
			}
			b.before[i][to] = true
			for j := range count {
				b.before[i][j] = b.before[i][j] || b.before[to][j]
			}
		}
		mark[i] = closed
	}
	if count > 0 {
		visit(0)
	}
	if b.owner == nil {
		if n := p.g.nodes[p.g.OnError]; n != nil && n.body == b && mark[n.at] == unseen {
			visit(n.at)
			for j := range count { // Anything may have ended when it begins.
				if j != n.at && !b.before[n.at][j] {
					b.before[j][n.at] = true
				}
			}
		}
	}
	for i, n := range b.nodes {
		if mark[i] == unseen {
			p.faults.add(n.path, "no node leads to %q", n.ID)
		}
		for _, below := range n.bodies {
			p.order(below)
		}
	}
}

// depth is how many bodies are around a body.
func (b *body) depth() int {
	if b.owner == nil {
		return 0
	}
	return b.owner.body.depth() + 1
}

// in returns the node of body b that n is, or that is around it; nil where n is elsewhere.
func (n *node) in(b *body) *node {
	for n != nil && n.body != b {
		n = n.body.owner
	}
	return n
}

// inside reports whether a node, or one around it, is of a kind.
func (b *body) inside(k flow.Kind) bool {
	for ; b.owner != nil; b = b.owner.body {
		if b.owner.Kind == k {
			return true
		}
	}
	return false
}

// place is when a reference is evaluated.
type place int

const (
	placeStart place = iota // Before the first node.
	placeNode               // When the node begins.
	placeSet                // When the node has ended.
	placeEnd                // When the nodes of the body have.
)

// sees returns why something at a node or body does not see the node of an id; "" where it does.
func (p *parser) sees(n *node, b *body, at place, id string) string {
	ref := p.g.nodes[id]
	switch {
	case ref == nil:
		return fmt.Sprintf("there is no %s %.80q", p.g.Noun(), id)
	case at == placeStart:
		return fmt.Sprintf("node %q runs later", id)
	case at == placeEnd && ref.body == b:
		return ""
	case at == placeEnd:
		n = b.owner
	}
	if ref == n && at == placeSet {
		return ""
	}
	here := (*node)(nil)
	if n != nil {
		here = n.in(ref.body)
	}
	switch {
	case here == nil:
		return fmt.Sprintf("node %q is in a body that is closed here: refer to the node around it", id)
	case here == ref && ref == n:
		return "it refers to itself"
	case here == ref:
		return fmt.Sprintf("node %q is around it, and has no result yet", id)
	case !ref.body.before[ref.at][here.at]:
		return fmt.Sprintf("node %q never runs before", id)
	default:
		return ""
	}
}
