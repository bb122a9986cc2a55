package encoded

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Span is a place in a text: the bytes from Start up to, but not including, End.
type Span struct{ Start, End int }

// Set finds a fixed number of strings. The nil Set finds nothing. It is safe for
// concurrent use.
type Set struct {
	automaton *automaton
	longest   int
}

// maxSpellings bounds the decoded forms of one pattern.
const maxSpellings = 24

// NewSet returns a set of patterns. Patterns shorter than least bytes or two bytes, decoded
// or not, and those of white space only are left out.
func NewSet(least int, patterns ...string) *Set {
	var all [][]byte
	seen := make(map[string]bool)
	add := func(p []byte) {
		if len(p) < max(least, 2) || len(bytes.Trim(p, " \t\r\n+\x00")) == 0 || seen[string(p)] {
			return
		}
		seen[string(p)] = true
		all = append(all, p)
	}
	for _, p := range patterns {
		for _, spelling := range spellings([]byte(p)) {
			add(spelling)
			if utf8.Valid(spelling) {
				add(wide(spelling, binary.LittleEndian))
				add(wide(spelling, binary.BigEndian))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	s := &Set{automaton: newAutomaton(all)}
	for _, p := range all {
		s.longest = max(s.longest, len(p))
	}
	return s
}

// spellings returns a pattern and its decoded forms, step by step: a text that is decoded
// further than the pattern was encoded contains one of these.
func spellings(pattern []byte) [][]byte {
	all := [][]byte{pattern}
	for i := 0; i < len(all); i++ {
		for _, kinds := range []escapes{anyEscape, percent, entity, backslash} {
			decoded, met := kinds.decode(nil, all[i], nil, nil, false)
			known := slices.ContainsFunc(all, func(p []byte) bool { return bytes.Equal(p, decoded) })
			if met != noEscapes && !known && len(all) < maxSpellings {
				all = append(all, decoded)
			}
		}
	}
	return all
}

func wide(s []byte, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(string(s))) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// Find returns the ranges of text that are a pattern, encoded or not, in order and without
// overlaps. A range covers every byte of the encoded pattern.
func (s *Set) Find(text []byte) []Span {
	if s == nil || len(text) == 0 {
		return nil
	}
	found := newSearch(s.automaton, text).run()
	return merged(found)
}

// merged sorts spans and joins those that overlap.
func merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	out := spans[:0]
	for _, span := range spans {
		if n := len(out); n > 0 && span.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, span.End)
			continue
		}
		out = append(out, span)
	}
	return out
}
