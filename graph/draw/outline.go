package draw

import "strings"

// Step is a node of a picture as a line of text.
type Step struct {
	Depth  int    `json:"depth,omitempty"` // How many bodies it is in.
	Node   string `json:"node"`            // Of a branch, its id in brackets.
	Kind   string `json:"kind,omitempty"`
	Detail string `json:"detail,omitempty"` // What it works on.
	Leads  string `json:"leads_to,omitempty"`
	Status string `json:"status,omitempty"`
	Badge  string `json:"counted,omitempty"` // Such as "38/40".
}

// Outline returns the nodes in the order of the definition, those of bodies below their node.
func (p *Picture) Outline() []Step {
	var out []Step
	var visit func(b *body, depth int)
	visit = func(b *body, depth int) {
		for _, n := range b.nodes {
			if n.kind == failing {
				n = n.edges[0].to
				out = append(out, Step{Depth: depth, Node: "(where the graph fails)", Leads: n.id})
				continue
			}
			leads := make([]string, len(n.edges))
			for i, e := range n.edges {
				leads[i] = e.to.id
				if e.label != "" {
					leads[i] = clip(plain(e.label), 40) + ": " + e.to.id
				}
			}
			out = append(out, Step{
				depth, n.id, string(n.kind), plain(n.detail), strings.Join(leads, ", "), string(p.status(n)), p.badge(n),
			})
			for _, below := range n.bodies {
				if below.label != "" {
					out = append(out, Step{Depth: depth + 1, Node: "[" + plain(below.label) + "]"})
				}
				visit(below, depth+1)
			}
		}
	}
	visit(p.root, 0)
	return out
}
