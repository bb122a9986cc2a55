package agentspec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
)

// branchMember is the member of an output that names the branch through which a flow ended.
const branchMember = "agent_spec_branch"

// builder makes the nodes of one graph, those of the flows in its bodies too.
type builder struct {
	*importer

	ids      names
	branches map[string]bool // Of the graph's own flow, where there are several.
}

// scope of one flow: a body.
type region struct {
	*builder

	flow    *flowSpec
	order   *order
	entry   []string            // Id of the first node that each node of the flow becomes.
	main    []string            // Id of the node that does its work.
	exits   []string            // Id of the last node that it becomes.
	start   func(property) any  // Binds to an input of the flow.
	set     []map[string]any    // What each node puts into the state when it has ended.
	shared  []map[string]string // Members of the state that inputs are read from.
	root    bool                // Whether it is the graph's own flow.
	silent  int                 // The end node that stands for the end of the body; -1 for none.
	first   map[string]string   // Ids of nodes that prepare others, by those of the others.
	before  map[string]bool     // Ids of nodes that lead to the node that they prepare.
	started string              // Id of the start node; empty where it is left out.
}

// body makes the nodes of a flow.
func (b *builder) body(f *flowSpec, start func(property) any) []graph.Node {
	o, ok := b.analyze(f)
	if !ok {
		return nil
	}
	r := &region{
		builder: b, flow: f, order: o, start: start, root: len(b.ids) == 0, silent: -1, shared: make([]map[string]string,
			len(f.nodes)),
		entry: make([]string, len(f.nodes)), main: make([]string, len(f.nodes)), exits: make([]string, len(f.nodes)),
		set: make([]map[string]any, len(f.nodes)), first: map[string]string{}, before: map[string]bool{},
	}
	r.reserve()
	r.shareState()
	for at, n := range f.nodes {
		if !o.reached[at] {
			b.lose(n.path, Dropped, "no edge leads to %s", n.called())
		}
	}
	nodes := r.nodes(nil)
	if len(nodes) == 0 && r.started == "" {
		r.started = r.ids.take("start")
	}
	if r.started != "" {
		first := graph.Node{ID: r.started, Kind: flow.Start, Set: encodeAll(r.set[f.start])}
		r.takeOwn(f.start, &first)
		if next, _ := r.flow.nodes[f.start].to(nextBranch); len(f.nodes[f.start].leads) > 0 {
			first.Next = r.lead(nil, next)
		}
		nodes = append([]graph.Node{first}, nodes...)
	}
	r.redirect(nodes)
	return r.sequence(nodes)
}

// redirect leads the edges to nodes that have one before them to that one.
func (r *region) redirect(nodes []graph.Node) {
	to := func(id *string) {
		if first := r.first[*id]; first != "" {
			*id = first
		}
	}
	for i := range nodes {
		n := &nodes[i]
		if !r.before[n.ID] {
			to(&n.Next)
		}
		to(&n.OnError)
		to(&n.Default)
		for j := range n.Cases {
			to(&n.Cases[j].Next)
		}
		if n.Kind == flow.Loop {
			r.redirect(n.Nodes)
		}
	}
}

// reserve gives nodes their ids.
func (r *region) reserve() {
	f := r.flow
	if own := f.nodes[f.start].own(); own != nil && own["node"] != nil {
		r.started = r.ids.take(slugOf(f.nodes[f.start].name, "start"))
	}
	quiet := 0
	for at, n := range f.nodes {
		if !r.order.reached[at] || n.kind == startNode {
			continue
		}
		if n.kind == endNode && n.own()["synthetic"] == true {
			quiet++
			if r.silent = at; quiet > 1 {
				r.silent = -1
			}
		}
	}
	if quiet > 1 || r.silent >= 0 && r.enters(r.silent) > 1 {
		r.silent = -1
	}
	for at, n := range f.nodes {
		if !r.order.reached[at] || n.kind == startNode || at == r.silent {
			continue
		}
		id := r.ids.take(slugOf(n.name, "node"))
		r.entry[at], r.main[at], r.exits[at] = id, id, id
		if (n.kind == mapNode || n.kind == parallelMap) && !n.plainMap() && n.own() == nil {
			r.exits[at] = r.ids.take(id + "_collected")
		}
	}
	for _, c := range r.order.loops {
		if r.ownLoop(c) {
			continue
		}
		id := identifier(r.entry[c.head])
		c.enter, c.loop = r.ids.take(id+"_begin"), r.ids.take(id+"_loop")
		c.again, c.leave = r.ids.take(id+"_again"), r.ids.take(id+"_left")
		c.variable = identifier(c.loop)
	}
}

// enters counts the edges that lead to a node.
func (r *region) enters(to int) int {
	count := 0
	for at, n := range r.flow.nodes {
		for _, l := range n.leads {
			if l.to == to && r.order.reached[at] {
				count++
			}
		}
	}
	return count
}

// lead returns the id of the node that an edge leads to, seen from a loop; empty for the end of the body.
func (r *region) lead(from *cycle, to int) string {
	switch {
	case to == r.silent && from == nil:
		return ""
	case from != nil && to == from.head:
		return from.again
	case from != nil && !from.has[to]:
		for _, e := range from.exits {
			if e.to == to {
				return e.id
			}
		}
		id := r.ids.take(identifier(from.loop) + "_exit")
		from.exits = append(from.exits, exit{to, id})
		return id
	}
	c := r.order.in[to]
	for c != nil && c.up != from {
		c = c.up
	}
	if c != nil && c != from && c.head == to {
		if c.enter == "" { // A loop of ours, which is one node.
			return r.entry[to]
		}
		return c.enter
	}
	return r.entry[to]
}

// nodes makes the nodes of a loop's body, or of the flow outside of loops.
func (r *region) nodes(within *cycle) []graph.Node {
	type member struct {
		at   int
		loop *cycle
	}
	var members []member
	for at, n := range r.flow.nodes {
		if r.order.reached[at] && r.order.in[at] == within && n.kind != startNode && at != r.silent {
			members = append(members, member{at: at})
		}
	}
	for _, c := range r.order.loops {
		if c.up == within {
			members = append(members, member{c.head, c})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int {
		return cmp.Compare(r.order.rank[a.at], r.order.rank[b.at])
	})
	var out []graph.Node
	for _, m := range members {
		switch {
		case m.loop == nil:
			out = append(out, r.node(m.at, within)...)
		case m.loop.enter == "":
			out = append(out, r.loopOfOurs(m.loop, within)...)
		default:
			out = append(out, r.loop(m.loop, within)...)
		}
	}
	return out
}

// maxIterations is how often an imported loop runs at most: the format has no bound.
const maxIterations = 1000

// loop makes a loop of a cycle of edges: each iteration ends where the cycle begins anew or is left, and the state
// says which.
func (r *region) loop(c, within *cycle) []graph.Node {
	body := r.nodes(c)
	head := r.flow.nodes[c.head]
	if len(c.exits) == 0 {
		r.fault(r.flow.path+"/control_flow_connections", "no edge leads out of the cycle of %s", head.called())
		return nil
	}
	for _, e := range c.exits {
		body = append(body, graph.Node{
			ID: e.id, Kind: flow.Start, Set: encodeAll(map[string]any{c.variable: e.id}), Next: c.again,
		})
	}
	body = append(body, graph.Node{ID: c.again, Kind: flow.End})
	r.lose(head.path, Changed, "the cycle that begins with %s is the loop %q, which fails after %d iterations",
		head.called(), c.loop, maxIterations)
	loop := graph.Node{
		ID: c.loop, Kind: flow.Loop, While: fmt.Sprintf("state.%s == ''", c.variable), Max: maxIterations,
		Nodes: r.sequence(body),
	}
	out := []graph.Node{{
		ID: c.enter, Kind: flow.Start, Set: encodeAll(map[string]any{c.variable: ""}), Next: c.loop,
	}}
	if len(c.exits) == 1 {
		loop.Next = r.lead(within, c.exits[0].to)
		return append(out, loop)
	}
	loop.Next = c.leave
	leave := graph.Node{ID: c.leave, Kind: flow.Branch}
	for _, e := range c.exits[:len(c.exits)-1] {
		leave.Cases = append(leave.Cases, graph.Case{
			When: fmt.Sprintf("state.%s == '%s'", c.variable, e.id), Next: r.lead(within, e.to),
		})
	}
	leave.Default = r.lead(within, c.exits[len(c.exits)-1].to)
	return append(out, loop, leave)
}

// sequence puts nodes in an order in which the first begins and the one behind which the body ends is last, and leaves
// out next where the list says it.
func (r *region) sequence(nodes []graph.Node) []graph.Node {
	for i := range nodes {
		if n := nodes[i]; n.Next == "" && n.Kind != flow.End && n.Kind != flow.Branch && i+1 < len(nodes) {
			nodes = append(slices.Delete(nodes, i, i+1), n)
			break
		}
	}
	for i := range nodes[:max(len(nodes)-1, 0)] {
		if nodes[i].Next == nodes[i+1].ID {
			nodes[i].Next = ""
		}
	}
	return nodes
}

func encodeAll(values map[string]any) map[string]json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	out := map[string]json.RawMessage{}
	for name, v := range values {
		out[name] = encode(v)
	}
	return out
}
