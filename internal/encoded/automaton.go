package encoded

// automaton is an Aho-Corasick automaton (1975). It treats a space and a plus sign as
// equal, because form encoding writes one for the other. Patterns have two bytes or more.
// It is immutable once built.
type automaton struct {
	root  [256]int32           // Where each byte leads from the start.
	pairs [1 << 16 / 64]uint64 // Which two bytes begin a pattern.
	nodes []node               // The first is the start.
}

// node is a state. Its children are a list: child, then each one's sibling.
type node struct {
	child   int32 // 0 for none.
	sibling int32 // 0 for none.
	fail    int32 // The state of the longest proper suffix.
	match   int32 // The length of the longest pattern that ends here; 0 for none.
	depth   int32
	on      byte // The byte that leads here.
}

// fold returns the byte that represents b in comparisons.
func fold(b byte) byte {
	if b == '+' {
		return ' '
	}
	return b
}

func newAutomaton(patterns [][]byte) *automaton {
	a := &automaton{nodes: make([]node, 1, 64)}
	for _, p := range patterns {
		a.insert(p)
	}
	a.link()
	return a
}

func (a *automaton) insert(pattern []byte) {
	at := int32(0)
	for i, b := range pattern {
		b = fold(b)
		next := a.next(at, b)
		if next == 0 {
			next = int32(len(a.nodes)) //nolint:gosec // Bounded by the lengths of credentials.
			a.nodes = append(a.nodes, node{on: b, depth: int32(i) + 1, sibling: a.nodes[at].child})
			a.nodes[at].child = next
			if at == 0 {
				a.root[b] = next
			}
		}
		at = next
	}
	a.nodes[at].match = a.nodes[at].depth
	for _, first := range unfold(pattern[0]) {
		for _, second := range unfold(pattern[1]) {
			pair := uint16(first)<<8 | uint16(second)
			a.pairs[pair/64] |= 1 << (pair % 64)
		}
	}
}

// unfold returns the bytes that fold to the same byte as b.
func unfold(b byte) []byte {
	if fold(b) == ' ' {
		return []byte{' ', '+'}
	}
	return []byte{b}
}

// next returns the state after a folded byte by a direct edge; 0 for none.
func (a *automaton) next(at int32, b byte) int32 {
	if at == 0 {
		return a.root[b]
	}
	for at = a.nodes[at].child; at != 0 && a.nodes[at].on != b; {
		at = a.nodes[at].sibling
	}
	return at
}

// link sets fail and match of every state, in the order of their depths.
func (a *automaton) link() {
	queue := make([]int32, 1, len(a.nodes))
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for child := a.nodes[at].child; child != 0; child = a.nodes[child].sibling {
			queue = append(queue, child)
			if at == 0 {
				continue
			}
			b, fail := a.nodes[child].on, a.nodes[at].fail
			for fail != 0 && a.next(fail, b) == 0 {
				fail = a.nodes[fail].fail
			}
			fail = a.next(fail, b)
			a.nodes[child].fail = fail
			a.nodes[child].match = max(a.nodes[child].match, a.nodes[fail].match)
		}
	}
}

// step returns the state after b.
func (a *automaton) step(at int32, b byte) int32 {
	b = fold(b)
	for at != 0 {
		if next := a.next(at, b); next != 0 {
			return next
		}
		at = a.nodes[at].fail
	}
	return a.root[b]
}

// find appends the matches in text to spans, in the order of their ends: the longest of
// those with the same end.
func (a *automaton) find(spans []Span, text []byte) []Span {
	at := int32(0)
	for i := 0; i < len(text); i++ {
		if at == 0 {
			if i = a.skip(text, i); i == len(text) {
				break
			}
		}
		at = a.step(at, text[i])
		if match := int(a.nodes[at].match); match != 0 {
			spans = append(spans, Span{i + 1 - match, i + 1})
		}
	}
	return spans
}

// skip returns the next position at or after i where a pattern may begin.
func (a *automaton) skip(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	pair := uint16(text[i])
	for _, b := range text[i+1:] {
		pair = pair<<8 | uint16(b)
		if a.pairs[pair/64]>>(pair%64)&1 != 0 {
			return i
		}
		i++
	}
	return len(text)
}

// open returns how many bytes at the end of text are the beginning of a pattern.
func (a *automaton) open(text []byte) int {
	at := int32(0)
	for _, b := range text {
		at = a.step(at, b)
	}
	return int(a.nodes[at].depth)
}
