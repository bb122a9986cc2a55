package markdown

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse returns the blocks of a source. It never fails: what is not markup is text.
func Parse(source string) []Element {
	nodes, _ := parse(source)
	return nodes
}

// ParseAll returns the blocks of each source. What would be more than [MaxNodesOfAll] nodes in all is text.
func ParseAll(sources []string) [][]Element {
	all, left := make([][]Element, len(sources)), MaxNodesOfAll
	for i, source := range sources {
		p := &parser{left: min(left, MaxNodes)}
		before := p.left
		all[i] = p.document(source)
		left = max(0, left-(before-p.left))
	}
	return all
}

// parse also returns how many bytes were looked at, each time that they were.
func parse(source string) ([]Element, int) {
	p := &parser{left: MaxNodes}
	return p.document(source), p.work
}

func (p *parser) document(source string) []Element {
	if len(source) > MaxBytes {
		source = source[:MaxBytes]
		for !utf8.ValidString(source[max(0, len(source)-utf8.UTFMax):]) && len(source) > MaxBytes-utf8.UTFMax {
			source = source[:len(source)-1]
		}
	}
	return p.blocks(strings.Split(clean(source), "\n"), 0)
}

// clean makes controls seen that turn the direction of what is read, and drops what is no character.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	if !strings.ContainsFunc(s, func(r rune) bool { return unseen(r) || r < ' ' && r != '\n' }) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			out.WriteString("    ")
		case unseen(r):
			out.WriteString("⟦U+" + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + "⟧")
		case r >= ' ' || r == '\n':
			out.WriteRune(r)
		}
	}
	return out.String()
}

// unseen reports whether a character turns the direction of those that follow.
func unseen(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

type parser struct {
	left int // Nodes that may be made yet.
	work int
}

// take counts a node; false where there were too many.
func (p *parser) take() bool {
	p.left--
	return p.left > 0
}

// blocks parses lines, which are a document, or what is in a quote or in an item of a list.
func (p *parser) blocks(lines []string, depth int) []Element {
	var out []Element
	for at := 0; at < len(lines); {
		if !p.take() {
			return append(out, Element{Kind: CodeBlock, Text: strings.Join(lines[at:], "\n")})
		}
		p.work += len(lines[at]) + 1
		line := lines[at]
		switch indent, text := indentOf(line); {
		case text == "":
			at++
		case indent >= 4:
			at = p.indented(&out, lines, at)
		case fence(text) != "":
			at = p.fenced(&out, lines, at)
		case headingLevel(text) > 0:
			level := headingLevel(text)
			out = append(out, Element{Kind: Heading, Level: level, Nodes: p.inline(headingText(text[level:]))})
			at++
		case isRule(text):
			out = append(out, Element{Kind: Rule})
			at++
		case text[0] == '>' && depth < maxNested:
			at = p.quote(&out, lines, at, depth)
		case depth < maxNested && markerOf(line).width > 0:
			at = p.list(&out, lines, at, depth)
		case p.isTable(lines, at):
			at = p.table(&out, lines, at)
		default:
			at = p.paragraph(&out, lines, at)
		}
	}
	return out
}

// indentOf returns by how many spaces a line is indented, and the rest of it.
func indentOf(line string) (int, string) {
	text := strings.TrimLeft(line, " ")
	return len(line) - len(text), strings.TrimRight(text, " ")
}

func (p *parser) indented(out *[]Element, lines []string, at int) int {
	var code []string
	for ; at < len(lines); at++ {
		p.work += len(lines[at])
		indent, text := indentOf(lines[at])
		if text != "" && indent < 4 {
			break
		}
		code = append(code, lines[at][min(4, indent):])
	}
	*out = append(*out, Element{Kind: CodeBlock, Text: strings.TrimRight(strings.Join(code, "\n"), "\n ")})
	return at
}

// fence returns the marks with which a block of code begins or ends.
func fence(text string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, mark))
		if n >= 3 && !(mark == "`" && strings.Contains(text[n:], "`")) {
			return text[:n]
		}
	}
	return ""
}

func (p *parser) fenced(out *[]Element, lines []string, at int) int {
	indent, text := indentOf(lines[at])
	opened := fence(text)
	language, _, _ := strings.Cut(strings.TrimSpace(text[len(opened):]), " ")
	var code []string
	for at++; at < len(lines); at++ {
		p.work += len(lines[at])
		i, t := indentOf(lines[at])
		if i < 4 && len(t) >= len(opened) && strings.Trim(t, opened[:1]) == "" {
			at++
			break
		}
		code = append(code, lines[at][min(i, indent, len(lines[at])):])
	}
	*out = append(
		*out,
		Element{Kind: CodeBlock, Language: language[:min(len(language), 40)], Text: strings.Join(code, "\n")},
	)
	return at
}

// headingLevel returns the level of a heading, and 0 for another line.
func headingLevel(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "#"))
	if n < 1 || n > 6 || len(text) > n && text[n] != ' ' {
		return 0
	}
	return n
}

// headingText drops the marks that close a heading.
func headingText(text string) string {
	text = strings.TrimSpace(text)
	closed := strings.TrimRight(text, "#")
	if closed == "" || closed != text && strings.HasSuffix(closed, " ") {
		return strings.TrimSpace(closed)
	}
	return text
}

func isRule(text string) bool {
	mark := text[:1]
	return strings.ContainsAny(mark, "-*_") && strings.Trim(text, mark+" ") == "" && strings.Count(text, mark) >= 3
}

func (p *parser) quote(out *[]Element, lines []string, at, depth int) int {
	var within []string
	for ; at < len(lines); at++ {
		p.work += len(lines[at])
		indent, text := indentOf(lines[at])
		if indent >= 4 || !strings.HasPrefix(text, ">") {
			break
		}
		within = append(within, strings.TrimPrefix(lines[at][indent+1:], " "))
	}
	*out = append(*out, Element{Kind: Quote, Nodes: p.blocks(within, depth+1)})
	return at
}

// marker is how an item of a list begins.
type marker struct {
	width int    // Of all that is before the text of the item; 0 for a line that begins none.
	mark  string // The same for all items of a list.
	start int
}

func markerOf(line string) marker {
	indent, text := indentOf(line)
	if indent >= 4 || text == "" {
		return marker{}
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	m := marker{mark: text[:1]}
	switch {
	case digits == 0 && strings.ContainsAny(m.mark, "-*+"):
		m.width = 1
	case digits > 0 && digits <= 9 && len(text) > digits && strings.ContainsAny(text[digits:digits+1], ".)"):
		m.start, _ = strconv.Atoi(text[:digits])
		m.mark, m.width = text[digits:digits+1], digits+1
	default:
		return marker{}
	}
	after := text[m.width:]
	spaces, _ := indentOf(after)
	switch {
	case after == "":
		spaces = 1
	case spaces == 0:
		return marker{}
	case spaces > 4:
		spaces = 1
	}
	m.width += indent + spaces
	return m
}

func (p *parser) list(out *[]Element, lines []string, at, depth int) int {
	first := markerOf(lines[at])
	list := Element{Kind: List, Ordered: first.start > 0 || strings.ContainsAny(first.mark, ".)"), Start: first.start}
	for at < len(lines) {
		m := markerOf(lines[at])
		if m.width == 0 || m.mark != first.mark || isRule(strings.TrimSpace(lines[at])) || !p.take() {
			break
		}
		within := []string{lines[at][min(m.width, len(lines[at])):]}
		p.work += len(lines[at])
		for at++; at < len(lines); at++ {
			p.work += len(lines[at])
			indent, text := indentOf(lines[at])
			ends := within[len(within)-1] == "" || begins(lines[at]) || markerOf(lines[at]).width > 0
			if ends && text != "" && indent < m.width {
				break
			}
			within = append(within, strings.TrimRight(lines[at][min(indent, m.width):], " "))
		}
		list.Nodes = append(list.Nodes, Element{Kind: Item, Nodes: p.blocks(within, depth+1)})
	}
	*out = append(*out, list)
	return at
}

// begins reports whether a line begins a block that ends the paragraph before it.
func begins(line string) bool {
	indent, text := indentOf(line)
	if indent >= 4 || text == "" {
		return false
	}
	m := markerOf(line)
	return text[0] == '>' || fence(text) != "" || headingLevel(text) > 0 || isRule(text) ||
		m.width > 0 && m.start <= 1 && len(text) > 1
}

func (p *parser) paragraph(out *[]Element, lines []string, at int) int {
	text := []string{lines[at]}
	for at++; at < len(lines); at++ {
		p.work += len(lines[at])
		indent, t := indentOf(lines[at])
		if t == "" {
			break
		}
		if level := underline(t); level > 0 && indent < 4 {
			*out = append(*out, Element{Kind: Heading, Level: level, Nodes: p.inline(strings.Join(text, "\n"))})
			return at + 1
		}
		if begins(lines[at]) || p.isTable(lines, at) {
			break
		}
		text = append(text, lines[at])
	}
	for i := range text {
		text[i] = strings.TrimLeft(text[i], " ")
	}
	*out = append(*out, Element{Kind: Paragraph, Nodes: p.inline(strings.TrimRight(strings.Join(text, "\n"), " "))})
	return at
}

// underline returns the level of the heading that a line makes of the text above it.
func underline(text string) int {
	switch {
	case strings.Trim(text, "=") == "":
		return 1
	case len(text) > 1 && strings.Trim(text, "-") == "":
		return 2
	default:
		return 0
	}
}

// isTable reports whether a table begins, with its columns, and a line below them of dashes.
func (p *parser) isTable(lines []string, at int) bool {
	if at+1 >= len(lines) || !strings.Contains(lines[at], "|") {
		return false
	}
	p.work += len(lines[at]) + len(lines[at+1])
	below := strings.TrimSpace(lines[at+1])
	if strings.Trim(below, "-|: ") != "" || !strings.Contains(below, "-") {
		return false
	}
	columns := cells(lines[at])
	dashes := cells(below)
	if len(columns) > maxColumns || len(columns) != len(dashes) {
		return false
	}
	for _, d := range dashes {
		if strings.Trim(strings.TrimSuffix(strings.TrimPrefix(d, ":"), ":"), "-") != "" || !strings.Contains(d, "-") {
			return false
		}
	}
	return true
}

// cells splits a row at its bars, but those that are escaped.
func cells(row string) []string {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	var out []string
	var cell strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\' && i+1 < len(row) && row[i+1] == '|':
			cell.WriteByte('|')
			i++
		case row[i] == '|':
			out = append(out, strings.TrimSpace(cell.String()))
			cell.Reset()
			if i == len(row)-1 {
				return out
			}
		default:
			cell.WriteByte(row[i])
		}
	}
	return append(out, strings.TrimSpace(cell.String()))
}

func (p *parser) table(out *[]Element, lines []string, at int) int {
	var aligned []string
	for _, d := range cells(lines[at+1]) {
		align := ""
		switch left, right := strings.HasPrefix(d, ":"), strings.HasSuffix(d, ":"); {
		case left && right:
			align = "center"
		case right:
			align = "right"
		case left:
			align = "left"
		}
		aligned = append(aligned, align)
	}
	table := Element{Kind: Table, Nodes: []Element{p.row(lines[at], aligned, true)}}
	for at += 2; at < len(lines) && strings.TrimSpace(lines[at]) != "" && !begins(lines[at]) && p.left > 0; at++ {
		p.work += len(lines[at])
		table.Nodes = append(table.Nodes, p.row(lines[at], aligned, false))
	}
	*out = append(*out, table)
	return at
}

func (p *parser) row(line string, aligned []string, header bool) Element {
	found := cells(line)
	row := Element{Kind: Row, Header: header, Nodes: make([]Element, len(aligned))}
	p.take()
	for i, align := range aligned {
		row.Nodes[i] = Element{Kind: Cell, Align: align}
		if p.take(); i < len(found) {
			row.Nodes[i].Nodes = p.inline(found[i])
		}
	}
	return row
}
