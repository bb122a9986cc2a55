package schema

import "strings"

// Reasons not to repair a text.
const (
	truncated   = "the JSON is cut off: send the whole payload again"
	unbalanced  = "the JSON's brackets do not match"
	elided      = "the JSON leaves something out: send every value"
	surplusText = "expected one JSON value and nothing else"
	valueless   = "the JSON has a property without a value"
)

// scan reads malformed JSON by its brackets and quotes only, and says why it
// must not be repaired: an empty reason when it may. It errs on the side of
// refusing.
func scan(text string) (reason string) {
	s := scanner{text: text}
	for s.pos < len(text) {
		if reason := s.step(); reason != "" {
			return reason
		}
	}
	if len(s.open) > 0 {
		return truncated
	}
	return ""
}

type scanner struct {
	text string
	pos  int
	open []byte // Brackets that are open.
	last byte   // The last significant byte.
	done bool   // The first value is complete.
}

// step reads one token.
func (s *scanner) step() string {
	c := s.text[s.pos]
	rest := s.text[s.pos:]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.pos++
		return ""
	case c == '"' || (c == '\'' || c == '`') && strings.IndexByte("{[,:(", s.last) >= 0:
		return s.quoted(c)
	case strings.HasPrefix(rest, "//") && s.last != ':':
		return s.skipTo("\n")
	case strings.HasPrefix(rest, "/*"):
		if !strings.Contains(rest[2:], "*/") {
			return truncated
		}
		return s.skipTo("*/")
	case strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…"):
		return elided
	case s.done && c != '}' && c != ']' && c != ',' && c != ';':
		return surplusText
	case c == '{' || c == '[':
		s.open = append(s.open, c)
	case c == '}' || c == ']':
		if reason := s.close(c); reason != "" {
			return reason
		}
	case c == ',' && s.last == ':':
		return valueless
	}
	s.last = c
	s.pos++
	return ""
}

// close matches a closing bracket. Surplus ones after the value are harmless.
func (s *scanner) close(c byte) string {
	if len(s.open) == 0 {
		if s.done {
			return ""
		}
		return unbalanced
	}
	if s.last == ':' {
		return valueless
	}
	top := s.open[len(s.open)-1]
	if top == '{' && c != '}' || top == '[' && c != ']' {
		return unbalanced
	}
	s.open = s.open[:len(s.open)-1]
	s.done = s.done || len(s.open) == 0
	return ""
}

// quoted skips a string.
func (s *scanner) quoted(quote byte) string {
	for i := s.pos + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case quote:
			s.pos, s.last = i+1, quote
			return ""
		}
	}
	return truncated
}

// skipTo moves behind the next end, or to the end of the text.
func (s *scanner) skipTo(end string) string {
	i := strings.Index(s.text[s.pos+1:], end)
	if i < 0 {
		s.pos = len(s.text)
		return ""
	}
	s.pos += 1 + i + len(end)
	return ""
}
