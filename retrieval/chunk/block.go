package chunk

import "strings"

// kind is the kind of a block.
type kind byte

const (
	paragraph kind = iota
	heading
	code
	table
	list
)

// block is a part of a text that is kept together where it fits. Blank lines between blocks belong
// to none.
type block struct {
	kind       kind
	start, end int
	level      int    // Of a heading, 1 to 6.
	title      string // Of a heading.
}

// maxTitle bounds a heading in bytes in a piece's headings.
const maxTitle = 200

// blocksOf splits a text into blocks line by line.
func blocksOf(text string, plain bool) []block {
	s := scanner{text: text, plain: plain}
	for s.next < len(text) {
		s.take(s.line())
	}
	s.close()
	return s.blocks
}

// scanner joins lines to blocks.
type scanner struct {
	text   string
	plain  bool
	next   int // Where the next line begins.
	blocks []block
	open   bool // The last block may continue.
	lines  int  // Of the open block.
	fence  string
	gap    bool // A blank line follows the open list.
}

// line is a line without its end.
type line struct {
	start, end int
	body       string // Without indentation and blanks at the end.
	indent     int
}

func (s *scanner) line() line {
	start, end := s.next, len(s.text)
	if i := strings.IndexByte(s.text[start:], '\n'); i >= 0 {
		end = start + i
		s.next = end + 1
	} else {
		s.next = end
	}
	raw := strings.TrimRight(s.text[start:end], " \t\r")
	body := strings.TrimLeft(raw, " \t")
	return line{start: start, end: start + len(raw), body: body, indent: len(raw) - len(body)}
}

func (s *scanner) last() *block { return &s.blocks[len(s.blocks)-1] }

func (s *scanner) begin(k kind, l line) {
	s.blocks = append(s.blocks, block{kind: k, start: l.start, end: l.end})
	s.open, s.lines, s.gap = true, 1, false
}

func (s *scanner) extend(l line) {
	s.last().end = l.end
	s.lines++
	s.gap = false
}

func (s *scanner) close() { s.open, s.fence, s.gap = false, "", false }

func (s *scanner) isOpen(k kind) bool { return s.open && s.last().kind == k }

// take adds a line to its block.
func (s *scanner) take(l line) {
	switch {
	case s.fence != "":
		if l.body != "" {
			s.extend(l)
		}
		if strings.HasPrefix(l.body, s.fence) && strings.Trim(l.body, s.fence[:1]) == "" {
			s.fence, s.open = "", s.last().kind == list // A list continues after its code.
		}
	case l.body == "":
		if s.gap = s.isOpen(list); !s.gap {
			s.close()
		}
	case s.plain:
		s.run(paragraph, l)
	case fenceOf(l.body) != "":
		if s.isOpen(list) && l.indent > 0 {
			s.extend(l) // Code within an item.
		} else {
			s.begin(code, l)
		}
		s.fence = fenceOf(l.body)
	case s.isOpen(list) && (l.indent > 0 || isItem(l.body)):
		s.extend(l)
	case s.heading(l):
	case isItem(l.body) && l.indent < 4:
		s.begin(list, l)
	case s.isOpen(list) && !s.gap:
		s.extend(l) // Lazy continuation of an item.
	case strings.HasPrefix(l.body, "|"):
		s.run(table, l)
	default:
		s.run(paragraph, l)
	}
}

// run continues a block of a kind, or starts one.
func (s *scanner) run(k kind, l line) {
	if s.isOpen(k) {
		s.extend(l)
	} else {
		s.begin(k, l)
	}
}

// heading handles a line that is a heading, or that underlines the previous line as one.
func (s *scanner) heading(l line) bool {
	if l.indent < 4 {
		if level, title := atx(l.body); level > 0 {
			s.begin(heading, l)
			s.last().level, s.last().title = level, clip(title)
			s.close()
			return true
		}
	}
	level := underline(l.body)
	if level == 0 || !s.isOpen(paragraph) || s.lines != 1 {
		return false
	}
	b := s.last()
	b.kind, b.level, b.title = heading, level, clip(strings.TrimSpace(s.text[b.start:b.end]))
	b.end = l.end
	s.close()
	return true
}

// atx parses a heading of the form "## Title ##".
func atx(body string) (level int, title string) {
	level = len(body) - len(strings.TrimLeft(body, "#"))
	rest := body[level:]
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	rest = strings.TrimSpace(rest)
	if bare := strings.TrimRight(rest, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		rest = strings.TrimSpace(bare)
	}
	return level, rest
}

// underline returns the level of the heading that a line underlines; 0 for none.
func underline(body string) int {
	switch {
	case strings.Trim(body, "=") == "":
		return 1
	case len(body) > 1 && strings.Trim(body, "-") == "":
		return 2
	default:
		return 0
	}
}

// fenceOf returns the fence that a line opens; empty for none.
func fenceOf(body string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(body) - len(strings.TrimLeft(body, mark))
		if n >= 3 && (mark == "~" || !strings.Contains(body[n:], mark)) {
			return body[:n]
		}
	}
	return ""
}

// isItem reports whether a line begins an item of a list.
func isItem(body string) bool {
	switch body[0] {
	case '-', '*', '+':
		return len(body) > 1 && (body[1] == ' ' || body[1] == '\t')
	}
	digits := 0
	for digits < len(body) && digits < 9 && body[digits] >= '0' && body[digits] <= '9' {
		digits++
	}
	return digits > 0 && digits+1 < len(body) && (body[digits] == '.' || body[digits] == ')') && body[digits+1] == ' '
}

// clip cuts a title, between runes.
func clip(title string) string {
	if len(title) <= maxTitle {
		return title
	}
	return strings.ToValidUTF8(title[:maxTitle], "")
}
