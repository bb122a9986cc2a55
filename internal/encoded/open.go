package encoded

import "bytes"

// maxOpenDepth bounds nested encodings at the end of a text.
const maxOpenDepth = 5

// Open returns the position where the end of text may be the beginning of a pattern:
// text[:Open] discloses at most some bits of its first byte. It is len(text) where the
// end is not the beginning of a pattern.
func (s *Set) Open(text []byte) int {
	if s == nil {
		return len(text)
	}
	// Longer encodings of a pattern occur only in artificial chains.
	window := max(4<<10, 12*s.longest)
	skip := max(0, len(text)-window)
	return skip + s.open(text[skip:], 0)
}

func (s *Set) open(text []byte, depth int) int {
	at := len(text) - s.automaton.open(text)
	if depth == maxOpenDepth || len(text) == 0 {
		return at
	}
	if bytes.ContainsAny(text, `%&\`) {
		var origin offsets
		decoded, met := anyEscape.decode(nil, text, &origin, nil, true)
		if met != noEscapes || len(decoded) < len(text) {
			if i := s.open(decoded, depth+1); i < len(decoded) {
				at = min(at, int(origin.from[i]))
			}
		}
	}
	for _, r := range []radix{base64, base16} {
		at = min(at, s.openRun(text, r, depth))
	}
	return at
}

// openRun is open for the run of digits at the end of text.
func (s *Set) openRun(text []byte, r radix, depth int) int {
	found, ok := r.lastRun(text)
	at := len(text)
	if !ok {
		return at
	}
	digits, places := r.digits(nil, text, found), r.places(nil, text, found)
	for phase := range min(r.phases(), len(digits)) {
		decoded := r.decode(nil, digits[phase:])
		i := len(decoded) - s.automaton.open(decoded)
		if from, to := lastStretch(decoded); to == len(decoded) && to-from >= minStretch {
			i = min(i, from+s.open(decoded[from:], depth+1))
		}
		if i < len(decoded) {
			first, _ := r.span(i, i+1)
			at = min(at, int(places[phase+first]))
		}
	}
	return at
}

// lastRun returns the run of digits that text ends with, even a short one. Line
// breaks may follow it.
func (r radix) lastRun(text []byte) (run, bool) {
	start := len(text)
	for start > 0 && (r.values[text[start-1]] != 0xff || isSpace(text[start-1])) {
		start--
	}
	r.least = 2
	for {
		found, ok := r.next(text, start)
		if !ok || found.end == len(text) || lineBreak(text, found.end) == len(text) {
			return found, ok
		}
		start = found.end
	}
}

// lastStretch returns the last stretch of text.
func lastStretch(raw []byte) (from, to int) {
	for rest := 0; ; {
		i, j := stretch(raw, rest)
		if i == j {
			return from, to
		}
		from, to, rest = i, j, j
	}
}
