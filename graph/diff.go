package graph

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// What became of a part of a graph.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Change is a difference between two definitions.
type Change struct {
	What string `json:"what"` // [Added], [Removed] or [Changed].
	// Node is the id of the node; empty of the graph itself.
	Node string `json:"node,omitempty"`
	// Path is a JSON Pointer in the node, or in the definition; empty for a whole node. Where a
	// node leads without a next is /next too, and "/in" is the body that it is in.
	Path string          `json:"path,omitempty"`
	From json.RawMessage `json:"from,omitempty"`
	To   json.RawMessage `json:"to,omitempty"`
}

// Diff returns what changed between two definitions that [Parse] takes: nodes by their ids,
// wherever in the list they are, and in them each value of bindings and of fields. First are the
// nodes of the later one, then removed ones, then the graph's own fields.
func Diff(before, after *Definition) []Change {
	old, now := placed(before), placed(after)
	var out []Change
	for _, id := range now.order {
		if _, had := old.nodes[id]; !had {
			out = append(out, Change{What: Added, Node: id, To: now.kind(id)})
			continue
		}
		out = append(out, compare(id, "", old.nodes[id], now.nodes[id])...)
	}
	for _, id := range old.order {
		if _, has := now.nodes[id]; !has {
			out = append(out, Change{What: Removed, Node: id, From: old.kind(id)})
		}
	}
	return append(out, compare("", "", old.own, now.own)...)
}

// placement is a definition taken apart.
type placement struct {
	order []string
	nodes map[string]json.RawMessage
	own   json.RawMessage // The definition without its nodes.
}

func placed(d *Definition) *placement {
	p := &placement{nodes: map[string]json.RawMessage{}}
	p.body("", d.Nodes)
	own := *d
	own.Nodes, own.Type = nil, ""
	p.own = p.without(own)
	return p
}

func (p *placement) without(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // It was decoded from JSON.
		return nil
	}
	return raw
}

func (p *placement) kind(id string) json.RawMessage {
	var n struct {
		Kind json.RawMessage `json:"kind"`
	}
	_ = json.Unmarshal(p.nodes[id], &n) // It was marshaled from a node.
	return n.Kind
}

// body takes up the nodes of a body, each with where it leads and the body it is in.
func (p *placement) body(in string, nodes []Node) {
	for i, n := range nodes {
		p.order = append(p.order, n.ID)
		own := n
		own.Nodes, own.Branches = nil, nil
		if n.Next == "" && i+1 < len(nodes) && n.Kind != flow.Branch && n.Kind != flow.End {
			own.Next = nodes[i+1].ID
		}
		outputs := map[string]json.RawMessage{}
		for _, b := range n.Branches {
			outputs[b.ID] = json.RawMessage("null")
			if given(b.Output) {
				outputs[b.ID] = b.Output
			}
		}
		p.nodes[n.ID] = p.without(struct {
			Node
			In       string                     `json:"in,omitempty"`
			Branches map[string]json.RawMessage `json:"branches,omitempty"`
			Nodes    []Node                     `json:"nodes,omitempty"`
		}{Node: own, In: in, Branches: outputs})
		for _, b := range n.Branches {
			p.body(flow.Join(n.ID, b.ID), b.Nodes)
		}
		p.body(n.ID, n.Nodes)
	}
}

// compare returns the differences of two values, at the deepest members that both have.
func compare(node, path string, before, after json.RawMessage) []Change {
	var old, now map[string]json.RawMessage
	if json.Unmarshal(before, &old) == nil && json.Unmarshal(after, &now) == nil && old != nil && now != nil {
		var out []Change
		all := maps.Clone(old)
		maps.Copy(all, now)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			at := path + "/" + jsonpointer.Escape(name)
			was, had := old[name]
			is, has := now[name]
			switch {
			case !had:
				out = append(out, Change{Added, node, at, nil, is})
			case !has:
				out = append(out, Change{Removed, node, at, was, nil})
			default:
				out = append(out, compare(node, at, was, is)...)
			}
		}
		return out
	}
	if bytes.Equal(canonical(before), canonical(after)) {
		return nil
	}
	return []Change{{Changed, node, path, before, after}}
}

// canonical returns a value with its members in order, and its numbers as they are written.
func canonical(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}
