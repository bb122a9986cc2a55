package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cel.dev/cel-go/cel"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Graph is a compiled graph. It is immutable, and safe for concurrent use.
type Graph struct {
	Definition

	root   *body
	nodes  map[string]*node
	state  *binding.Binding // Nil for an empty state.
	schema *schema.Schema   // Of the state; nil for any.
	// sequence says that it is a composition: its nodes are called steps.
	sequence bool
}

// body is a sequence of nodes: the graph's, or that of a branch, item or iteration.
type body struct {
	owner  *node // Nil of the graph's own.
	branch string
	path   string // Of the list of nodes, in the definition.
	nodes  []*node
	output *bound   // Nil for the result of the last node.
	before [][]bool // before[i][j]: whether node i may have ended when node j begins.
}

// node is a compiled node.
type node struct {
	*Node

	body   *body
	at     int // In its body.
	path   string
	next   int // In its body; -1 where the body ends.
	failTo int // Where a failure leads; -1 for nowhere.
	bodies []*body

	when, while *condition
	cases       []compiledCase
	byDefault   int
	arguments   *bound // Of the call, or the message of an agent.
	over, wait  *bound
	output      *bound // Of an end node.
	set         []setter
	schema      *schema.Schema
}

type compiledCase struct {
	when *condition
	next int
}

// setter is a member of the state that a node sets.
type setter struct {
	name  string
	value *bound
}

// bound is a binding with the nodes that it refers to.
type bound struct {
	binding.Binding

	whose, base string
	refs        []string
}

// parser compiles a definition, and collects its faults.
type parser struct {
	g       *Graph
	env     *cel.Env
	schemas *schema.Cache
	input   json.RawMessage // The graph's input schema.
	faults  Faults
}

// Parse compiles the configuration of a graph with arguments of inputSchema, which may be
// empty. It fails with [tool.Invalid], the path of the first fault, all faults in its message, and
// [Faults] as its cause. Whether the tools and agents of its nodes exist is not checked here.
func Parse(raw, inputSchema json.RawMessage) (*Graph, error) {
	if len(raw) > MaxDefinition {
		return nil, Faults{{"", fmt.Sprintf("%d bytes: at most %d", len(raw), MaxDefinition)}}.err()
	}
	p := &parser{g: &Graph{nodes: map[string]*node{}}, input: inputSchema, schemas: schema.New(MaxNodes)}
	if err := strict.Decode("graph.Parse", raw, &p.g.Definition); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, Faults{{"/nodes", "no nodes: a graph needs one at least"}}.err()
		}
		return nil, err
	}
	var err error
	if p.env, err = environment(); err != nil {
		return nil, fmt.Errorf("graph: making the environment of conditions: %w", err)
	}
	p.graph()
	if err := p.faults.err(); err != nil {
		return nil, err
	}
	return p.g, nil
}

func (p *parser) graph() {
	d := &p.g.Definition
	if d.Type != "" && d.Type != tool.Graph {
		p.faults.add("/type", "%.40q is not graph", d.Type)
	}
	if s := d.Limits.Steps; s < 0 || s > MaxSteps {
		p.faults.add("/limits/steps", "%d steps: want 1 to %d, or none for %d", s, MaxSteps, DefaultSteps)
	}
	if len(d.StateSchema) > 0 {
		p.g.schema = p.compileSchema(d.StateSchema, "/state_schema")
	}
	p.g.root = p.body(nil, "", d.Nodes, "/nodes", 0)
	if len(p.g.nodes) > MaxNodes {
		p.faults.add("/nodes", "%d nodes, bodies included: at most %d", len(p.g.nodes), MaxNodes)
		return
	}
	p.connect(p.g.root)
	if d.OnError != "" {
		if n := p.g.nodes[d.OnError]; n == nil || n.body != p.g.root {
			p.faults.add("/on_error", "there is no node %.80q outside of bodies", d.OnError)
		}
	}
	if len(p.faults) == 0 { // Else what follows would blame the wrong places.
		p.order(p.g.root)
	}
	if len(p.faults) > 0 {
		return
	}
	if len(bytes.TrimSpace(d.State)) > 0 {
		p.g.state = p.bind(d.State, "/state", "the first state", nil, placeStart)
		if t := bytes.TrimSpace(d.State); t[0] != '{' {
			p.faults.add("/state", "want an object")
		}
	}
	p.compile(p.g.root)
	if len(d.Output) > 0 {
		p.g.root.output = p.bound(d.Output, "/output", "the output", nil, p.g.root, placeEnd)
	}
}

func (p *parser) compileSchema(raw json.RawMessage, path string) *schema.Schema {
	s, err := p.schemas.Compile(raw)
	if err != nil {
		p.faults.add(path, "%s", tool.AsError(err).Msg)
	}
	return s
}

// body lists the nodes of a body and of those in it.
func (p *parser) body(owner *node, branch string, nodes []Node, path string, depth int) *body {
	b := &body{owner: owner, branch: branch, path: path}
	switch {
	case len(nodes) == 0:
		p.faults.add(path, "no nodes: want one at least")
	case depth > MaxBodies:
		p.faults.add(path, "bodies nest more than %d deep", MaxBodies)
		return b
	}
	for i := range nodes {
		n := &node{Node: &nodes[i], body: b, at: i, path: fmt.Sprintf("%s/%d", path, i), next: -1, failTo: -1, byDefault: -1}
		b.nodes = append(b.nodes, n)
		switch {
		case !tool.ValidSlug(n.ID):
			p.faults.add(n.path+"/id", "id %.80q: want a letter, then letters, digits, _ or -, at most 64", n.ID)
		case p.g.nodes[n.ID] != nil:
			p.faults.add(n.path+"/id", "an earlier %s has the id %q too: ids are unique", p.g.Noun(), n.ID)
		default:
			p.g.nodes[n.ID] = n
		}
		if !p.g.sequence {
			p.checkKind(n)
		}
		switch n.Kind { //nolint:exhaustive // Others have no bodies.
		case flow.Parallel:
			ids := map[string]bool{}
			for j := range n.Branches {
				br, at := &n.Branches[j], fmt.Sprintf("%s/branches/%d", n.path, j)
				switch {
				case !tool.ValidSlug(br.ID):
					p.faults.add(at+"/id", "id %.80q: want a letter, then letters, digits, _ or -, at most 64", br.ID)
				case ids[br.ID]:
					p.faults.add(at+"/id", "another branch of the node has the id %q", br.ID)
				}
				ids[br.ID] = true
				n.bodies = append(n.bodies, p.body(n, br.ID, br.Nodes, at+"/nodes", depth+1))
			}
		case flow.Map, flow.Loop:
			n.bodies = append(n.bodies, p.body(n, "", n.Node.Nodes, n.path+"/nodes", depth+1))
		}
	}
	return b
}

// find returns the place of a node in a body; -1 with a fault where it is not there.
func (p *parser) find(b *body, id, path string) int {
	for i, n := range b.nodes {
		if n.ID == id {
			return i
		}
	}
	if p.g.nodes[id] != nil {
		p.faults.add(path, "node %q is in another body: a node leads to nodes of its own body", id)
	} else {
		p.faults.add(path, "there is no node %.80q", id)
	}
	return -1
}

// connect resolves where the nodes of a body lead.
func (p *parser) connect(b *body) {
	for i, n := range b.nodes {
		switch {
		case n.Kind == flow.End || n.Kind == flow.Branch:
		case n.Next != "":
			n.next = p.find(b, n.Next, n.path+"/next")
		case i+1 < len(b.nodes):
			n.next = i + 1
		}
		if n.OnError != "" && n.OnError != Fail && n.OnError != Continue {
			n.failTo = p.find(b, n.OnError, n.path+"/on_error")
		}
		n.cases = make([]compiledCase, len(n.Cases))
		for j := range n.Cases {
			n.cases[j].next = p.find(b, n.Cases[j].Next, fmt.Sprintf("%s/cases/%d/next", n.path, j))
		}
		if n.Default != "" {
			n.byDefault = p.find(b, n.Default, n.path+"/default")
		}
		for _, below := range n.bodies {
			p.connect(below)
		}
	}
}
