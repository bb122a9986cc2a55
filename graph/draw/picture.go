package draw

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
)

// Picture is what is drawn. Make one with [Of].
type Picture struct {
	Title string // Of the graph; may be empty.

	root   *body
	nodes  []*node
	counts map[string]count // By node, of a run; nil without one.
}

type body struct {
	label string // Of a branch.
	nodes []*node
	ranks [][]*slot

	box box
}

type node struct {
	id, title, detail string
	kind              flow.Kind
	number            int // In the order of the definition.
	bodies            []*body
	edges             []edge

	box  box
	rank int
}

type edgeKind int

const (
	edgeNext edgeKind = iota
	edgeCase
	edgeDefault
	edgeFailure
)

type edge struct {
	to    *node
	kind  edgeKind
	label string
	via   []*slot // Places in the ranks between.
}

// failing is the kind of the mark that the graph's on_error begins at.
const failing flow.Kind = "on_error"

// Of returns the picture of a definition that [graph.Parse] takes. Of others, what leads nowhere
// is left out.
func Of(title string, d *graph.Definition) *Picture {
	p := &Picture{Title: title}
	p.root = p.body("", d.Nodes)
	if to := p.root.find(d.OnError); to != nil {
		mark := &node{title: "where the graph fails", kind: failing, number: len(p.nodes)}
		mark.edges = []edge{{to: to, kind: edgeFailure, label: "on_error"}}
		p.nodes = append(p.nodes, mark)
		p.root.nodes = append(p.root.nodes, mark)
	}
	return p
}

func (b *body) find(id string) *node {
	for _, n := range b.nodes {
		if id != "" && n.id == id {
			return n
		}
	}
	return nil
}

func (p *Picture) body(label string, nodes []graph.Node) *body {
	b := &body{label: label}
	for i := range nodes {
		d := &nodes[i]
		n := &node{id: d.ID, title: d.Title, kind: d.Kind, detail: detail(d), number: len(p.nodes)}
		if n.title == "" {
			n.title = d.ID
		}
		p.nodes = append(p.nodes, n)
		b.nodes = append(b.nodes, n)
		for _, br := range d.Branches {
			n.bodies = append(n.bodies, p.body(br.ID, br.Nodes))
		}
		if len(d.Nodes) > 0 {
			n.bodies = append(n.bodies, p.body("", d.Nodes))
		}
	}
	for i := range nodes {
		p.connect(b, i, nodes)
	}
	return b
}

// connect adds the edges of a node.
func (p *Picture) connect(b *body, i int, nodes []graph.Node) {
	d, n := &nodes[i], b.nodes[i]
	add := func(id string, kind edgeKind, label string) {
		if to := b.find(id); to != nil && to != n {
			n.edges = append(n.edges, edge{to: to, kind: kind, label: label})
		}
	}
	for _, c := range d.Cases {
		add(c.Next, edgeCase, c.When)
	}
	add(d.Default, edgeDefault, "default")
	switch {
	case d.Kind == flow.Branch || d.Kind == flow.End:
	case d.Next != "":
		add(d.Next, edgeNext, "")
	case i+1 < len(nodes):
		add(nodes[i+1].ID, edgeNext, "")
	}
	if d.OnError != graph.Fail && d.OnError != graph.Continue {
		add(d.OnError, edgeFailure, "on_error")
	}
}

// detail returns what a node works on, in a few words.
func detail(d *graph.Node) string {
	switch d.Kind { //nolint:exhaustive // Others say all by their kind.
	case flow.Tool, flow.CallAgent, flow.Sub:
		return d.Tool.String()
	case flow.Agent:
		return d.Agent.String()
	case flow.Loop:
		return "while " + d.While
	case flow.Wait:
		if d.Signal != "" {
			return "signal " + d.Signal
		}
		return from(d.Seconds) + from(d.Until)
	case flow.Map:
		return "over " + from(d.Over)
	}
	return d.When
}

// from returns a binding, in the form of a pointer where it is but a reference.
func from(raw json.RawMessage) string {
	var ref struct {
		From string `json:"$from"`
	}
	if json.Unmarshal(raw, &ref) == nil && ref.From != "" {
		return ref.From
	}
	return string(raw)
}
