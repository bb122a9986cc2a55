package agentspec

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// parallel makes the branches of a ParallelFlowNode.
func (r *region) parallel(at int, out *graph.Node) {
	n := r.flow.nodes[at]
	out.Kind = flow.Parallel
	for i, f := range n.flows {
		nodes := r.body(f, func(p property) any { return r.startOf(at, p.name, p) })
		out.Branches = append(out.Branches, graph.Branch{ID: branchID(n, i), Nodes: nodes})
	}
}

// startOf binds an input of a flow in a body to what leads to an input of the node around it.
func (r *region) startOf(at int, name string, p property) any {
	b, ok := r.input(at, name)
	if !ok {
		if p.has {
			return literal(p.fallback)
		}
		n := r.flow.nodes[at]
		r.lose(n.path+"/inputs", Changed, "nothing leads to the input %.80q of %s: it is null", name, n.called())
		return nil
	}
	if p.has {
		b = orElse(b, p.fallback)
	}
	return b
}

// mapped makes the body of a MapNode. Lists side by side are put together before it, and outputs that a map has no
// reducer for behind it.
func (r *region) mapped(at int, out *graph.Node) (before, behind []graph.Node) {
	n := r.flow.nodes[at]
	f := n.flows[0]
	out.Kind = flow.Map
	if n.kind == mapNode {
		out.Concurrency = 1
	}
	if r.ownNode(at) != nil { // Its body refers to the item as it did.
		out.Nodes = r.body(f, func(p property) any { return reference("item") })
		return nil, nil
	}
	lists := r.lists(n, f)
	if len(lists) == 0 {
		r.fault(n.path+"/inputs", "%s has no input that is a list", n.called())
		return nil, nil
	}
	once := map[string]any{} // Inputs that are the same for all items, by name in the state.
	prepare := graph.Node{Kind: flow.Start}
	for _, p := range f.inputs {
		b, ok := r.input(at, iterated+p.name)
		if _, isList := find(lists, p.name); isList || !ok || !leadsTo(b, "item") {
			continue
		}
		once[p.name] = identifier(out.ID + "_" + slugOf(p.name, "input"))
		if prepare.Set == nil {
			prepare.ID, prepare.Set = r.ids.take(out.ID+"_given"), map[string]rawMessage{}
		}
		prepare.Set[plain(once[p.name])] = encode(b)
	}
	if prepare.ID != "" {
		before = append(before, prepare)
	}
	if len(lists) == 1 {
		b, _ := r.input(at, iterated+lists[0].name)
		out.Over = encode(b)
	} else {
		zip := graph.Node{ID: r.ids.take(out.ID + "_items"), Kind: flow.Tool, Tool: tool.Ref{Slug: transform}}
		input := map[string]any{}
		for _, p := range lists {
			input[p.name], _ = r.input(at, iterated+p.name)
		}
		zip.Arguments = encode(map[string]any{"filter": zipFilter(lists), "input": input})
		before = append(before, zip)
		out.Over = encode(reference("nodes", zip.ID, "result", "outputs", "0"))
	}
	out.Nodes = r.body(f, func(p property) any {
		switch _, isList := find(lists, p.name); {
		case isList && len(lists) == 1:
			return reference("item")
		case isList:
			return reference("item", p.name)
		case once[p.name] != nil:
			return reference("state", plain(once[p.name]))
		}
		return r.startOf(at, iterated+p.name, p)
	})
	return before, r.collect(at, out)
}

// lists returns the inputs of the flow of a map whose values are the items of lists.
func (r *region) lists(n *nodeSpec, f *flowSpec) []property {
	var out []property
	for _, p := range f.inputs {
		in, declared := find(n.inputs, iterated+p.name)
		if !declared {
			continue
		}
		list := in.schema["type"] == "array" && p.schema["type"] != "array"
		if in.schema["type"] == nil || p.schema["type"] == "array" { // Either: what leads to it decides.
			list = true
			for _, s := range n.sources[in.name] {
				if o, ok := find(r.flow.nodes[s.node].outputs, s.output); ok && o.schema["type"] != nil {
					list = o.schema["type"] == "array" && (p.schema["type"] != "array" || sameType(o.schema["items"], p.schema))
				}
			}
		}
		if list {
			out = append(out, p)
		}
	}
	return out
}

// sameType reports whether the items of a list are of the type of a schema.
func sameType(items any, schema map[string]any) bool {
	o, _ := items.(map[string]any)
	return o["type"] == schema["type"]
}

// zipFilter makes one list of objects of lists by name.
func zipFilter(lists []property) string {
	var of, members []string
	for i, p := range lists {
		of = append(of, "."+member(p.name)[boolIndex(strings.HasPrefix(member(p.name), ".")):])
		members = append(members, fmt.Sprintf("%s: .[%d]", quoted(p.name), i))
	}
	return "[" + strings.Join(of, ", ") + "] | transpose | map({" + strings.Join(members, ", ") + "})"
}

func boolIndex(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// reducers are ours by those of the format.
var reducers = map[string]graph.Reducer{"": graph.List, "append": graph.List, "sum": graph.Sum}

// collect makes the outputs of a map: by its reducer where it has one output and we have the reducer, else by a
// filter behind it.
func (r *region) collect(at int, out *graph.Node) []graph.Node {
	n := r.flow.nodes[at]
	given := n.object("reducers")
	simple := r.exits[at] == r.main[at]
	var filters []string
	for _, o := range n.outputs {
		name := strings.TrimPrefix(o.name, collected)
		how := plain(given[name])
		if _, ok := find(n.flows[0].outputs, name); !ok {
			r.fault(n.path+"/outputs", "the flow of %s has no output %.80q", n.called(), name)
			continue
		}
		if given != nil && given[name] == nil {
			how = "append"
		}
		all := "map(." + member(name)[boolIndex(strings.HasPrefix(member(name), ".")):] + ")"
		switch how {
		case "", "append":
		case "sum":
			all += " | add // 0"
		case "average", "avg":
			all += " | if length == 0 then null else add / length end"
		case "max", "min":
			all += " | " + how
		default:
			r.fault(n.path+"/reducers", "%s collects %.80q by %.40q: want append, sum, average, max or min", n.called(), name,
				how)
		}
		filters = append(filters, quoted(o.name)+": ("+all+")")
		if simple {
			out.Reduce = reducers[how]
			if out.Reduce == graph.List {
				out.Reduce = ""
			}
		}
	}
	if simple && len(n.outputs) == 1 {
		name := strings.TrimPrefix(n.outputs[0].name, collected)
		r.onlyOutput(out, name)
		return nil
	}
	if len(filters) == 0 {
		return nil
	}
	out.Reduce = ""
	behind := graph.Node{ID: r.exits[at], Kind: flow.Tool, Tool: tool.Ref{Slug: transform}}
	behind.Arguments = encode(map[string]any{
		"filter": "{" + strings.Join(filters, ", ") + "}", "input": reference("nodes", out.ID, "result"),
	})
	return []graph.Node{behind}
}

// onlyOutput makes each item of a map answer one member of what its body ends with.
func (r *region) onlyOutput(out *graph.Node, name string) {
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if n.Kind != flow.End || len(n.Output) == 0 {
			continue
		}
		var all map[string]rawMessage
		if decodeInto(n.Output, &all) && all[name] != nil {
			n.Output = all[name]
		} else {
			n.Output = rawMessage("null")
		}
	}
}

// plainMap reports whether a map of ours makes the outputs of a MapNode by itself.
func (n *nodeSpec) plainMap() bool {
	if len(n.outputs) != 1 {
		return len(n.outputs) == 0
	}
	_, ours := reducers[plain(n.object("reducers")[strings.TrimPrefix(n.outputs[0].name, collected)])]
	return ours
}
