package agentspec

import "slices"

// shareState decides which inputs are read from the state: those that several outputs lead to, of which the last one
// counts, and those whose output a binding does not see, since it is in a loop or in the iteration before.
func (r *region) shareState() {
	variables := names{}
	for to, n := range r.flow.nodes {
		if !r.order.reached[to] || to == r.silent || r.ownNode(to) != nil || n.own()["catches"] == true {
			continue // What was exported has its bindings.
		}
		for _, input := range sortedKeys(n.sources) {
			from := slices.DeleteFunc(slices.Clone(n.sources[input]), func(s source) bool { return !r.order.reached[s.node] })
			n.sources[input] = from
			if len(from) == 0 || len(from) == 1 && r.sees(from[0].node, to) {
				continue
			}
			variable := variables.take(identifier(r.nameOf(to)) + "_" + identifier(slugOf(input, "input")))
			if r.shared[to] == nil {
				r.shared[to] = map[string]string{}
			}
			r.shared[to][input] = variable
		}
	}
	for to, n := range r.flow.nodes {
		for _, input := range sortedKeys(r.shared[to]) {
			for _, s := range n.sources[input] {
				if r.set[s.node] == nil {
					r.set[s.node] = map[string]any{}
				}
				if s.node == r.flow.start && r.started == "" {
					r.started = r.ids.take("start")
				}
				r.set[s.node][r.shared[to][input]] = r.output(s)
			}
		}
	}
}

func (r *region) nameOf(at int) string {
	if r.main[at] != "" {
		return r.main[at]
	}
	return slugOf(r.flow.nodes[at].name, "node")
}

// sees reports whether bindings of a node see the outcome of another one, and the one that counts.
func (r *region) sees(from, to int) bool {
	if from == r.flow.start {
		return true
	}
	o := r.order
	return o.in[to].within(o.in[from]) && o.before[from] != nil && o.before[from][to] &&
		(o.in[from] == nil || o.dom[from][to])
}

// input binds an input of a node; ok is false where nothing leads to it.
func (r *region) input(at int, name string) (b any, ok bool) {
	n := r.flow.nodes[at]
	p, _ := find(n.inputs, name)
	if variable := r.shared[at][name]; variable != "" {
		return orElse(reference("state", variable), p.fallback), true
	}
	if from := n.sources[name]; len(from) > 0 {
		b = r.output(from[0])
		if p.has {
			b = orElse(b, p.fallback)
		}
		return b, true
	}
	if p.has {
		return literal(p.fallback), true
	}
	return nil, false
}

// arguments binds the inputs of a node, by name.
func (r *region) arguments(at int) map[string]any {
	n := r.flow.nodes[at]
	out := map[string]any{}
	for _, p := range n.inputs {
		b, ok := r.input(at, p.name)
		if !ok {
			r.lose(n.path+"/inputs", Dropped, "nothing leads to the input %.80q of %s", p.name, n.called())
			continue
		}
		out[p.name] = b
	}
	return out
}

// output binds to an output of a node.
func (r *region) output(s source) any {
	n := r.flow.nodes[s.node]
	p, _ := find(n.outputs, s.output)
	if n.kind == startNode {
		if in, ok := find(r.flow.inputs, s.output); ok {
			p = in
		}
		return r.start(p)
	}
	b := any(r.answer(s, n))
	if p.has {
		b = orElse(b, p.fallback)
	}
	return b
}

// answer refers to an output in the outcome of a node.
func (r *region) answer(s source, n *nodeSpec) map[string]any {
	id := r.main[s.node]
	switch n.kind {
	case llmNode:
		if textual(n.outputs) {
			return reference("nodes", id, "text")
		}
	case inputNode:
		return reference("nodes", id, "result", "answer", answerField)
	case catchNode:
		if s.output == caughtInfo {
			return reference("nodes", id, "error", "message")
		}
	case parallelFlow:
		for i, f := range n.flows {
			if _, ok := find(f.outputs, s.output); ok {
				return reference("nodes", id, "result", branchID(n, i), s.output)
			}
		}
	case mapNode, parallelMap:
		if r.exits[s.node] != id {
			return reference("nodes", r.exits[s.node], "result", "outputs", "0", s.output)
		}
		return reference("nodes", id, "result")
	}
	return reference("nodes", id, "result", s.output)
}

// answerField is the question of an imported InputMessageNode.
const answerField = "user_input"

// textual reports whether outputs are the text of a model.
func textual(outputs []property) bool {
	return len(outputs) == 1 && outputs[0].schema["type"] == "string"
}
