package agentspec

import (
	"fmt"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
)

// body writes the flow of a body, and binds its inputs at the component of its node, with a prefix of their names.
func (w *flowWriter) body(b *flowWriter, node, name, prefix string, output []byte, own map[string]any) string {
	b.exporter, b.outer = w.exporter, w
	id := w.ids.unique(b.prefix)
	silent := map[string]any{b.single(): reference("nodes", b.nodes[len(b.nodes)-1].ID, "result")}
	if len(output) > 0 {
		silent[b.single()] = decoded(output)
	}
	b.write(id, name, "", own, silent)
	w.outerInputs(b, node, prefix)
	return id
}

// outerInputs binds what a body wants from outside.
func (w *flowWriter) outerInputs(b *flowWriter, node, prefix string) {
	for _, wanted := range b.wants {
		if _, known := find(w.ins[node], prefix+wanted.name); !known {
			w.bind(node, prefix+wanted.name, reference(wanted.tokens...), b.path)
		}
	}
}

// bodies writes a map or a parallel node.
func (w *flowWriter) bodies(n graph.Node, id, path string) {
	if n.Kind == flow.Parallel {
		var subs []any
		for i, br := range n.Branches {
			own := map[string]any{}
			if len(br.Output) > 0 {
				own["output"] = decoded(br.Output)
			}
			sub := w.body(&flowWriter{
				prefix: id + "." + br.ID, nodes: br.Nodes, path: fmt.Sprintf("%s/branches/%d/nodes", path, i), id: br.ID,
			}, id, br.ID, "", br.Output, own)
			subs = append(subs, ref(sub))
			w.answer(&n, []string{"nodes", n.ID, "result", br.ID})
		}
		if n.Concurrency != 0 {
			w.lose(path+"/concurrency", Changed, "kept as metadata: others run all branches at once")
		}
		w.put(parallelFlow, id, n, map[string]any{"subflows": subs}, nil)
		return
	}
	w.bind(id, iterated+"item", decoded(n.Over), path+"/over")
	sub := w.body(&flowWriter{
		prefix: id + ".body", nodes: n.Nodes, path: path + "/nodes", mapped: true,
		inputs: []property{{name: "item", schema: map[string]any{}}},
	}, id, n.ID+"_body", iterated, n.Output, nil)
	kind := parallelMap
	if n.Concurrency == 1 {
		kind = mapNode
	} else if n.Concurrency != 0 {
		w.lose(path+"/concurrency", Changed, "kept as metadata: others choose how many items run at once")
	}
	reducer := "append"
	switch n.Reduce { //nolint:exhaustive // Others are made a list.
	case "", graph.List:
	case graph.Sum:
		reducer = "sum"
	default:
		w.lose(path+"/reduce", Changed, "%s is kept as metadata: others make a list", n.Reduce)
	}
	w.answer(&n, []string{"nodes", n.ID, "result"})
	w.put(kind, id, n, map[string]any{"subflow": ref(sub), "reducers": map[string]any{"result": reducer}}, nil)
}

// loop writes a loop: a branch that leads to the flow of the body, which leads back.
func (w *flowWriter) loop(i int, id, path string) {
	n := w.nodes[i]
	body := w.ids.unique(id + ".body")
	w.has[n.ID] = body
	w.lose(path+"/while", Changed, "the condition is kept as metadata: others do not run the body")
	sub := w.body(&flowWriter{prefix: body + ".flow", nodes: n.Nodes, path: path + "/nodes"}, body, n.ID+"_body", "",
		n.Output, nil)
	w.all[body] = map[string]any{
		keyType: flowNode, "id": body, "name": n.ID + "_body", "description": nil, keyMetadata: map[string]any{},
		"branches": []any{nextBranch}, "subflow": ref(sub),
	}
	w.answer(&n, []string{"nodes", n.ID, "result"})
	w.bind(id, branchingKey, "", path)
	w.put(branchingNode, id, n, map[string]any{
		"mapping": map[string]any{"again": "again"}, "branches": []any{"again", defaultBranch},
	}, map[string]any{"loop": true})
	w.edge(id, "again", body)
	w.edge(body, "", id)
	w.edge(id, defaultBranch, w.next(i))
}

// catch writes a node whose failure leads elsewhere: a flow of it alone, and what catches its failure.
func (w *flowWriter) catch(i int, id, path string) {
	n := w.nodes[i]
	inner := n
	inner.Next, inner.OnError = "", ""
	b := &flowWriter{
		exporter: w.exporter, prefix: id + ".try", nodes: []graph.Node{inner}, outer: w, path: path, alone: true,
	}
	flowID := w.ids.unique(b.prefix)
	b.begin(nil)
	w.catches = true
	w.put(catchNode, id, n, map[string]any{
		"subflow": ref(flowID), "branches": []any{caughtBranch, nextBranch},
	}, map[string]any{"catches": true, "continues": n.OnError == graph.Continue, "node": nil})
	w.edge(id, "", w.next(i))
	if n.OnError == graph.Continue {
		w.edge(id, caughtBranch, w.next(i))
	} else {
		w.edge(id, caughtBranch, w.first[n.OnError])
	}
	w.later = append(w.later, func() {
		w.answer(&n, []string{"nodes", n.ID, "error", "message"})
		var outputs []property
		for _, o := range w.outs[id] {
			if o.name == caughtInfo {
				continue
			}
			p := b.bind(b.end, o.name, reference(o.tokens...), path)
			p.has = true
			outputs = append(outputs, p)
		}
		b.ends = nil
		b.addEnd(b.end, "end", outputs, map[string]any{"synthetic": true})
		b.finish(flowID, n.ID, "", nil)
		w.outerInputs(b, id, "")
	})
}

// nothing writes a flow that does nothing.
func (w *flowWriter) nothing(id string) string {
	sub, start, end := w.ids.unique(id+".none"), w.ids.unique(id+".none.begin"), w.ids.unique(id+".none.end")
	b := &flowWriter{exporter: w.exporter, prefix: sub}
	w.all[start] = map[string]any{
		keyType: startNode, "id": start, "name": "start", "description": nil, keyMetadata: map[string]any{},
		"inputs": []any{}, "outputs": []any{}, "branches": []any{nextBranch},
	}
	b.addEnd(end, "end", nil, nil)
	b.edge(start, "", end)
	w.all[sub] = map[string]any{
		keyType: "Flow", "id": sub, "name": "nothing", "description": nil, keyMetadata: map[string]any{}, "inputs": []any{},
		"outputs": []any{}, "start_node": ref(start), "nodes": []any{ref(start), ref(end)},
		"control_flow_connections": b.edges, "data_flow_connections": []any{},
	}
	return sub
}
