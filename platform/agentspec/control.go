package agentspec

import (
	"cmp"
	"slices"
	"strings"
)

// order is the control flow of a flow, taken apart: what dominates what, what may come before what, and loops.
type order struct {
	reached []bool
	rank    []int    // Reverse postorder, back edges left out.
	dom     [][]bool // dom[a][b]: every way to b leads through a.
	before  [][]bool // before[a][b]: b comes after a, within an iteration.
	loops   []*cycle // Outer ones first.
	in      []*cycle // The innermost loop of each node; nil for none.
}

// cycle is a loop of control edges.
type cycle struct {
	head int
	has  []bool
	size int
	up   *cycle
	// Ids of its nodes in the graph: before the loop, the loop, the branch behind it, the end of an iteration.
	enter, loop, leave, again string
	variable                  string // Of the state: where the loop is left to; empty while it goes on.
	exits                     []exit
}

// exit is a node to which a loop is left.
type exit struct {
	to int
	id string // Of the node in the body that leaves.
}

// within reports whether a cycle is another one, or in it. The whole flow is nil.
func (c *cycle) within(other *cycle) bool {
	for ; c != nil; c = c.up {
		if c == other {
			return true
		}
	}
	return other == nil
}

// analyze takes the control flow of a flow apart. Cycles that are entered in several places are a fault.
func (f *findings) analyze(flow *flowSpec) (*order, bool) {
	count := len(flow.nodes)
	o := &order{reached: make([]bool, count), rank: make([]int, count), in: make([]*cycle, count)}
	var walk []int
	var visit func(at int)
	visit = func(at int) {
		o.reached[at] = true
		for _, v := range slices.Backward(flow.nodes[at].leads) {
			if to := v.to; !o.reached[to] {
				visit(to)
			}
		}
		walk = append(walk, at)
	}
	roots := flow.roots()
	for _, root := range slices.Backward(roots) {
		if !o.reached[root] {
			visit(root)
		}
	}
	slices.Reverse(walk)
	o.dominate(flow, walk)
	if !f.acyclic(flow, o) {
		return nil, false
	}
	o.findLoops(flow)
	return o, true
}

// dominate computes dominators over the nodes in reverse postorder.
func (o *order) dominate(flow *flowSpec, walk []int) {
	count, roots := len(flow.nodes), flow.roots()
	o.dom = make([][]bool, count)
	for a := range o.dom {
		o.dom[a] = make([]bool, count)
		for b := range o.dom[a] {
			o.dom[a][b] = o.reached[a] && o.reached[b] && (!slices.Contains(roots, b) || a == b)
		}
	}
	into := make([][]int, count)
	for _, at := range walk {
		for _, l := range flow.nodes[at].leads {
			into[l.to] = append(into[l.to], at)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range walk {
			if slices.Contains(roots, b) {
				continue
			}
			for a := range count {
				if a == b || !o.dom[a][b] {
					continue
				}
				for _, from := range into[b] {
					if !o.dom[a][from] {
						o.dom[a][b], changed = false, true
						break
					}
				}
			}
		}
	}
}

// back reports whether an edge leads back to the head of a loop that it is in.
func (o *order) back(from, to int) bool { return o.dom[to][from] }

// acyclic ranks the nodes without back edges, and reports whether no cycle is left.
func (f *findings) acyclic(flow *flowSpec, o *order) bool {
	count := len(flow.nodes)
	const unseen, open, closed = 0, 1, 2
	mark, stack, post := make([]int, count), []int{}, []int{}
	o.before = make([][]bool, count)
	sound := true
	var visit func(at int)
	visit = func(at int) {
		mark[at], stack = open, append(stack, at)
		o.before[at] = make([]bool, count)
		for _, v := range slices.Backward(flow.nodes[at].leads) {
			to := v.to
			if o.back(at, to) {
				continue
			}
			if mark[to] == open && sound {
				sound = false
				var names []string
				for _, in := range stack[slices.Index(stack, to):] {
					names = append(names, flow.nodes[in].name)
				}
				f.fault(flow.path+"/control_flow_connections",
					"the cycle of %s is entered in several places: a loop has one node that leads into it", strings.Join(names, ", "))
			}
			if mark[to] == unseen {
				visit(to)
			}
			o.before[at][to] = true
			if mark[to] == closed {
				for b := range count {
					o.before[at][b] = o.before[at][b] || o.before[to][b]
				}
			}
		}
		mark[at], stack, post = closed, stack[:len(stack)-1], append(post, at)
	}
	roots := flow.roots()
	for _, root := range slices.Backward(roots) {
		if mark[root] == unseen {
			visit(root)
		}
	}
	for i, at := range post {
		o.rank[at] = len(post) - i
	}
	return sound
}

// findLoops finds the natural loops, and which is in which.
func (o *order) findLoops(flow *flowSpec) {
	count := len(flow.nodes)
	into := make([][]int, count)
	heads := map[int][]int{}
	for at, n := range flow.nodes {
		for _, l := range n.leads {
			if !o.reached[at] {
				continue
			}
			into[l.to] = append(into[l.to], at)
			if o.back(at, l.to) {
				heads[l.to] = append(heads[l.to], at)
			}
		}
	}
	for head := range count {
		if heads[head] == nil {
			continue
		}
		c := &cycle{head: head, has: make([]bool, count), size: 1}
		c.has[head] = true
		for todo := heads[head]; len(todo) > 0; {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !c.has[at] {
				c.has[at] = true
				c.size++
				todo = append(slices.Clone(todo), into[at]...)
			}
		}
		o.loops = append(o.loops, c)
	}
	slices.SortStableFunc(o.loops, func(a, b *cycle) int { return cmp.Compare(b.size, a.size) })
	for i, c := range o.loops {
		for _, outer := range o.loops[:i] {
			if outer.has[c.head] {
				c.up = outer
			}
		}
		for at, has := range c.has {
			if has {
				o.in[at] = c
			}
		}
	}
}

// roots are the nodes that a flow begins with: its start node, and a node of ours that runs where the flow fails.
func (f *flowSpec) roots() []int {
	out := []int{f.start}
	if id, ok := f.own()["on_error"].(string); ok {
		for at, n := range f.nodes {
			if n.id == id && n.kind != startNode {
				out = append(out, at)
			}
		}
	}
	return out
}
