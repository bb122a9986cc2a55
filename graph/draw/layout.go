package draw

import (
	"cmp"
	"slices"
)

// Measures, in pixels.
const (
	leafWidth  = 220
	leafHeight = 58
	headHeight = 58 // Of a node with bodies.
	bodyPad    = 16
	labelSpace = 22 // Of the name of a branch.
	gapX       = 28
	gapY       = 54
	viaWidth   = 26
	margin     = 24
)

type box struct{ x, y, w, h int }

// slot is a place in a rank: a node, or where an edge passes.
type slot struct {
	node   *node // Nil where an edge passes.
	above  []*slot
	below  []*slot
	order  int
	weight float64
	wide   int // Of a place where an edge passes.
	box    box
}

func (s *slot) width() int {
	if s.node == nil {
		return s.wide
	}
	return s.node.box.w
}

// layout gives all nodes their places. Bodies come first, since their nodes grow with them.
func (p *Picture) layout() {
	p.root.measure()
	p.root.place(margin, margin)
}

// measure finds the size of a body, with places relative to its own.
func (b *body) measure() {
	for _, n := range b.nodes {
		n.box = box{w: leafWidth, h: leafHeight}
		if len(n.bodies) == 0 {
			continue
		}
		w, h := bodyPad, 0
		for _, below := range n.bodies {
			below.measure()
			below.box.x, below.box.y = w, headHeight
			w += below.box.w + bodyPad
			h = max(h, below.box.h)
		}
		for _, below := range n.bodies {
			below.box.h = h
		}
		n.box.w, n.box.h = max(leafWidth, w), headHeight+h+bodyPad
	}
	b.rank()
	b.sort()
	b.arrange()
}

// rank puts nodes below all that lead to them. Edges that lead back, which no graph that is
// published has, do not count.
func (b *body) rank() {
	const unseen, open, closed = 0, 1, 2
	mark := map[*node]int{}
	var order []*node
	var visit func(n *node)
	visit = func(n *node) {
		mark[n] = open
		kept := n.edges[:0:0]
		for _, e := range n.edges {
			if mark[e.to] == unseen {
				visit(e.to)
			}
			if mark[e.to] == closed {
				kept = append(kept, e)
			}
		}
		if len(kept) < len(n.edges) {
			n.edges = kept
		}
		mark[n] = closed
		order = append(order, n)
	}
	for _, n := range b.nodes {
		n.rank = 0
		if mark[n] == unseen {
			visit(n)
		}
	}
	for _, n := range slices.Backward(order) {
		for _, e := range n.edges {
			e.to.rank = max(e.to.rank, n.rank+1)
		}
	}
	b.fill()
}

// fill lists the ranks, with the places where edges pass.
func (b *body) fill() {
	b.ranks = nil
	at := map[*node]*slot{}
	put := func(rank int, s *slot) *slot {
		for len(b.ranks) <= rank {
			b.ranks = append(b.ranks, nil)
		}
		s.order = len(b.ranks[rank])
		b.ranks[rank] = append(b.ranks[rank], s)
		return s
	}
	for _, n := range b.nodes {
		at[n] = put(n.rank, &slot{node: n})
	}
	for _, n := range b.nodes {
		for i := range n.edges {
			e := &n.edges[i]
			e.via = nil
			last := at[n]
			link := func(s *slot) {
				last.below, s.above = append(last.below, s), append(s.above, last)
				last = s
			}
			for rank := n.rank + 1; rank < e.to.rank; rank++ {
				via := put(rank, &slot{wide: viaWidth})
				if rank == n.rank+1 {
					via.wide = max(via.wide, labelWidth(e))
				}
				e.via = append(e.via, via)
				link(via)
			}
			link(at[e.to])
		}
	}
}

// sort orders ranks by the barycentres of what they are connected with, downwards and upwards.
func (b *body) sort() {
	const sweeps = 4
	for range sweeps {
		for _, rank := range b.ranks {
			reorder(rank, func(s *slot) []*slot { return s.above })
		}
		for _, rank := range slices.Backward(b.ranks) {
			reorder(rank, func(s *slot) []*slot { return s.below })
		}
	}
}

func reorder(rank []*slot, beside func(*slot) []*slot) {
	for _, s := range rank {
		s.weight = float64(s.order)
		if near := beside(s); len(near) > 0 {
			sum := 0
			for _, o := range near {
				sum += o.order
			}
			s.weight = float64(sum) / float64(len(near))
		}
	}
	slices.SortStableFunc(rank, func(a, b *slot) int { return cmp.Compare(a.weight, b.weight) })
	for i, s := range rank {
		s.order = i
	}
}

// arrange gives the ranks their places, each in the middle.
func (b *body) arrange() {
	widest := 0
	widths := make([]int, len(b.ranks))
	for i, rank := range b.ranks {
		for _, s := range rank {
			widths[i] += s.width() + gapX
		}
		widths[i] -= gapX
		widest = max(widest, widths[i])
	}
	y := bodyPad
	if b.label != "" {
		y += labelSpace
	}
	for i, rank := range b.ranks {
		x, h := bodyPad+(widest-widths[i])/2, 0
		for _, s := range rank {
			if s.node != nil {
				h = max(h, s.node.box.h)
			}
		}
		for _, s := range rank {
			s.box = box{x, y, s.width(), h}
			x += s.width() + gapX
		}
		y += h + gapY
	}
	b.box.w, b.box.h = widest+2*bodyPad, y-gapY+bodyPad
}

// place makes the places of a body absolute.
func (b *body) place(x, y int) {
	b.box.x, b.box.y = x, y
	for _, rank := range b.ranks {
		for _, s := range rank {
			s.box.x, s.box.y = s.box.x+x, s.box.y+y
			n := s.node
			if n == nil {
				continue
			}
			n.box.x, n.box.y = s.box.x, s.box.y
			for _, below := range n.bodies {
				below.place(n.box.x+below.box.x, n.box.y+below.box.y)
			}
		}
	}
}

// labelWidth is how wide the label of an edge is.
func labelWidth(e *edge) int {
	if e.label == "" {
		return 0
	}
	return width(shownLabel(e))*73/10 + 6
}

func shownLabel(e *edge) string { return clip(plain(e.label), 26) }

type point struct{ x, y int }

// route returns the points of an edge: straight down beside nodes, and across between ranks.
func (n *node) route(e *edge, rowEnd func(*node) int) []point {
	at := point{n.box.x + n.box.w/2, n.box.y + n.box.h}
	points := []point{at, {at.x, rowEnd(n)}}
	for _, via := range e.via {
		x := via.box.x + via.box.w/2
		points = append(points, point{x, via.box.y}, point{x, via.box.y + via.box.h})
	}
	return append(points, point{e.to.box.x + e.to.box.w/2, e.to.box.y})
}

// rowEnd returns where the rank of a node ends.
func (b *body) rowEnd(n *node) int {
	end := 0
	for _, s := range b.ranks[n.rank] {
		end = max(end, s.box.y+s.box.h)
	}
	return end
}
