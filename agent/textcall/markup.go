package textcall

import (
	"slices"
	"strings"
)

const (
	maxNesting = 3    // Of markup within markup.
	maxInline  = 4096 // Bytes of inline code.
)

// code looks at a code fence or inline code, which are skipped where they are no calls.
func (f *finder) code() {
	start := f.pos
	n := runLength(f.text, start)
	if n < 3 {
		f.inline(start, n)
		return
	}
	if calls, end, ok := f.fence(start, 0); ok {
		switch {
		case f.quoted(start):
			f.pos, f.refused = end, end
		case isCode(calls) && !slices.Contains(callLanguages, f.language(start)):
			f.spoken(start, end, calls)
		default:
			f.take(start, end, calls)
		}
		return
	}
	f.pos = f.fenceEnd(start, n)
}

// runLength counts the equal bytes from pos on.
func runLength(text string, pos int) int {
	return len(text[pos:]) - len(strings.TrimLeft(text[pos:], text[pos:pos+1]))
}

// fence reads a code fence that contains calls and nothing else. It may end with the text.
func (f *finder) fence(pos, depth int) (calls []Call, end int, ok bool) {
	n := runLength(f.text, pos)
	if n < 3 || depth >= maxNesting {
		return nil, pos, false
	}
	mark := f.text[pos : pos+n]
	at := pos + n
	info := at
	for at < len(f.text) && strings.IndexByte("\n{[<", f.text[at]) < 0 {
		at++
	}
	if !f.spend(at - info) {
		return nil, pos, false
	}
	word := strings.ToLower(strings.TrimSpace(f.text[info:at]))
	if word == "markdown" || word == "md" ||
		strings.Contains(word, "example") || at < len(f.text) && f.text[at] != '\n' && strings.Contains(word, " ") {
		return nil, pos, false // A document, or words of a sentence.
	}
	calls, end, ok = f.sequence(at, maxNesting, func(pos int) int {
		switch {
		case pos >= len(f.text):
			return pos
		case strings.HasPrefix(f.text[pos:], mark):
			return pos + runLength(f.text, pos)
		default:
			return -1
		}
	})
	if isCode(calls) && !slices.Contains(callLanguages, word) && !slices.Contains(codeLanguages, word) {
		return nil, end, false // A program.
	}
	return calls, end, ok
}

// language returns the words behind the opening of the code fence at pos, in lower case.
func (f *finder) language(pos int) string {
	rest := f.text[pos+runLength(f.text, pos):]
	line, _, _ := strings.Cut(rest[:min(len(rest), maxTag)], "\n")
	return strings.ToLower(strings.TrimSpace(line))
}

// fenceEnd returns the end of the code fence at pos: the next one at the beginning of a line,
// or else the next one at all, or the end of the text.
func (f *finder) fenceEnd(pos, n int) int {
	mark := f.text[pos : pos+n]
	from := pos + n
	for at := from; !f.absent[mark]; {
		line := strings.IndexByte(f.text[at:], '\n')
		if line < 0 || !f.spend(line) {
			f.absent[mark] = true
			break
		}
		at = skipSpace(f.text, at+line+1, "")
		if strings.HasPrefix(f.text[at:], mark) {
			return at + runLength(f.text, at)
		}
	}
	at := strings.Index(f.text[from:], mark)
	if at < 0 {
		return len(f.text)
	}
	f.spend(at)
	return from + at + runLength(f.text, from+at)
}

// inline skips inline code: what it contains is spoken of. It is a call where there is
// nothing else in the text.
func (f *finder) inline(start, n int) {
	mark := f.text[start : start+n]
	f.pos = start + n
	if mark[0] == '~' {
		return
	}
	paragraph, _, _ := strings.Cut(f.text[f.pos:min(len(f.text), f.pos+maxInline)], "\n\n")
	for at := 0; ; {
		next := strings.Index(paragraph[at:], mark)
		if next < 0 {
			f.spend(len(paragraph))
			return
		}
		at += next
		if length := runLength(paragraph, at); length != n {
			at += length
			continue
		}
		from, end := f.pos, f.pos+at+n
		f.spend(at)
		if f.pos = end; strings.TrimSpace(f.text[:start]) != "" || strings.TrimSpace(f.text[end:]) != "" {
			return
		}
		calls, _, ok := f.sequence(from, maxNesting, func(pos int) int {
			if pos >= end-n {
				return end
			}
			return -1
		})
		switch {
		case ok && isCode(calls):
			f.spoken(start, end, calls)
		case ok:
			f.take(start, end, calls)
		}
		return
	}
}

// Tags by what they contain, in lower case without bars and slashes.
var (
	callTags = []string{
		"tool_call", "tool_calls", "toolcall", "function_call", "function_calls", "functioncall", "tool_use", "function",
		"invoke", "call", "tool", "tool_code", "python_tag",
	}
	thoughtTags = []string{"think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "reflection"}
	otherTags   = []string{
		"example", "examples", "tools", "functions", "tool_response", "tool_responses", "tool_result", "tool_results",
		"function_response", "function_result", "function_results", "observation", "result", "results", "output", "code",
		"pre", "blockquote", "quote", "document", "documents",
	}
	// endTokens end an answer.
	endTokens = []string{"</s>", "<eos>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>"}
	// tokens are openings without angle brackets, with their endings.
	tokens = []struct{ open, end string }{
		{"[TOOL_CALLS]", "[/TOOL_CALLS]"}, {"[TOOL_CALL]", "[/TOOL_CALL]"}, {"[TOOL_REQUEST]", "[END_TOOL_REQUEST]"},
	}
)

// opening is the opening of markup around calls.
type opening struct {
	end  int    // Position behind it.
	name string // Of the tag.
	tool string // The name of a tool that it has; then it contains the arguments.
	// closes is the literal ending; empty for any closing tag.
	closes string
	lone   bool // It needs no ending.
}

// token returns the opening at pos that is a word in square brackets.
func (f *finder) token(pos int) (opening, bool) {
	for _, t := range tokens {
		if strings.HasPrefix(f.text[pos:], t.open) {
			return opening{end: pos + len(t.open), name: t.open, closes: t.end, lone: true}, true
		}
	}
	return opening{}, false
}

// maxTag bounds the length of a tag.
const maxTag = 160

// element reads the tag at pos: its name, its attributes and its end.
func element(text string, pos int) (name, attributes string, closing bool, end int, ok bool) {
	limit := min(len(text), pos+maxTag)
	length := strings.IndexByte(text[pos:limit], '>')
	if length < 0 || strings.ContainsAny(text[pos+1:pos+length], "<\n{") {
		return "", "", false, pos + 1, false
	}
	body := strings.Trim(strings.TrimSpace(text[pos+1:pos+length]), "|")
	body, closing = strings.CutPrefix(strings.TrimSpace(body), "/")
	split := strings.IndexFunc(body, func(r rune) bool {
		return !isLetter(r) && r != '_' && r != '-'
	})
	if split < 0 {
		split = len(body)
	}
	if split < len(body) && body[split] == ':' { // The name behind a namespace.
		body = body[split+1:]
		if split = strings.IndexAny(body, " \t=/"); split < 0 {
			split = len(body)
		}
	}
	name = strings.ToLower(strings.ReplaceAll(body[:split], "-", "_"))
	for _, suffix := range []string{"_start", "_begin", "_end"} {
		if cut, ok := strings.CutSuffix(name, suffix); ok {
			name, closing = cut, closing || suffix == "_end"
		}
	}
	return name, strings.TrimSpace(body[split:]), closing, pos + length + 1, name != ""
}

// tag looks at a tag: it reads the calls of one, or skips what is not to be looked into.
func (f *finder) tag() {
	start := f.pos
	if strings.HasPrefix(f.text[start:], "<!--") {
		f.skipTo(start+4, "-->")
		return
	}
	name, attributes, closing, end, ok := element(f.text, start)
	switch {
	case !ok || closing:
		f.pos = end
	case slices.Contains(thoughtTags, name):
		if !f.skipTo(end, "</"+name+">") {
			f.pos = len(f.text) // It was cut off while it thought.
		}
		f.edge = f.pos
	case slices.Contains(otherTags, name):
		f.skipTo(end, "</"+name+">")
	case slices.Contains(callTags, name):
		f.tagged(start, openingOf(name, attributes, end))
	default:
		f.pos = end
	}
}

// openingOf returns the opening that a tag is. <function=getOrder> and <invoke
// name="getOrder"> have the name of a tool.
func openingOf(name, attributes string, end int) opening {
	return opening{end: end, name: name, lone: name == "python_tag", tool: nameIn(attributes)}
}

// skipTo continues behind the next occurrence of ending, in any case. Without one it continues at pos,
// and returns false.
func (f *finder) skipTo(pos int, ending string) bool {
	f.pos = pos
	if f.absent[ending] {
		return false
	}
	at := indexFold(f.text[pos:], ending)
	if at < 0 {
		f.spend(len(f.text) - pos)
		f.absent[ending] = true
		return false
	}
	f.spend(at)
	f.pos = pos + at + len(ending)
	return true
}

// indexFold is [strings.Index] without regard to the case of ASCII letters. It begins with a
// byte that is no letter.
func indexFold(text, part string) int {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], part[0])
		if at < 0 || from+at+len(part) > len(text) {
			return -1
		}
		from += at
		if strings.EqualFold(text[from:from+len(part)], part) {
			return from
		}
		from++
	}
}

// tagged looks at markup around calls that begins at start.
func (f *finder) tagged(start int, o opening) {
	calls, end, ok := f.inside(o, 0)
	switch {
	case ok && !f.quoted(start):
		f.take(start, end, calls)
	case ok:
		f.pos, f.refused = end, end
	case strings.HasPrefix(o.name, "["):
		f.pos = o.end
	default:
		f.skipTo(o.end, "</"+o.name+">")
	}
}

// nestedTag reads the calls of a call tag within other markup.
func (f *finder) nestedTag(pos, depth int) ([]Call, int, bool) {
	name, attributes, closing, end, ok := element(f.text, pos)
	if !ok || closing || !slices.Contains(callTags, name) || depth >= 2*maxNesting {
		return nil, pos, false
	}
	return f.inside(openingOf(name, attributes, end), depth+1)
}

// inside reads the calls behind an opening, to its ending or the end of the text.
func (f *finder) inside(o opening, depth int) ([]Call, int, bool) {
	if o.tool != "" {
		return f.named(o, depth)
	}
	if calls, end, ok := f.described(o, skipSpace(f.text, o.end, ""), depth); ok {
		return calls, end, true
	}
	return f.sequence(o.end, depth, func(pos int) int { return f.ending(o, pos) })
}

// ending returns the end of the ending of markup at pos, or -1 where there is none.
func (f *finder) ending(o opening, pos int) int {
	switch {
	case pos >= len(f.text):
		return pos
	case o.closes != "" && strings.HasPrefix(f.text[pos:], o.closes):
		return pos + len(o.closes)
	case f.text[pos] == '<':
		name, _, closing, end, ok := element(f.text, pos)
		if ok && closing && slices.Contains(callTags, name) {
			return end
		}
		if ok && slices.Contains(endTokens, strings.ToLower(f.text[pos:end])) {
			return end
		}
		if ok && !closing && o.lone {
			return pos
		}
		return -1
	case o.lone && strings.IndexByte("{[`", f.text[pos]) < 0:
		if _, _, ok := f.expression(pos); ok {
			return -1
		}
		return pos
	default:
		return -1
	}
}

// named reads the arguments in markup that has the name of the tool.
func (f *finder) named(o opening, depth int) ([]Call, int, bool) {
	pos := skipSpace(f.text, o.end, "")
	if !f.offered(o.tool) || pos >= len(f.text) || f.text[pos] != '{' && f.text[pos] != '<' {
		return nil, o.end, false
	}
	if f.text[pos] == '<' {
		return f.parameters(o, pos, depth)
	}
	v, repaired, next := f.decode(pos)
	if v == nil {
		return nil, next, false
	}
	end := f.ending(o, skipSpace(f.text, next, ""))
	args := arguments(v)
	if end < 0 || args == nil {
		return nil, next, false
	}
	return []Call{{Name: o.tool, Arguments: args, Repaired: repaired}}, end, true
}

// afterThoughts returns the position behind thoughts whose opening tag is not in the text.
func (f *finder) afterThoughts() int {
	for _, name := range thoughtTags[:2] {
		end := indexFold(f.text, "</"+name+">")
		if begin := indexFold(f.text, "<"+name); end >= 0 && (begin < 0 || begin > end) {
			return end + len(name) + 3
		}
	}
	return 0
}
