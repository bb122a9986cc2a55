package draw

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
)

// colour is how a status is shown, on light and on dark ground.
type colour struct{ fill, line, darkFill, darkLine string }

var colours = map[graph.Status]colour{
	graph.Pending:   {"#fff3cd", "#b58100", "#4a3b00", "#e0b000"},
	graph.Completed: {"#d9f2e0", "#1f7a3d", "#123d20", "#4fbf74"},
	graph.Failed:    {"#fbdcdc", "#b3261e", "#531a17", "#f2857d"},
	graph.Skipped:   {"#ececec", "#7a7a7a", "#2e2e2e", "#9a9a9a"},
	graph.Cancelled: {"#ecdff7", "#6b3fa0", "#35204f", "#b58be0"},
}

const style = `svg{background:#fff;color:#1a1a1a}
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:currentColor;direction:ltr;unicode-bidi:isolate}
.t{font-weight:bold}.k,.l{opacity:.75}.b{text-anchor:end}
.n{fill:#f6f8fa;stroke:#57606a}.i{fill:none;stroke:#8c959f;stroke-dasharray:2 3}
.e{fill:none;stroke:#57606a}.f{stroke-dasharray:6 4;stroke:#b3261e}.h{fill:#57606a}.g{fill:#fff;opacity:.85}
`

const dark = `svg{background:#0d1117;color:#e6edf3}.n{fill:#161b22;stroke:#8b949e}.i{stroke:#6e7681}
.e{stroke:#8b949e}.f{stroke:#f2857d}.h{fill:#8b949e}.g{fill:#0d1117}
`

// legendHeight is that of the line below a picture of a run.
const legendHeight = 40

// SVG returns the picture as a document of its own: without scripts, links, and fonts of others.
func (p *Picture) SVG() string {
	p.layout()
	w, h := p.root.box.w+2*margin, p.root.box.h+2*margin
	if p.counts != nil {
		w, h = max(w, 620), h+legendHeight
	}
	s := &svg{p: p, labels: map[point]int{}}
	s.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="t d">`,
		w, h, w, h)
	title := bounded(plain(p.Title))
	if title == "" {
		title = "Graph"
	}
	s.put(`<title id="t">%s</title>`, escape(title))
	s.put(`<desc id="d">%s</desc>`, escape(p.describe()))
	s.style()
	s.put(`<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">` +
		`<path class="h" d="M0 0L8 4L0 8z"/></marker></defs>`)
	s.body(p.root)
	if p.counts != nil {
		s.legend(h - legendHeight/2)
	}
	s.put("</svg>")
	return s.out.String()
}

type svg struct {
	p      *Picture
	out    strings.Builder
	labels map[point]int // How many are at a place.
}

func (s *svg) put(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

func (s *svg) style() {
	var light, night strings.Builder
	for _, status := range graph.Statuses() {
		c := colours[status]
		fmt.Fprintf(&light, ".s-%s{fill:%s;stroke:%s;stroke-width:2}\n", status, c.fill, c.line)
		fmt.Fprintf(&night, ".s-%s{fill:%s;stroke:%s}\n", status, c.darkFill, c.darkLine)
	}
	s.put("<style>%s%s@media (prefers-color-scheme:dark){%s%s}</style>", style, light.String(), dark, night.String())
}

// describe tells what is in the picture, for those who do not see it.
func (p *Picture) describe() string {
	var out strings.Builder
	nodes, edges := 0, 0
	for _, n := range p.nodes {
		edges += len(n.edges)
		if n.kind == failing {
			continue
		}
		nodes++
		fmt.Fprintf(&out, " %s (%s", clip(plain(n.title), 60), n.kind)
		if status := p.status(n); status != "" {
			fmt.Fprintf(&out, ", %s", status)
		}
		out.WriteByte(')')
		for i, e := range n.edges {
			lead := " leads to "
			if i > 0 {
				lead = " and "
			}
			out.WriteString(lead + clip(plain(e.to.title), 60))
		}
		out.WriteByte(';')
	}
	return fmt.Sprintf("%d nodes, %d edges:%s", nodes, edges, strings.TrimSuffix(out.String(), ";"))
}

func (s *svg) body(b *body) {
	for _, n := range b.nodes {
		s.node(n)
	}
	for _, n := range b.nodes {
		for i := range n.edges {
			s.edge(b, n, &n.edges[i])
		}
	}
}

// maxColumns is how much of a text fits into a node, at 7.3 pixels each.
const maxColumns = (leafWidth - 20) * 10 / 73

func (s *svg) text(class string, x, y int, text string) {
	if text != "" {
		s.put(`<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, escape(text))
	}
}

func (s *svg) node(n *node) {
	class, round := "n", 6
	if status := s.p.status(n); status != "" {
		class += " s-" + string(status)
	}
	if k := n.kind; k == failing || k == "start" || k == "end" {
		round = leafHeight / 2
	}
	whole := string(n.kind) + " " + n.id + ": " + n.title
	if n.detail != "" {
		whole += ", " + n.detail
	}
	s.put(`<g data-node="%s"><title>%s</title>`, escape(plain(n.id)), escape(bounded(plain(whole))))
	s.put(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, class, n.box.x, n.box.y, n.box.w, n.box.h, round)
	badge := s.p.badge(n)
	s.text("t", n.box.x+10, n.box.y+23, clip(plain(n.title), maxColumns-max(0, len(badge)+1)))
	s.text("t b", n.box.x+n.box.w-10, n.box.y+23, badge)
	if n.kind != failing {
		s.text("k", n.box.x+10, n.box.y+43, clip(strings.TrimSpace(string(n.kind)+" "+plain(n.detail)), maxColumns))
	}
	for _, below := range n.bodies {
		s.put(`<rect class="i" x="%d" y="%d" width="%d" height="%d" rx="4"/>`, below.box.x, below.box.y, below.box.w, below.box.h)
		s.text("k", below.box.x+8, below.box.y+18, clip(plain(below.label), max(8, (below.box.w-16)*10/73)))
		s.body(below)
	}
	s.put("</g>")
}

func (s *svg) edge(b *body, n *node, e *edge) {
	class := "e"
	if e.kind == edgeFailure {
		class += " f"
	}
	points := n.route(e, b.rowEnd)
	var d strings.Builder
	fmt.Fprintf(&d, "M%d %d", points[0].x, points[0].y)
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		if from.x == to.x {
			fmt.Fprintf(&d, "L%d %d", to.x, to.y)
			continue
		}
		middle := (from.y + to.y) / 2
		fmt.Fprintf(&d, "C%d %d %d %d %d %d", from.x, middle, to.x, middle, to.x, to.y)
	}
	s.put(`<path class="%s" data-edge="%s %s" d="%s" marker-end="url(#a)"><title>%s</title></path>`,
		class, escape(plain(n.id)), escape(plain(e.to.id)), d.String(), escape(bounded(plain(e.label))))
	if e.label == "" {
		return
	}
	// Above where it leads first: there edges that part are apart. Those to one node are above each other.
	at, wide := points[2], labelWidth(e)
	y := at.y - 14 - 17*s.labels[at]
	s.labels[at]++
	s.put(`<rect class="g" x="%d" y="%d" width="%d" height="16" rx="3"/>`, at.x-wide/2, y-12, wide)
	s.put(`<text class="l" x="%d" y="%d" text-anchor="middle">%s</text>`, at.x, y, escape(shownLabel(e)))
}

func (s *svg) legend(y int) {
	x := margin
	for _, status := range graph.Statuses() {
		s.put(`<rect class="n s-%s" x="%d" y="%d" width="16" height="16" rx="3"/>`, status, x, y-12)
		s.text("k", x+22, y, string(status))
		x += 115
	}
}
