package encoded

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"sync"
	"unicode/utf8"
)

const (
	maxDepth   = 16       // Maximum nesting of encodings.
	maxFactor  = 12       // Maximum of decoded bytes, relative to the text's size, and
	minBudget  = 64 << 10 // its minimum in bytes.
	minStretch = 6        // Shorter pieces of decoded text are not decoded again.
)

// search finds patterns in a text and its decoded layers.
type search struct {
	automaton *automaton
	found     []Span // In the text.
	queue     []*layer
	later     []*layer // Those of one kind of escape sequence, where a text has several.
	left      int      // Rest of the decoding budget.
	extra     int      // How many of these for what is in later.

	digits, bytes []byte
	spans         []Span
}

// layer is a text, or the decoded form of another layer.
type layer struct {
	text   []byte
	parent *layer
	depth  int
	kinds  escapes  // What was decoded; none where pieces are.
	origin *offsets // Of the decoded bytes; computed on demand.
	fresh  []int32  // Where decoded digits and white space are. A run without was in the parent.
	pieces []piece
}

// piece is a part of a layer's text, with its origin.
type piece struct {
	at     int // Where it begins in the layer.
	digits place
	first  int      // Of the bytes that digits stand for.
	origin *offsets // Where it is no digits.
}

var searches = sync.Pool{New: func() any { return new(search) }}

func newSearch(a *automaton, text []byte) *search {
	s, _ := searches.Get().(*search)
	s.automaton = a
	s.left = maxFactor*len(text) + minBudget
	s.extra = minBudget
	s.queue = append(s.queue[:0], &layer{text: text})
	s.later, s.found = s.later[:0], nil
	return s
}

func (s *search) run() []Span {
	for {
		var l *layer
		switch {
		case len(s.queue) > 0:
			l, s.queue = s.queue[0], s.queue[1:]
		case len(s.later) > 0:
			l, s.later = s.later[0], s.later[1:]
			if s.extra -= len(l.text); s.extra < 0 {
				continue
			}
		default:
			found := s.found
			s.found, s.automaton = nil, nil
			clear(s.bytes[:cap(s.bytes)])
			searches.Put(s)
			return found
		}
		if s.left -= len(l.text); s.left < 0 {
			continue
		}
		s.visit(l)
	}
}

// visit searches one layer, and queues its decoded forms.
func (s *search) visit(l *layer) {
	s.spans = s.automaton.find(s.spans[:0], l.text)
	for _, span := range s.spans {
		s.report(l, span)
	}
	if l.depth >= maxDepth {
		return
	}
	below := &layer{parent: l, depth: l.depth + 1}
	for _, r := range []radix{base64, base16} {
		s.runs(l, below, r)
	}
	if bytes.IndexByte(l.text, 0) >= 0 {
		s.wide(l, below)
	}
	if len(below.text) > 0 {
		s.queue = append(s.queue, below)
	}
	s.escapes(l)
}

// escapes queues the decoded forms of a layer's escape sequences: all kinds at once, and
// each kind alone.
func (s *search) escapes(l *layer) {
	if !bytes.ContainsAny(l.text, `%&\`) {
		return
	}
	below := &layer{parent: l, depth: l.depth + 1, kinds: anyEscape}
	var met escapes
	if below.text, met = anyEscape.decode(make([]byte, 0, len(l.text)), l.text, nil, &below.fresh,
		false); met == noEscapes {
		return
	}
	s.queue = append(s.queue, below)
	if len(l.text) > s.extra {
		return
	}
	alone := func(kinds escapes) {
		below := &layer{parent: l, depth: l.depth + 1, kinds: kinds}
		below.text, _ = kinds.decode(make([]byte, 0, len(l.text)), l.text, nil, &below.fresh, false)
		s.later = append(s.later, below)
	}
	if met&(met-1) != 0 {
		for _, kind := range []escapes{percent, entity, backslash} {
			if met&kind != 0 {
				alone(kind)
			}
		}
	}
	if met&percent != 0 && bytes.IndexByte(l.text, '+') >= 0 {
		alone(percent | plus)
	}
}

// runs searches the decoded runs of digits in a layer. Text among them is added to the
// layer below.
func (s *search) runs(l, below *layer, r radix) {
	for found := range r.fresh(l) {
		s.digits = r.digits(s.digits[:0], l.text, found)
		at := place{radix: r, start: found.start}
		if found.broken {
			at.places = r.places(nil, l.text, found)
		}
		for at.phase = range r.phases() {
			s.bytes = r.decode(s.bytes[:0], s.digits[at.phase:])
			s.spans = s.automaton.find(s.spans[:0], s.bytes)
			for _, span := range s.spans {
				s.report(l, at.span(span.Start, span.End))
			}
			for rest := 0; ; {
				from, to := stretch(s.bytes, rest)
				if from == to {
					break
				}
				below.join(s.bytes[from:to], piece{digits: at, first: from})
				rest = to
			}
		}
	}
}

// fresh yields the runs of a layer that its parent does not have.
func (r radix) fresh(l *layer) iter.Seq[run] {
	return func(yield func(run) bool) {
		if l.kinds == noEscapes {
			r.between(l.text, 0, len(l.text), yield)
			return
		}
		end, marks := 0, l.fresh
		for i, mark := range l.fresh {
			if at := int(mark); at >= end {
				start := at
				for start > end && r.holds(l.text[start-1]) {
					start--
				}
				for end = at; end < len(l.text) && r.holds(l.text[end]); {
					end++
				}
				marks = l.fresh[i:]
				if !r.between(l.text, start, end, func(found run) bool {
					for len(marks) > 0 && int(marks[0]) < found.start {
						marks = marks[1:]
					}
					return len(marks) == 0 || int(marks[0]) >= found.end || yield(found)
				}) {
					return
				}
			}
		}
	}
}

// between yields the runs of text from start to end, until yield returns false.
func (r radix) between(text []byte, start, end int, yield func(run) bool) bool {
	for {
		found, ok := r.next(text[:end], start)
		if !ok {
			return true
		}
		if !yield(found) {
			return false
		}
		start = found.end
	}
}

// holds reports whether b can stand in a run.
func (r radix) holds(b byte) bool { return r.values[b] != 0xff || isSpace(b) }

// place says where the digits of a run are.
type place struct {
	radix  radix
	phase  int
	start  int     // Where the first digit is.
	places []int32 // Where each is; nil where they are adjacent.
}

// span returns the digits that hold bits of the bytes from i to j.
func (p place) span(i, j int) Span {
	first, last := p.radix.span(i, j)
	first, last = first+p.phase, last+p.phase
	if p.places != nil {
		return Span{int(p.places[first]), int(p.places[last]) + 1}
	}
	return Span{p.start + first, p.start + last + 1}
}

// joint separates pieces of text that are not adjacent. It does not occur in them.
const joint = 1

// join appends a piece of text that is not adjacent to the previous one.
func (l *layer) join(text []byte, p piece) {
	if len(l.text) > 0 {
		l.text = append(l.text, joint)
	}
	p.at = len(l.text)
	l.pieces = append(l.pieces, p)
	l.text = append(l.text, text...)
}

// above maps a span of a layer to the layer above. It fails for a span across pieces that
// are not adjacent.
func (l *layer) above(span Span) (Span, bool) {
	if l.pieces == nil {
		if l.origin == nil {
			l.origin = &offsets{}
			l.kinds.decode(nil, l.parent.text, l.origin, nil, false)
		}
		return l.origin.span(span), true
	}
	after, _ := slices.BinarySearchFunc(l.pieces, span.Start+1, func(p piece, at int) int { return cmp.Compare(p.at, at) })
	if after < len(l.pieces) && l.pieces[after].at < span.End {
		return Span{}, false
	}
	p := l.pieces[after-1]
	span = Span{span.Start - p.at, span.End - p.at}
	if p.origin != nil {
		return p.origin.span(span), true
	}
	return p.digits.span(p.first+span.Start, p.first+span.End), true
}

func (o *offsets) span(s Span) Span { return Span{int(o.from[s.Start]), int(o.to[s.End-1])} }

// follows is the number of continuation bytes after a first byte of a character: stray for
// a byte that starts none, control for one that text does not contain.
var follows = func() (n [256]byte) {
	for b := range n {
		switch {
		case b == '\t' || b == '\n' || b == '\r' || b >= ' ' && b < 0x7f:
		case b >= 0xc2 && b < 0xe0:
			n[b] = 1
		case b >= 0xe0 && b < 0xf0:
			n[b] = 2
		case b >= 0xf0 && b < 0xf5:
			n[b] = 3
		case b >= 0x80:
			n[b] = stray
		default:
			n[b] = control
		}
	}
	return n
}()

const (
	stray   = 0xfe
	control = 0xff
)

// weight is how much a byte indicates binary data: zero for ASCII, one for other
// characters, and above the limit for controls.
var weight = func() (n [256]uint8) {
	for b, more := range follows {
		switch {
		case more == control:
			n[b] = minStretch + 1
		case b >= 0x80:
			n[b] = 1
		}
	}
	return n
}()

// stretch returns the first stretch of text at or after i that is long enough;
// an empty one where there is none. It has minStretch bytes of ASCII, but one,
// side by side: nothing else can be an encoding. About these, one byte of four
// may be stray: where a character is half escaped, its other half is.
func stretch(raw []byte, i int) (from, to int) {
	for {
		anchor, ok := dense(raw, i)
		if !ok {
			return 0, 0
		}
		from = anchor
		for from > i && follows[raw[from-1]] != control {
			from--
		}
		strays := 0
		for to = from; to < len(raw); {
			more := follows[raw[to]]
			if more == 0 {
				to++
				continue
			}
			if more == control {
				break
			}
			if more != stray && continues(raw[to+1:], int(more)) {
				to += 1 + int(more)
				continue
			}
			strays++
			to++
		}
		if strays*4 <= to-from {
			return from, to
		}
		i = to
	}
}

// dense returns where the next minStretch bytes begin that are ASCII, but one.
func dense(raw []byte, i int) (int, bool) {
	if len(raw)-i < minStretch {
		return 0, false
	}
	var sum uint8
	for _, b := range raw[i : i+minStretch] {
		sum += weight[b]
	}
	for ; sum > 1; i++ {
		if i+minStretch == len(raw) {
			return 0, false
		}
		sum += weight[raw[i+minStretch]] - weight[raw[i]]
	}
	return i, true
}

// continues reports whether raw begins with so many bytes that go on a character.
func continues(raw []byte, count int) bool {
	if len(raw) < count {
		return false
	}
	for _, b := range raw[:count] {
		if b&0xc0 != 0x80 {
			return false
		}
	}
	return true
}

// maxWide bounds the characters that are recognized in UTF-16: pairs of letters
// of ASCII are beyond.
const maxWide = 0x2100

// wide decodes UTF-16 of both byte orders. Characters beyond [maxWide] are found
// only where a pattern is in UTF-16 as it is.
func (s *search) wide(l, below *layer) {
	for _, high := range []int{0, 1} {
		for parity := range 2 {
			var text []byte
			var origin offsets
			flush := func() {
				if len(text) >= minStretch {
					below.join(text, piece{origin: &offsets{origin.from, origin.to}})
				}
				text, origin = text[:0], offsets{}
			}
			for i := parity; i+1 < len(l.text); i += 2 {
				r := rune(l.text[i+high])<<8 | rune(l.text[i+1-high])
				if r >= maxWide || r < 0x80 && follows[r] != 0 {
					flush()
					continue
				}
				before := len(text)
				text = utf8.AppendRune(text, r)
				origin.add(len(text)-before, i, i+2)
			}
			flush()
		}
	}
}

// report records a match in a layer by its span in the text.
func (s *search) report(l *layer, span Span) {
	for ; l.parent != nil; l = l.parent {
		var ok bool
		if span, ok = l.above(span); !ok {
			return
		}
	}
	s.found = append(s.found, span)
}
