package agentspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
)

// flowWriter writes the flow of one list of nodes: a graph's, or that of a body.
type flowWriter struct {
	*exporter

	prefix    string // Of the ids of its components.
	nodes     []graph.Node
	outer     *flowWriter // Of the flow around; nil of a graph.
	fromInput bool        // Whether its inputs are those of the graph.
	mapped    bool        // Whether it is the body of a map.
	path      string      // JSON Pointer of its nodes in the configuration.
	alone     bool        // Whether it has one node, which the path leads to.

	inputs []property
	wants  []want // What comes from outside, of bodies.
	start  string
	end    string            // The end node that stands for the end of the list; empty where there is none.
	has    map[string]string // Components with the outcome of nodes, by their ids.
	first  map[string]string // Components that edges to nodes lead to.
	outs   map[string][]out  // Outputs of components.
	ins    map[string][]property
	data   []dataEdge
	edges  []any
	later  []func() // What is done when all outputs are known.
	id     string
	ends   [][]property // Of its end nodes.
}

// want is an input of a body, and what it refers to outside.
type want struct {
	name   string
	tokens []string
}

// out is an output that is used.
type out struct {
	property

	tokens []string // What refers to it.
}

type dataEdge struct{ from, output, to, input string }

// write writes the flow as a component of an id, which ends with silent where no end node says more.
func (w *flowWriter) write(id, name, description string, own, silent map[string]any) {
	w.begin(silent)
	w.finish(id, name, description, own)
}

func (w *flowWriter) begin(silent map[string]any) {
	w.has, w.first = map[string]string{}, map[string]string{}
	w.outs, w.ins = map[string][]out{}, map[string][]property{}
	if w.path == "" {
		w.path = "/nodes"
	}
	var startOwn map[string]any
	startName, skip := "start", 0
	if n := w.nodes[0]; n.Kind == flow.Start && n.OnError == "" {
		startOwn, startName, skip = w.own(n, nil), n.ID, 1
		w.settings(n, w.path+"/0")
	}
	w.start = w.component(startNode, w.prefix+".begin", startName, map[string]any{"branches": []any{nextBranch}}, startOwn)
	for i := range w.nodes {
		n := &w.nodes[i]
		w.first[n.ID] = w.ids.unique(w.prefix + "." + n.ID)
		w.has[n.ID] = w.first[n.ID]
	}
	if skip == 1 {
		w.first[w.nodes[0].ID], w.has[w.nodes[0].ID] = w.start, w.start
	} else {
		w.edge(w.start, "", w.first[w.nodes[0].ID])
	}
	last := w.nodes[len(w.nodes)-1]
	if last.Kind != flow.End && last.Kind != flow.Branch && last.Next == "" {
		w.end = w.ids.unique(w.prefix + ".end")
	}
	for i := range w.nodes {
		w.node(i, i < skip)
	}
	if w.end != "" {
		var outputs []property
		for _, member := range sortedKeys(silent) {
			outputs = append(outputs, w.bind(w.end, member, silent[member], w.path))
		}
		w.addEnd(w.end, "end", outputs, map[string]any{"synthetic": true})
	}
}

// finish writes the flow once all that its nodes answer is known.
func (w *flowWriter) finish(id, name, description string, own map[string]any) {
	for _, fn := range w.later {
		fn()
	}
	nodes := []any{ref(w.start)}
	add := func(id string) {
		fields, ok := w.all[id].(map[string]any)
		if !ok {
			return
		}
		nodes = append(nodes, ref(id))
		if fields[keyType] == endNode || fields["outputs"] != nil {
			return
		}
		fields["inputs"] = written(w.ins[id])
		fields["outputs"] = written(w.outputsOf(id))
	}
	start, _ := w.all[w.start].(map[string]any)
	start["inputs"], start["outputs"] = written(w.inputs), written(w.inputs)
	for _, n := range w.nodes {
		if w.first[n.ID] != w.start {
			add(w.first[n.ID])
		}
		if w.has[n.ID] != w.first[n.ID] {
			add(w.has[n.ID])
		}
	}
	if w.end != "" {
		nodes = append(nodes, ref(w.end))
	}
	data := []any{}
	for _, d := range w.data {
		data = append(data, map[string]any{
			keyType: "DataFlowEdge", "id": fmt.Sprintf("%s.data%d", w.prefix, len(data)+1),
			"name": d.output + " to " + d.input, "description": nil, keyMetadata: map[string]any{},
			"source_node": ref(d.from), "source_output": d.output, "destination_node": ref(d.to), "destination_input": d.input,
		})
	}
	fields := map[string]any{
		"start_node": ref(w.start), "nodes": nodes, "control_flow_connections": w.edges, "data_flow_connections": data,
		"inputs": written(w.inputs), "outputs": written(w.common()), "description": nil,
	}
	if description != "" {
		fields["description"] = description
	}
	metadata := map[string]any{}
	if own != nil {
		metadata[keyOwn] = own
	}
	fields[keyType], fields["id"], fields["name"], fields[keyMetadata] = "Flow", id, name, metadata
	w.all[id] = fields
}

// common returns the outputs that all end nodes have.
func (w *flowWriter) common() []property {
	var out []property
	for i, end := range w.ends {
		for _, p := range end {
			everywhere := i == 0 && !slices.ContainsFunc(w.ends, func(other []property) bool {
				_, has := find(other, p.name)
				return !has
			})
			if everywhere {
				out = append(out, property{name: p.name, schema: map[string]any{}})
			}
		}
	}
	return out
}

func (w *flowWriter) addEnd(id, name string, outputs []property, own map[string]any) {
	metadata := map[string]any{}
	if own != nil {
		own["inputs"] = w.fingerprint(id)
		metadata[keyOwn] = own
	}
	w.ends = append(w.ends, outputs)
	w.all[id] = map[string]any{
		keyType: endNode, "id": id, "name": name, "description": nil, keyMetadata: metadata, "branches": []any{},
		"branch_name": nextBranch, "inputs": written(outputs), "outputs": written(outputs),
	}
}

func (w *flowWriter) edge(from, branch, to string) {
	var name any
	if branch != "" {
		name = branch
	}
	w.edges = append(w.edges, map[string]any{
		keyType: "ControlFlowEdge", "id": fmt.Sprintf("%s.edge%d", w.prefix, len(w.edges)+1), "name": from + " to " + to,
		"description": nil, keyMetadata: map[string]any{}, "from_node": ref(from), "from_branch": name, "to_node": ref(to),
	})
}

// fingerprint tells which outputs lead to the inputs of a component, as an import compares it.
func (w *flowWriter) fingerprint(id string) string {
	var all []string
	for _, d := range w.data {
		if d.to == id {
			all = append(all, fmt.Sprintf("%s.%s>%s", d.from, d.output, d.input))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// own is what is kept of a node: all that it is, but where it leads and its bodies.
func (w *flowWriter) own(n graph.Node, more map[string]any) map[string]any {
	n.Next, n.Default, n.Cases, n.Branches, n.Nodes = "", "", nil, nil, nil
	if n.OnError != graph.Fail {
		n.OnError = ""
	}
	out := map[string]any{"node": decoded(encode(n)), "inputs": ""}
	maps.Copy(out, more)
	return out
}

// next returns the component behind a node; empty where nothing is.
func (w *flowWriter) next(i int) string {
	n := w.nodes[i]
	switch {
	case n.Next != "":
		return w.first[n.Next]
	case i+1 < len(w.nodes):
		return w.first[w.nodes[i+1].ID]
	}
	return w.end
}

// outputOf takes the output of a graph or an end node apart.
func (w *flowWriter) outputOf(raw []byte) map[string]any {
	b := decoded(raw)
	if b == nil {
		if len(raw) > 0 {
			return map[string]any{"result": nil}
		}
		last := w.nodes[len(w.nodes)-1].ID
		return map[string]any{"result": reference("nodes", last, "result")}
	}
	if o, ok := b.(map[string]any); ok && o[keyFrom] == nil && o[keyLiteral] == nil {
		return o
	}
	return map[string]any{"result": b}
}
