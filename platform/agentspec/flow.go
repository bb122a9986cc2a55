package agentspec

import (
	"fmt"
	"regexp"
	"slices"
)

// Types of components that are nodes.
const (
	startNode     = "StartNode"
	endNode       = "EndNode"
	llmNode       = "LlmNode"
	apiNode       = "ApiNode"
	agentNode     = "AgentNode"
	toolNode      = "ToolNode"
	flowNode      = "FlowNode"
	mapNode       = "MapNode"
	parallelMap   = "ParallelMapNode"
	parallelFlow  = "ParallelFlowNode"
	branchingNode = "BranchingNode"
	catchNode     = "CatchExceptionNode"
	inputNode     = "InputMessageNode"
	outputNode    = "OutputMessageNode"
)

var nodeTypes = []string{
	startNode, endNode, llmNode, apiNode, agentNode, toolNode, flowNode, mapNode, parallelMap, parallelFlow, branchingNode,
	catchNode, inputNode, outputNode,
}

// Names that the format gives.
const (
	nextBranch    = "next"
	defaultBranch = "default"
	caughtBranch  = "caught_exception_branch"
	caughtInfo    = "caught_exception_info"
	iterated      = "iterated_"
	collected     = "collected_"
	branchingKey  = "branching_mapping_key"
)

// flowSpec is a flow of a document.
type flowSpec struct {
	*component

	inputs, outputs []property
	nodes           []*nodeSpec
	start           int // Index of the start node.
}

// nodeSpec is a node of a flow.
type nodeSpec struct {
	*component

	id              string
	kind            string
	name            string
	inputs, outputs []property
	flows           []*flowSpec
	leads           []lead              // Where it leads, by branch.
	sources         map[string][]source // Of its inputs.
}

// lead is a control edge of a node.
type lead struct {
	branch string
	to     int
}

// source is the output that a data edge comes from.
type source struct {
	node   int
	output string
}

func (n *nodeSpec) to(branch string) (int, bool) {
	for _, l := range n.leads {
		if l.branch == branch {
			return l.to, true
		}
	}
	return 0, false
}

// flowReader reads flows.
type flowReader struct {
	*findings

	nodes int      // Read so far.
	open  []string // Paths of the flows around.
}

// flow reads a flow; nil with faults where it has none that can be read on.
func (r *flowReader) flow(c *component) *flowSpec {
	switch {
	case slices.Contains(r.open, c.path):
		r.fault(c.path, "the flow %.80q contains itself", c.text("name"))
		return nil
	case len(r.open) >= maxFlows:
		r.fault(c.path, "flows nest more than %d deep", maxFlows)
		return nil
	case c.kind() != "Flow":
		r.fault(c.path+"/"+keyType, "%.80q is no Flow", c.kind())
		return nil
	}
	r.open = append(r.open, c.path)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	f := &flowSpec{component: c, start: -1}
	ids := map[string]int{}
	for _, nc := range r.list(c, "nodes") {
		if r.nodes++; r.nodes > maxNodes {
			r.fault(c.path, "more than %d nodes, those of a flow that is used twice counted twice", maxNodes)
			return nil
		}
		n := r.node(nc)
		if n == nil {
			continue
		}
		if _, twice := ids[n.id]; twice {
			r.fault(nc.path+"/id", "another node of the flow has the id %.80q", n.id)
			continue
		}
		ids[n.id] = len(f.nodes)
		if n.kind == startNode {
			if f.start >= 0 {
				r.fault(nc.path, "the flow %.80q has two start nodes", c.text("name"))
			}
			f.start = len(f.nodes)
		}
		f.nodes = append(f.nodes, n)
	}
	if f.start < 0 {
		r.fault(c.path+"/nodes", "the flow %.80q has no StartNode", c.text("name"))
		return nil
	}
	r.edges(f, ids)
	r.signature(f)
	r.dataEdges(f, ids)
	return f
}

// node reads a node, and the flows in it.
func (r *flowReader) node(c *component) *nodeSpec {
	n := &nodeSpec{component: c, id: c.text("id"), kind: c.kind(), name: c.text("name"), sources: map[string][]source{}}
	if n.id == "" {
		r.fault(c.path+"/id", "a node needs an id")
		return nil
	}
	if !slices.Contains(nodeTypes, n.kind) {
		r.fault(c.path+"/"+keyType, "a node of type %.80q has no counterpart: known are %v", n.kind, nodeTypes)
		return nil
	}
	var subs []*component
	switch n.kind {
	case flowNode, mapNode, parallelMap, catchNode:
		if sub := r.below(c, "subflow"); sub != nil {
			subs = append(subs, sub)
		}
	case parallelFlow:
		if subs = r.list(c, "subflows"); len(subs) == 0 {
			r.fault(c.path+"/subflows", "a %s needs flows", parallelFlow)
		}
	}
	for _, sub := range subs {
		f := r.flow(sub)
		if f == nil {
			return nil
		}
		n.flows = append(n.flows, f)
	}
	n.inputs, _ = r.properties(c, "inputs")
	var given bool
	if n.outputs, given = r.properties(c, "outputs"); !given {
		n.outputs = r.inferred(n)
	}
	if len(n.inputs) == 0 {
		n.inputs = r.inferredInputs(n)
	}
	return n
}

// inferred returns the outputs of a node that declares none.
func (r *flowReader) inferred(n *nodeSpec) []property {
	text := map[string]any{"type": "string"}
	switch n.kind {
	case startNode, endNode:
		return n.inputs
	case llmNode:
		return []property{{name: "generated_text", schema: text}}
	case inputNode:
		return []property{{name: "user_input", schema: text}}
	case apiNode:
		return []property{{name: "response", schema: map[string]any{}}}
	case toolNode, agentNode:
		member := "tool"
		if n.kind == agentNode {
			member = "agent"
		}
		if c := r.below(n.component, member); c != nil {
			out, _ := r.properties(c, "outputs")
			return out
		}
	case flowNode, parallelFlow, catchNode:
		var out []property
		for _, f := range n.flows {
			out = append(out, f.outputs...)
		}
		if n.kind == catchNode {
			out = append(out, property{name: caughtInfo, schema: map[string]any{"type": []any{"string", "null"}}, has: true})
		}
		return out
	case mapNode, parallelMap:
		var out []property
		for _, f := range n.flows {
			for _, p := range f.outputs {
				out = append(out, property{name: collected + p.name, schema: map[string]any{}})
			}
		}
		return out
	}
	return nil
}

// inferredInputs returns the inputs of a node that declares none.
func (r *flowReader) inferredInputs(n *nodeSpec) []property {
	var out []property
	add := func(p property) {
		if _, has := find(out, p.name); !has {
			out = append(out, p)
		}
	}
	switch n.kind {
	case startNode, endNode:
		return n.outputs
	case branchingNode:
		add(property{name: branchingKey, schema: map[string]any{"type": "string"}})
	case toolNode, agentNode:
		member := "tool"
		if n.kind == agentNode {
			member = "agent"
		}
		if c := r.below(n.component, member); c != nil {
			out, _ = r.properties(c, "inputs")
			return out
		}
	case flowNode, parallelFlow, catchNode, mapNode, parallelMap:
		prefix := ""
		if n.kind == mapNode || n.kind == parallelMap {
			prefix = iterated
		}
		for _, f := range n.flows {
			for _, p := range f.inputs {
				if prefix != "" {
					p = property{name: prefix + p.name, schema: map[string]any{}, fallback: p.fallback, has: p.has}
				}
				add(p)
			}
		}
	case llmNode, apiNode, inputNode, outputNode:
		for _, name := range placeholdersIn(n.fields) {
			add(property{name: name, schema: map[string]any{"type": "string"}})
		}
	}
	return out
}

var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}`)

// placeholdersIn returns the names of the placeholders in the texts of a value, in order, each once.
func placeholdersIn(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		for _, m := range placeholder.FindAllStringSubmatch(v, -1) {
			out = append(out, m[1])
		}
	case []any:
		for _, below := range v {
			out = append(out, placeholdersIn(below)...)
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if key != keyMetadata && key != "description" && key != "name" && key != "llm_config" {
				out = append(out, placeholdersIn(v[key])...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// signature finds the inputs and outputs of a flow.
func (r *flowReader) signature(f *flowSpec) {
	var given bool
	if f.inputs, given = r.properties(f.component, "inputs"); !given {
		f.inputs = f.nodes[f.start].inputs
	}
	if len(f.nodes[f.start].outputs) == 0 {
		f.nodes[f.start].outputs = f.inputs
	}
	if f.outputs, given = r.properties(f.component, "outputs"); given {
		return
	}
	for _, n := range f.nodes { // Those that all end nodes have.
		if n.kind != endNode {
			continue
		}
		for _, p := range n.outputs {
			everywhere := !slices.ContainsFunc(f.nodes, func(other *nodeSpec) bool {
				_, has := find(other.outputs, p.name)
				return other.kind == endNode && !has
			})
			if _, known := find(f.outputs, p.name); everywhere && !known {
				f.outputs = append(f.outputs, p)
			}
		}
	}
}

// endpoint resolves the node of an edge.
func (r *flowReader) endpoint(e *component, member string, ids map[string]int) (int, bool) {
	c := r.below(e, member)
	if c == nil {
		return 0, false
	}
	at, ok := ids[c.text("id")]
	if !ok {
		r.fault(e.path+"/"+member, "the node %.80q is not among the nodes of the flow", c.text("id"))
	}
	return at, ok
}

// edges reads the control edges of a flow.
func (r *flowReader) edges(f *flowSpec, ids map[string]int) {
	for _, e := range r.list(f.component, "control_flow_connections") {
		from, okFrom := r.endpoint(e, "from_node", ids)
		to, okTo := r.endpoint(e, "to_node", ids)
		if !okFrom || !okTo {
			continue
		}
		n := f.nodes[from]
		branch := e.text("from_branch")
		if branch == "" {
			branch = nextBranch
			if n.kind == branchingNode {
				branch = defaultBranch
			}
		}
		switch _, twice := n.to(branch); {
		case n.kind == endNode:
			r.fault(e.path+"/from_node", "an EndNode leads nowhere")
		case f.nodes[to].kind == startNode:
			r.fault(e.path+"/to_node", "no node leads to a StartNode")
		case twice:
			r.fault(e.path, "another edge leads from the branch %.80q of %.80q: flows have one way at a time", branch, n.name)
		default:
			n.leads = append(n.leads, lead{branch, to})
		}
	}
	for _, n := range f.nodes {
		if n.kind != endNode && len(n.leads) == 0 {
			r.fault(n.path, "no edge leads on from %s %.80q", n.kind, n.name)
		}
	}
}

// dataEdges reads the data edges of a flow. Where there is no list of them, inputs take outputs of their name.
func (r *flowReader) dataEdges(f *flowSpec, ids map[string]int) {
	if f.fields["data_flow_connections"] == nil {
		for to, n := range f.nodes {
			for _, in := range n.inputs {
				for from, s := range f.nodes {
					if _, has := find(s.outputs, in.name); has && from != to && s.kind != endNode && n.kind != startNode {
						n.sources[in.name] = append(n.sources[in.name], source{from, in.name})
					}
				}
			}
		}
		return
	}
	for _, e := range r.list(f.component, "data_flow_connections") {
		from, okFrom := r.endpoint(e, "source_node", ids)
		to, okTo := r.endpoint(e, "destination_node", ids)
		if !okFrom || !okTo {
			continue
		}
		output, input := e.text("source_output"), e.text("destination_input")
		if _, has := find(f.nodes[from].outputs, output); !has {
			r.fault(e.path+"/source_output", "%s %.80q has no output %.80q", f.nodes[from].kind, f.nodes[from].name, output)
			continue
		}
		if _, has := find(f.nodes[to].inputs, input); !has {
			r.fault(e.path+"/destination_input", "%s %.80q has no input %.80q", f.nodes[to].kind, f.nodes[to].name, input)
			continue
		}
		if s := (source{from, output}); !slices.Contains(f.nodes[to].sources[input], s) {
			f.nodes[to].sources[input] = append(f.nodes[to].sources[input], s)
		}
	}
}

// called names a node in messages.
func (n *nodeSpec) called() string { return fmt.Sprintf("%s %.60q", n.kind, n.name) }
