package agentspec

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// node makes the nodes that a node of a flow becomes: the one that does its work, perhaps with one before it that
// prepares its input and one behind it that puts its output together.
func (r *region) node(at int, within *cycle) []graph.Node {
	n := r.flow.nodes[at]
	out := graph.Node{ID: r.main[at]}
	if title := n.name; title != out.ID {
		out.Title = tool.Clip(title, 200)
	}
	var before, behind []graph.Node
	switch n.kind {
	case endNode:
		out.Kind, out.Title = flow.End, ""
		if own := r.endOutput(at); own != nil {
			out.Output = encode(own)
		}
	case toolNode:
		out.Kind = flow.Tool
		if c := r.below(n.component, "tool"); c != nil {
			out.Tool = tool.Ref{Slug: r.tool(c)}
		}
		out.Arguments = encode(r.arguments(at))
	case apiNode:
		out.Kind, out.Tool = flow.Tool, tool.Ref{Slug: r.request(n.component, n.inputs, n.outputs, true)}
		out.Arguments = encode(r.arguments(at))
	case llmNode:
		out.Kind, out.Tool = flow.Tool, tool.Ref{Slug: r.prompt(n)}
		out.Arguments = encode(r.arguments(at))
	case agentNode:
		out.Kind = flow.Agent
		if c := r.below(n.component, "agent"); c != nil {
			out.Agent = tool.Ref{Slug: r.agent(c)}
		}
		out.Message = encode(r.message(at))
	case flowNode:
		if own := r.ownNode(at); own != nil && own["kind"] != string(flow.Sub) {
			break // It stands for a node that the format has no words for.
		}
		out.Kind, out.Tool = flow.Sub, tool.Ref{Slug: r.graph(n.flows[0])}
		out.Arguments = encode(r.arguments(at))
		behind = r.ways(at, within)
	case catchNode:
		return r.caught(at, within, out)
	case mapNode, parallelMap:
		before, behind = r.mapped(at, &out)
	case parallelFlow:
		r.parallel(at, &out)
	case branchingNode:
		r.branching(at, within, &out)
		r.takeOwn(at, &out)
		unmatched := r.unmatched(at, &out, within)
		return append([]graph.Node{out}, unmatched...)
	case inputNode:
		before = r.question(at, &out)
	case outputNode:
		out.Kind, out.Title = flow.Start, tool.Clip(n.text("message"), 200)
		r.lose(n.path, Dropped, "the message of %s is not sent: a graph has no conversation; it stays as the title of %q",
			n.called(), out.ID)
	}
	r.takeOwn(at, &out)
	if n.kind == endNode {
		return []graph.Node{out}
	}
	next := r.nextOf(at, within)
	if len(before) > 0 {
		r.first[out.ID] = before[0].ID
		for _, b := range before {
			r.before[b.ID] = true
		}
	}
	all := append(append(before, out), behind...)
	r.chain(at, all, len(before), next)
	return all
}

// nextOf returns where a node leads that has one way on.
func (r *region) nextOf(at int, within *cycle) string {
	n := r.flow.nodes[at]
	to, ok := n.to(nextBranch)
	for _, l := range n.leads {
		if l.branch == nextBranch || l.branch == caughtBranch && n.kind == catchNode {
			continue
		}
		if !ok {
			to, ok = l.to, true
			continue
		}
		if n.kind != flowNode && n.kind != catchNode {
			r.lose(n.path, Dropped, "the branch %.80q of %s: a node of its kind has one way on", l.branch, n.called())
		}
	}
	if !ok {
		r.fault(n.path, "no edge leads on from %s", n.called())
		return ""
	}
	return r.lead(within, to)
}

// chain leads nodes to one another and the last to next, and has the state set when the work is done.
func (r *region) chain(at int, all []graph.Node, main int, next string) {
	for i := range all {
		switch last := i+1 == len(all); {
		case all[i].Kind == flow.Branch:
		case last:
			all[i].Next = next
		default:
			all[i].Next = all[i+1].ID
		}
	}
	setter := main
	if r.exits[at] != r.main[at] {
		setter = len(all) - 1
	}
	for name, v := range encodeAll(r.set[at]) {
		if all[setter].Set == nil {
			all[setter].Set = map[string]json.RawMessage{}
		}
		if _, own := all[setter].Set[name]; !own {
			all[setter].Set[name] = v
		}
	}
}

// endOutput binds what a flow ends with.
func (r *region) endOutput(at int) map[string]any {
	n := r.flow.nodes[at]
	out := map[string]any{}
	for _, p := range r.flow.outputs {
		if _, ok := find(n.inputs, p.name); !ok && p.has {
			out[p.name] = literal(p.fallback)
		}
	}
	for name, b := range r.arguments(at) {
		if p, ok := find(r.flow.outputs, name); ok && p.has {
			b = orElse(b, p.fallback)
		}
		out[name] = b
	}
	if r.root && r.branches != nil {
		out[branchMember] = endBranch(n)
	}
	return out
}

// ways makes the branch behind a flow that ends in several ways; none for other flows.
func (r *region) ways(at int, within *cycle) []graph.Node {
	n := r.flow.nodes[at]
	all := branchNames(n.flows[0])
	if all == nil || len(n.leads) < 2 && n.kind != catchNode {
		return nil
	}
	branch := graph.Node{ID: r.ids.take(r.main[at] + "_way"), Kind: flow.Branch}
	for _, name := range sortedKeys(all) {
		to, ok := n.to(name)
		if !ok {
			r.fault(n.path, "no edge leads on from the branch %.80q of %s", name, n.called())
			continue
		}
		branch.Cases = append(branch.Cases, graph.Case{
			When: fmt.Sprintf("nodes[%q].result.%s == %s", r.main[at], branchMember, quoted(name)), Next: r.lead(within, to),
		})
	}
	if len(branch.Cases) == 0 {
		return nil
	}
	branch.Default = branch.Cases[len(branch.Cases)-1].Next
	branch.Cases = branch.Cases[:len(branch.Cases)-1]
	return []graph.Node{branch}
}

// quoted writes a text for a condition.
func quoted(text string) string { return string(encode(text)) }

// caught makes the nodes of a flow whose failure leads elsewhere: its one node, where it has no more, else a graph.
func (r *region) caught(at int, within *cycle, out graph.Node) []graph.Node {
	n := r.flow.nodes[at]
	if to, ok := n.to(caughtBranch); ok {
		out.OnError = r.lead(within, to)
	} else {
		out.OnError = graph.Continue
		r.lose(n.path, Changed, "no edge leads on from the failure of %s: the flow goes on behind it", n.called())
	}
	var behind []graph.Node
	if only, ok := r.wrapped(at); ok { // What was exported as a node that catches.
		only.ID, only.OnError = out.ID, out.OnError
		out = only
		if n.own()["continues"] == true && r.nextOf(at, within) == out.OnError {
			out.OnError = graph.Continue
		}
	} else {
		out.Kind, out.Tool = flow.Sub, tool.Ref{Slug: r.graph(n.flows[0])}
		out.Arguments = encode(r.arguments(at))
		behind = r.ways(at, within)
	}
	all := append([]graph.Node{out}, behind...)
	r.chain(at, all, 0, r.nextOf(at, within))
	return all
}

// message binds what an agent is asked: its inputs.
func (r *region) message(at int) any {
	args := r.arguments(at)
	if len(args) == 0 {
		r.lose(r.flow.nodes[at].path, Changed, "the agent of %s has no inputs: it is asked to begin",
			r.flow.nodes[at].called())
		return "Begin."
	}
	return args
}

// branching makes the branch of a BranchingNode.
func (r *region) branching(at int, within *cycle, out *graph.Node) {
	n := r.flow.nodes[at]
	out.Kind = flow.Branch
	if to, ok := n.to(defaultBranch); ok {
		out.Default = r.lead(within, to)
	}
	if len(n.inputs) == 0 {
		r.fault(n.path+"/inputs", "%s has no input", n.called())
		return
	}
	mapping := n.object("mapping")
	if mapping == nil {
		r.fault(n.path+"/mapping", "%s has no mapping of values to branches", n.called())
		return
	}
	value := r.conditionOf(at, n.inputs[0].name)
	for _, key := range sortedKeys(mapping) {
		name, _ := mapping[key].(string)
		to, ok := n.to(name)
		if !ok {
			r.fault(n.path+"/mapping", "no edge leads on from the branch %.80q of %s", name, n.called())
			continue
		}
		out.Cases = append(out.Cases, graph.Case{When: value + " == " + quoted(key), Next: r.lead(within, to)})
	}
	if len(out.Cases) == 0 && n.own() == nil {
		r.fault(n.path+"/mapping", "the mapping of %s is empty", n.called())
	}
}

// conditionOf returns an expression of the text that an input is.
func (r *region) conditionOf(at int, name string) string {
	b, ok := r.input(at, name)
	if !ok {
		n := r.flow.nodes[at]
		if n.own() == nil {
			r.fault(n.path+"/inputs", "nothing leads to the input %.80q of %s", name, n.called())
		}
		return "''"
	}
	return expression(b)
}

// unmatched gives a branch without a default one that fails.
func (r *region) unmatched(at int, out *graph.Node, within *cycle) []graph.Node {
	if out.Default != "" {
		return nil
	}
	n := r.flow.nodes[at]
	r.lose(n.path, Changed, "no edge leads on from the branch %q of %s: a value without a branch fails", defaultBranch,
		n.called())
	out.Default = r.ids.take(out.ID + "_unmatched")
	to := ""
	if len(n.leads) > 0 {
		to = r.lead(within, n.leads[0].to)
	}
	return []graph.Node{{
		ID: out.Default, Kind: flow.Tool, Tool: tool.Ref{Slug: transform}, Next: to,
		Arguments: encode(map[string]any{"filter": `error("no branch for this value")`}),
	}}
}

// branchID is the id of a branch of a parallel node.
func branchID(n *nodeSpec, i int) string {
	id := slugOf(n.flows[i].text("name"), "branch"+strconv.Itoa(i+1))
	for j := range i {
		if slugOf(n.flows[j].text("name"), "branch"+strconv.Itoa(j+1)) == id {
			return "branch" + strconv.Itoa(i+1)
		}
	}
	return id
}
