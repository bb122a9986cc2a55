package graph

import (
	"cmp"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// Shape returns the form of the graph, which runs pin.
func (g *Graph) Shape() *flow.Shape {
	s := &flow.Shape{
		First: g.root.nodes[0].ID, OnError: g.OnError, Steps: cmp.Or(g.Limits.Steps, DefaultSteps), Sequence: g.sequence,
	}
	g.each(func(n *node) {
		out := flow.Node{
			ID: n.ID, Kind: n.Kind, Next: n.id(n.next), FailTo: n.id(n.failTo), Continue: n.OnError == Continue, Retry: n.Retry,
			Begins: n.when != nil, Signals: n.Signal != "", Concurrency: n.Concurrency, Tolerate: n.Tolerate, Max: n.Max,
		}
		if n.Kind == flow.Map {
			out.Concurrency = cmp.Or(n.Concurrency, DefaultConcurrency)
		}
		if n.Kind == flow.Loop {
			out.Concurrency = 1
		}
		for _, b := range n.bodies {
			out.Bodies = append(out.Bodies, flow.Body{ID: b.branch, First: b.nodes[0].ID})
		}
		s.Nodes = append(s.Nodes, out)
	})
	return s
}

// id returns the id of a node of the same body; empty for none.
func (n *node) id(at int) string {
	if at < 0 {
		return ""
	}
	return n.body.nodes[at].ID
}

// each visits all nodes, those of bodies after the node that has them.
func (g *Graph) each(visit func(n *node)) { g.root.each(visit) }

func (b *body) each(visit func(n *node)) {
	for _, n := range b.nodes {
		visit(n)
		for _, below := range n.bodies {
			below.each(visit)
		}
	}
}

// Part is a tool or an agent that a node of the graph uses.
type Part struct {
	ID   string // The node's.
	Kind flow.Kind
	// Tool is the tool that it calls, and Agent the agent that it runs; one is set.
	Tool, Agent tool.Ref
	Path        string // JSON Pointer of the reference in the definition.
	// TimeoutSeconds is the node's; zero for the tool's.
	TimeoutSeconds float64
}

// Parts returns the tools and agents of the nodes, in the order of the definition.
func (g *Graph) Parts() []Part {
	var out []Part
	g.each(func(n *node) {
		p := Part{ID: n.ID, Kind: n.Kind, TimeoutSeconds: n.TimeoutSeconds}
		switch {
		case n.Kind == flow.Agent:
			p.Agent, p.Path = n.Agent, n.path+"/agent"
		case n.Kind == flow.Human:
			p.Tool, p.Path = tool.Ref{Slug: FormTool}, n.path+"/kind"
		case n.Signal != "":
			p.Tool, p.Path = tool.Ref{Slug: SignalTool}, n.path+"/signal"
		case n.Kind.Calls():
			p.Tool, p.Path = n.Tool, n.path+"/tool"
		default:
			return
		}
		out = append(out, p)
	})
	return out
}
