package agentspec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

type rawMessage = json.RawMessage

func decodeInto(raw json.RawMessage, to any) bool { return json.Unmarshal(raw, to) == nil }

// ownNode returns what [Export] wrote of a node; nil where it wrote nothing, or the node gets other inputs than then.
func (r *region) ownNode(at int) map[string]any {
	n := r.flow.nodes[at]
	own := n.own()
	node, ok := own["node"].(map[string]any)
	if !ok {
		return nil
	}
	if got, want := r.fingerprint(at), own["inputs"]; want != nil && got != plain(want) {
		r.lose(n.path, Changed, "other data leads to %s than when it was exported: its own settings are not taken over",
			n.called())
		return nil
	}
	return node
}

// fingerprint tells which outputs lead to the inputs of a node.
func (r *region) fingerprint(at int) string {
	n := r.flow.nodes[at]
	var out []string
	for input, all := range n.sources {
		for _, s := range all {
			out = append(out, fmt.Sprintf("%s.%s>%s", r.flow.nodes[s.node].id, s.output, input))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// takeOwn gives a node the settings that it was exported with. Where it leads, and its bodies, stay.
func (r *region) takeOwn(at int, out *graph.Node) {
	node := r.ownNode(at)
	if node == nil {
		return
	}
	n := r.flow.nodes[at]
	var own graph.Node
	if !decodeInto(encode(node), &own) || !slices.Contains(flow.Kinds(), own.Kind) {
		r.lose(n.path+"/metadata", Dropped, "the metadata of %s are no settings of a node", n.called())
		return
	}
	own.ID, own.Next, own.Default = out.ID, out.Next, out.Default
	if out.OnError != "" {
		own.OnError = out.OnError
	}
	own.Nodes = out.Nodes
	own.Branches = out.Branches
	for i := range own.Branches {
		if i < len(n.flows) {
			if output, ok := n.flows[i].own()["output"]; ok {
				own.Branches[i].Output = encode(output)
			}
		}
	}
	own.Cases = r.ownCases(at, out)
	*out = own
}

// ownCases are the conditions that a branch was exported with, in their order.
func (r *region) ownCases(at int, out *graph.Node) []graph.Case {
	n := r.flow.nodes[at]
	given, ok := n.own()["cases"].([]any)
	if !ok {
		return out.Cases
	}
	var cases []graph.Case
	for _, item := range given {
		o, _ := item.(map[string]any)
		if to, ok := n.to(plain(o["branch"])); ok {
			cases = append(cases, graph.Case{When: plain(o["when"]), Next: r.lead(r.order.in[at], to)})
		}
	}
	return cases
}

// ownLoop reports whether a cycle is a loop that was exported: a branch and the flow of the body.
func (r *region) ownLoop(c *cycle) bool {
	return c.size == 2 && r.flow.nodes[c.head].own()["loop"] == true && r.bodyOf(c) >= 0
}

// bodyOf returns the node with the body of an exported loop; -1 for none.
func (r *region) bodyOf(c *cycle) int {
	for at, has := range c.has {
		if n := r.flow.nodes[at]; has && at != c.head && n.kind == flowNode {
			return at
		}
	}
	return -1
}

// loopOfOurs makes a loop that was exported.
func (r *region) loopOfOurs(c, within *cycle) []graph.Node {
	head := r.flow.nodes[c.head]
	out := graph.Node{ID: r.main[c.head], Kind: flow.Loop}
	out.Nodes = r.body(r.flow.nodes[r.bodyOf(c)].flows[0], inputOf)
	r.takeOwn(c.head, &out)
	if to, ok := head.to(defaultBranch); ok {
		out.Next = r.lead(within, to)
	} else {
		r.fault(head.path, "no edge leads out of the loop of %s", head.called())
	}
	if out.While == "" {
		r.fault(head.path+"/metadata", "the loop of %s has no condition", head.called())
	}
	return []graph.Node{out}
}

// wrapped returns the one node of a flow that was exported to catch its failure; ok is false for other flows.
func (r *region) wrapped(at int) (out graph.Node, ok bool) {
	n := r.flow.nodes[at]
	if n.own()["catches"] != true {
		return out, false
	}
	nodes := r.body(n.flows[0], func(p property) any { return r.startOf(at, p.name, p) })
	if len(nodes) != 1 {
		return out, false
	}
	return nodes[0], true
}

// ownGraph gives a graph the settings that it was exported with.
func (im *importer) ownGraph(f *flowSpec, own map[string]any, def *graph.Definition) {
	given, ok := own["graph"].(map[string]any)
	if !ok {
		return
	}
	var g graph.Definition
	if !decodeInto(encode(given), &g) {
		im.lose(f.path+"/metadata", Dropped, "the metadata of the flow %.80q are no settings of a graph", f.text("name"))
		return
	}
	g.Nodes = def.Nodes
	*def = g
}

// question makes the form of an InputMessageNode. A message with placeholders is put together before it.
func (r *region) question(at int, out *graph.Node) []graph.Node {
	n := r.flow.nodes[at]
	out.Kind = flow.Human
	label := any(n.text("message"))
	if label == "" {
		label = "Your answer"
	}
	var before []graph.Node
	if message := n.text("message"); placeholder.MatchString(message) {
		text := graph.Node{ID: r.ids.take(out.ID + "_message"), Kind: flow.Tool, Tool: tool.Ref{Slug: transform}}
		text.Arguments = encode(map[string]any{"filter": textFilter(message), "input": r.arguments(at)})
		before = append(before, text)
		label = reference("nodes", text.ID, "result", "outputs", "0")
	}
	title := n.name
	if title == "" {
		title = "A question"
	}
	r.lose(n.path, Changed, "%s asks a person by a form with one question", n.called())
	out.Form = encode(map[string]any{
		"title":     tool.Clip(title, 100),
		"questions": []any{map[string]any{"id": answerField, "label": label, "type": "text"}},
	})
	return before
}

// textFilter writes a text with placeholders as a filter.
func textFilter(text string) string {
	var parts []string
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		parts = append(parts, quotedJQ(text[at:m[0]]))
		parts = append(parts, fmt.Sprintf("(.[%s] | if type == \"string\" then . else tojson end)",
			quotedJQ(text[m[2]:m[3]])))
		at = m[1]
	}
	return strings.Join(append(parts, quotedJQ(text[at:])), " + ")
}

// quotedJQ writes a text for a filter, in which a backslash before a bracket begins an expression.
func quotedJQ(text string) string { return string(encode(text)) }
