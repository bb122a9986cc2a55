package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline parses what a paragraph, a heading or a cell has: text with emphasis, code and links.
func (p *parser) inline(source string) []Element {
	in := inliner{parser: p, s: source, frames: []frame{{}}, runs: backticks(source)}
	p.work += len(source)
	for in.at < len(source) {
		if p.left <= 0 {
			in.text(source[in.at:])
			break
		}
		in.step()
	}
	in.collapse(0)
	return in.frames[0].nodes
}

// frame is something that was opened and may be closed: emphasis, or the text of a link.
type frame struct {
	mark  byte // One of * _ ~ [ and ! for an image; 0 for the outermost.
	count int
	dead  bool // Of a bracket: it holds a link, so that it is none.
	nodes []Element
}

// opening returns the text of what was opened.
func (f frame) opening() string {
	switch f.mark {
	case '!':
		return "!["
	case 0:
		return ""
	default:
		return strings.Repeat(string(f.mark), f.count)
	}
}

type inliner struct {
	*parser
	s      string
	at     int
	frames []frame
	runs   map[int][]int // Where runs of backticks begin, by their lengths.
}

// backticks finds runs of backticks, so that the end of each is found at once.
func backticks(s string) map[int][]int {
	var runs map[int][]int
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		from := i
		for i < len(s) && s[i] == '`' {
			i++
		}
		if runs == nil {
			runs = map[int][]int{}
		}
		runs[i-from] = append(runs[i-from], from)
	}
	return runs
}

const special = "\\`*_~[]!<&\nhH"

func (in *inliner) step() {
	rest := in.s[in.at:]
	if n := strings.IndexAny(rest, special); n != 0 {
		if n < 0 {
			n = len(rest)
		}
		in.text(rest[:n])
		in.at += n
		return
	}
	switch c := rest[0]; c {
	case '\\':
		in.escape(rest)
	case '`':
		in.code(rest)
	case '*', '_', '~':
		in.emphasis(rest, c)
	case '[':
		in.open(frame{mark: '[', count: 1}, "[")
	case '!':
		if strings.HasPrefix(rest, "![") {
			in.open(frame{mark: '!', count: 1}, "![")
		} else {
			in.literal(1)
		}
	case ']':
		in.closeBracket()
	case '<':
		in.angle(rest)
	case '&':
		in.entity(rest)
	case '\n':
		in.newline()
	default:
		in.bare(rest)
	}
}

func (in *inliner) top() *frame { return &in.frames[len(in.frames)-1] }

// text adds a text, to the one before it if there is one.
func (in *inliner) text(s string) {
	if s == "" {
		return
	}
	in.top().nodes = joined(in.top().nodes, s)
}

func joined(nodes []Element, s string) []Element {
	if s == "" {
		return nodes
	}
	if n := len(nodes); n > 0 && nodes[n-1].Kind == Text && len(nodes[n-1].Text) < 256 {
		nodes[n-1].Text += s
		return nodes
	}
	return append(nodes, Element{Kind: Text, Text: s})
}

func (in *inliner) add(n Element) {
	in.take()
	in.top().nodes = append(in.top().nodes, n)
}

func (in *inliner) literal(n int) {
	in.text(in.s[in.at : in.at+n])
	in.at += n
}

func (in *inliner) escape(rest string) {
	switch {
	case strings.HasPrefix(rest, "\\\n"):
		in.add(Element{Kind: Break})
		in.at += 2
	case len(rest) > 1 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rune(rest[1])):
		in.text(rest[1:2])
		in.at += 2
	default:
		in.literal(1)
	}
}

func (in *inliner) newline() {
	top := in.top()
	if n := len(top.nodes); n > 0 && top.nodes[n-1].Kind == Text && strings.HasSuffix(top.nodes[n-1].Text, "  ") {
		top.nodes[n-1].Text = strings.TrimRight(top.nodes[n-1].Text, " ")
		in.add(Element{Kind: Break})
		in.at++
		return
	}
	in.literal(1)
}

// code is what is between two runs of backticks of the same length.
func (in *inliner) code(rest string) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	ends := in.runs[n]
	for len(ends) > 0 && ends[0] <= in.at {
		ends = ends[1:]
	}
	in.runs[n] = ends
	if len(ends) == 0 {
		in.literal(n)
		return
	}
	text := strings.ReplaceAll(in.s[in.at+n:ends[0]], "\n", " ")
	if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' && strings.Trim(text, " ") != "" {
		text = text[1 : len(text)-1]
	}
	in.add(Element{Kind: Code, Text: text})
	in.work += len(text)
	in.at = ends[0] + n
}

// emphasis opens or closes emphasis, as the characters around the marks say.
func (in *inliner) emphasis(rest string, c byte) {
	n := len(rest) - len(strings.TrimLeft(rest, string(c)))
	if n > 3 || c == '~' && n != 2 {
		in.literal(n)
		return
	}
	before, _ := utf8.DecodeLastRuneInString(in.s[:in.at])
	after, _ := utf8.DecodeRuneInString(rest[n:])
	if in.at == 0 {
		before = ' '
	}
	if n == len(rest) {
		after = ' '
	}
	left := !unicode.IsSpace(after) && (!punctuation(after) || unicode.IsSpace(before) || punctuation(before))
	right := !unicode.IsSpace(before) && (!punctuation(before) || unicode.IsSpace(after) || punctuation(after))
	opens, closes := left, right
	if c == '_' {
		opens, closes = left && (!right || punctuation(before)), right && (!left || punctuation(after))
	}
	for n > 0 && closes {
		used := in.closeEmphasis(c, n)
		if used == 0 {
			break
		}
		n -= used
		in.at += used
	}
	if n == 0 {
		return
	}
	marks := strings.Repeat(string(c), n)
	if opens {
		in.open(frame{mark: c, count: n}, marks)
		return
	}
	in.text(marks)
	in.at += n
}

func punctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func (in *inliner) open(f frame, marks string) {
	in.at += len(marks)
	if len(in.frames) > maxOpen {
		in.text(marks)
		return
	}
	in.frames = append(in.frames, f)
}

// closeEmphasis closes the last emphasis that was opened with a mark, and returns how many marks that took.
func (in *inliner) closeEmphasis(c byte, n int) int {
	for i := len(in.frames) - 1; i > 0; i-- {
		f := &in.frames[i]
		if f.mark == '[' || f.mark == '!' { // Emphasis begins and ends on the same side of a bracket.
			return 0
		}
		if f.mark != c {
			continue
		}
		used := min(2, n, f.count)
		in.collapse(i)
		f = &in.frames[i]
		kind := Emphasis
		switch {
		case c == '~':
			kind = Deleted
		case used == 2:
			kind = Strong
		}
		node := Element{Kind: kind, Nodes: f.nodes}
		if f.count -= used; f.count > 0 {
			f.nodes = []Element{node}
			in.take()
			return used
		}
		in.frames = in.frames[:i]
		in.add(node)
		return used
	}
	return 0
}

// collapse makes text of what was opened above a frame, and not closed.
func (in *inliner) collapse(i int) {
	for _, f := range in.frames[i+1:] {
		below := &in.frames[i]
		below.nodes = joined(below.nodes, f.opening())
		below.nodes = append(below.nodes, f.nodes...)
		in.work += len(f.nodes)
	}
	in.frames = in.frames[:i+1]
}

// closeBracket makes a link of what was opened with a bracket, if an address follows.
func (in *inliner) closeBracket() {
	i := len(in.frames) - 1
	for i > 0 && in.frames[i].mark != '[' && in.frames[i].mark != '!' {
		i--
	}
	if i == 0 {
		in.literal(1)
		return
	}
	raw, length := target(in.s[in.at+1:])
	in.work += length
	in.collapse(i)
	f := in.frames[i]
	in.frames = in.frames[:i]
	address, host, ok := Address(raw)
	if length == 0 || f.dead || !ok {
		in.text(f.opening())
		in.top().nodes = append(in.top().nodes, f.nodes...)
		in.work += len(f.nodes)
		in.literal(1)
		return
	}
	if f.mark == '!' {
		f.nodes = append([]Element{{Kind: Text, Text: "image: "}}, f.nodes...)
	}
	for below := range in.frames {
		in.frames[below].dead = true
	}
	in.add(Element{Kind: Link, URL: address, Host: host, Nodes: f.nodes})
	in.at += 1 + length
}

// target reads "(address)" or "(address "title")", and returns the address and the length; 0 for anything else.
func target(s string) (address string, length int) {
	if !strings.HasPrefix(s, "(") {
		return "", 0
	}
	at := 1 + spaces(s[1:])
	from := at
	if strings.HasPrefix(s[at:], "<") {
		end := strings.IndexAny(s[at+1:], "<>\n")
		if end < 0 || s[at+1+end] != '>' {
			return "", end + 1
		}
		address, at = s[at+1:at+1+end], at+end+2
	} else {
		for open := 0; at < len(s) && at-from <= maxURL; at++ {
			if s[at] <= ' ' || s[at] == ')' && open == 0 {
				break
			}
			switch s[at] {
			case '(':
				if open++; open > 4 {
					return "", 0
				}
			case ')':
				open--
			}
		}
		address = s[from:at]
	}
	at += spaces(s[at:])
	if at < len(s) && (s[at] == '"' || s[at] == '\'') {
		end := strings.IndexByte(s[at+1:min(len(s), at+500)], s[at])
		if end < 0 {
			return "", 0
		}
		at += end + 2
		at += spaces(s[at:])
	}
	if !strings.HasPrefix(s[min(at, len(s)):], ")") {
		return "", 0
	}
	return address, at + 1
}

// spaces counts those that an address may be surrounded by.
func spaces(s string) int {
	n := 0
	for n < len(s) && n < 20 && (s[n] == ' ' || s[n] == '\n') {
		n++
	}
	return n
}

// angle is a link such as <https://example.com>, or text.
func (in *inliner) angle(rest string) {
	end := strings.IndexAny(rest[1:], "<> \n")
	in.work += max(end, 0)
	if end < 0 || rest[1+end] != '>' {
		in.literal(1)
		return
	}
	raw := rest[1 : 1+end]
	full := raw
	if strings.Contains(raw, "@") && !strings.Contains(raw, ":") {
		full = "mailto:" + raw
	}
	address, host, ok := Address(full)
	if !ok || in.linked() {
		in.literal(1)
		return
	}
	in.add(Element{Kind: Link, URL: address, Host: host, Nodes: []Element{{Kind: Text, Text: raw}}})
	in.at += len(raw) + 2
}

// linked reports whether the text is that of a link already, perhaps.
func (in *inliner) linked() bool {
	for _, f := range in.frames {
		if f.mark == '[' || f.mark == '!' {
			return true
		}
	}
	return false
}

// bare is an address in the text.
func (in *inliner) bare(rest string) {
	lower := strings.ToLower(rest[:min(len(rest), 8)])
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") || in.linked() {
		in.literal(1)
		return
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>`*\"|", r) })
	if end < 0 {
		end = len(rest)
	}
	in.work += end
	marks := "?!.,:;_~'"
	if !strings.Contains(rest[:end], "(") {
		marks += ")"
	}
	raw := strings.TrimRight(rest[:end], marks)
	if address, host, ok := Address(raw); ok {
		in.add(Element{Kind: Link, URL: address, Host: host, Nodes: []Element{{Kind: Text, Text: raw}}})
		in.at += len(raw)
		return
	}
	in.literal(max(len(raw), 1))
}

// entity is a character by its name or number.
func (in *inliner) entity(rest string) {
	end := strings.IndexByte(rest[:min(len(rest), 32)], ';')
	if end < 0 {
		in.literal(1)
		return
	}
	text := html.UnescapeString(rest[:end+1])
	in.text(clean(text))
	in.at += end + 1
}
