package draw

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
)

// mermaidText writes a text for a label in quotes: all but letters, digits and what means nothing
// to Mermaid, Markdown and HTML is a character code.
func mermaidText(text string) string {
	var out strings.Builder
	for _, r := range bounded(plain(text)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,_-/=()+!?:@", r) {
			out.WriteRune(r)
			continue
		}
		fmt.Fprintf(&out, "#%d;", r)
	}
	return out.String()
}

// Mermaid returns the picture as a flowchart of Mermaid.
func (p *Picture) Mermaid() string {
	m := &mermaid{p: p}
	m.line(0, "flowchart TD")
	if title := plain(p.Title); title != "" {
		m.line(1, "accTitle: "+mermaidText(title))
	}
	m.body(p.root, 1)
	for _, n := range p.nodes {
		for _, e := range n.edges {
			m.edge(n, e)
		}
	}
	if p.counts != nil {
		m.statuses()
	}
	return m.out.String()
}

type mermaid struct {
	p   *Picture
	out strings.Builder
}

func (m *mermaid) line(depth int, text string) {
	m.out.WriteString(strings.Repeat("  ", depth) + text + "\n")
}

func (m *mermaid) body(b *body, depth int) {
	for _, n := range b.nodes {
		label := mermaidText(n.title)
		if n.kind != failing {
			label += "<br/>" + mermaidText(strings.TrimSpace(string(n.kind)+" "+clip(plain(n.detail), 60)))
		}
		if badge := m.p.badge(n); badge != "" {
			label += "<br/>" + mermaidText(badge)
		}
		id := fmt.Sprintf("n%d", n.number)
		if len(n.bodies) == 0 {
			begin, end := outline(n.kind)
			m.line(depth, id+begin+`"`+label+`"`+end)
			continue
		}
		m.line(depth, "subgraph "+id+`["`+label+`"]`)
		for i, below := range n.bodies {
			if below.label == "" {
				m.body(below, depth+1)
				continue
			}
			m.line(depth+1, fmt.Sprintf(`subgraph %sb%d["%s"]`, id, i, mermaidText(below.label)))
			m.body(below, depth+2)
			m.line(depth+1, "end")
		}
		m.line(depth, "end")
	}
}

// outline returns the brackets that give a node of a kind its form.
func outline(k flow.Kind) (begin, end string) {
	switch k { //nolint:exhaustive // Others are boxes.
	case flow.Start, flow.End, failing:
		return "([", "])"
	case flow.Branch:
		return "{", "}"
	case flow.Human:
		return "[/", "/]"
	case flow.Wait:
		return "(", ")"
	case flow.Sub:
		return "[[", "]]"
	}
	return "[", "]"
}

func (m *mermaid) edge(from *node, e edge) {
	arrow := "-->"
	if e.kind == edgeFailure {
		arrow = "-.->"
	}
	if e.label != "" {
		arrow += `|"` + mermaidText(e.label) + `"|`
	}
	m.line(1, fmt.Sprintf("n%d %s n%d", from.number, arrow, e.to.number))
}

// statuses colours the nodes of a run.
func (m *mermaid) statuses() {
	for _, s := range graph.Statuses() {
		var ids []string
		for _, n := range m.p.nodes {
			if m.p.status(n) == s {
				ids = append(ids, fmt.Sprintf("n%d", n.number))
			}
		}
		if len(ids) == 0 {
			continue
		}
		c := colours[s]
		m.line(1, fmt.Sprintf("classDef %s fill:%s,stroke:%s,color:%s", s, c.fill, c.line, "#1a1a1a"))
		m.line(1, "class "+strings.Join(ids, ",")+" "+string(s))
	}
}
