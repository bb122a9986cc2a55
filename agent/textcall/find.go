package textcall

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/schema"
)

// Bounds of [Find].
const (
	MaxText  = schema.MaxArgumentBytes // Bytes; a longer text has no calls.
	MaxCalls = 256                     // Later ones stay a part of the text.
	// workFactor bounds the bytes that are looked at for each byte of the text. A text that
	// takes more, such as a row of open brackets, has no calls.
	workFactor = 16
)

// Call is a call that was found in a text.
type Call struct {
	Name string
	// Arguments are an object, or a JSON string with the text of one, as the model wrote it.
	Arguments json.RawMessage
	// Repaired reports that the call was nearly JSON: a Python literal, for example.
	Repaired bool

	code  bool // It is written as code: getOrder(id="A-17").
	empty bool // So, and without arguments: ping().
}

// Find returns the calls that a model's answer consists of or contains, in order, and the
// text without them. Without calls, the text is returned unchanged.
//
// A call is an object with one name, under "name", "tool", "tool_name", "function" or
// "function_name", which offered reports to be that of a tool, and one object of arguments,
// under "arguments", "parameters", "input", "args" or "tool_input", as an object or a string of
// JSON; or with the name under "action" and the arguments under "action_input". Both may be in
// an object under "function", "tool", "tool_call" or "function_call"; calls may be in an array,
// or in one under "tool_calls". What is nearly JSON, such as a Python literal, is repaired as
// arguments are.
//
// In a tag with the name of a tool, or an element with it, arguments may be elements of their
// own, whose values are strings: <invoke name="getOrder"><parameter name="id">A-17</parameter></invoke>.
//
// A call may be written as code, getOrder(id="A-17") or getOrder({"id": "A-17"}), with values
// that are literals: in call tags and fences of tool_code; in an array; and, if it has arguments
// and the answer ends with it, on lines of its own or in a fence without another language than
// Python. Without that much it is a program, or words on one.
//
// Calls are looked for in code fences and call tags that contain nothing else, and in objects
// that begin and end their lines, after a colon at most. An object with other members is data.
// Not looked into are thoughts (<think>), inline code, quoted lines, HTML comments, examples
// and results in tags, and JSON that is no call itself. A call is not taken for one where the
// words before or after it say that it is an example, a proposal, a report or data, nor where
// its arguments are placeholders.
func Find(text string, offered func(name string) bool) (calls []Call, rest string) {
	if len(text) > MaxText || !strings.ContainsAny(text, "{(<") {
		return nil, text
	}
	f := &finder{text: text, offered: offered, left: workFactor*len(text) + 1024, absent: make(map[string]bool)}
	if !f.run() || len(f.found) == 0 {
		return nil, text
	}
	for _, s := range f.found {
		calls = append(calls, s.calls...)
	}
	return calls, f.rest()
}

// span is a part of the text that consists of calls, with its markup.
type span struct {
	start, end int
	calls      []Call
}

type finder struct {
	text    string
	pos     int
	offered func(string) bool
	left    int             // Bytes that may still be looked at.
	absent  map[string]bool // Closing tags that are not found any more.
	found   []span
	count   int // Of calls.
	refused int // End of the last call that was not taken for one; 0 for none.
	edge    int // End of the last call or thought: words before it say nothing of what follows.
}

// spend reports whether n more bytes may be looked at.
func (f *finder) spend(n int) bool {
	f.left -= n + 1
	return f.left >= 0
}

// run looks for calls in the whole text. It returns false where that takes too much work.
func (f *finder) run() bool {
	f.pos = f.afterThoughts()
	f.edge = f.pos
	for f.left >= 0 && f.count < MaxCalls {
		next := strings.IndexAny(f.text[f.pos:], "`~<{[(")
		if next < 0 {
			return true
		}
		f.pos += next
		switch f.text[f.pos] {
		case '`', '~':
			f.code()
		case '<':
			f.tag()
		case '(':
			f.parenthesis()
		default:
			f.bare()
		}
	}
	return f.left >= 0
}

// take records calls that stand from start to end, unless the words around say that they are
// none, and continues behind them.
func (f *finder) take(start, end int, calls []Call) {
	f.pos = end
	if f.count+len(calls) > MaxCalls {
		f.count = MaxCalls
		return
	}
	if f.mentioned(start, end) {
		f.refused = end
		return
	}
	f.found = append(f.found, span{start, end, calls})
	f.count += len(calls)
	f.edge = end
}

// bare looks at JSON outside of any markup.
func (f *finder) bare() {
	start := f.pos
	if open, ok := f.token(start); ok {
		f.tagged(start, open)
		return
	}
	var all []Call
	end := start
	for at := start; ; {
		calls, next, ok := f.value(at)
		if !ok {
			if at == start {
				f.pos = max(next, start+1)
				return
			}
			break
		}
		all, end = append(all, calls...), next
		// More of them may be on the line.
		at = next + len(f.text[next:]) - len(strings.TrimLeft(f.text[next:], " \t,;"))
		if at >= len(f.text) || f.text[at] != '{' && f.text[at] != '[' {
			break
		}
	}
	for end < len(f.text) && strings.IndexByte(".,;", f.text[end]) >= 0 {
		end++
	}
	if closed := f.ending(opening{}, skipSpace(f.text, end, "")); closed >= 0 {
		end = closed // Of a tag whose opening is missing, or the end of the answer.
	}
	if before := f.before(start); isBullet(strings.TrimSpace(before)) {
		start -= len(before)
	}
	if !f.alone(start, end) {
		f.pos, f.refused = end, end
		return
	}
	if isCode(all) {
		f.spoken(start, end, all)
		return
	}
	f.take(start, end, all)
}

// sequence reads calls from pos on until closes returns the end of the closing markup. It
// returns false if there is anything else.
func (f *finder) sequence(pos, depth int, closes func(pos int) int) (calls []Call, end int, ok bool) {
	for {
		pos = skipSpace(f.text, pos, ",;")
		if end := closes(pos); end >= 0 {
			return calls, end, len(calls) > 0
		}
		if pos >= len(f.text) || f.left < 0 {
			return nil, pos, false
		}
		var more []Call
		var next int
		switch f.text[pos] {
		case '{', '[':
			more, next, ok = f.value(pos)
		case '<':
			more, next, ok = f.nestedTag(pos, depth)
		case '`', '~':
			more, next, ok = f.fence(pos, depth)
		default:
			var call Call
			call, next, ok = f.expression(pos)
			more = []Call{call}
		}
		if !ok {
			return nil, pos, false
		}
		calls, pos = append(calls, more...), next
	}
}

// rest returns the text without the calls that were found.
func (f *finder) rest() string {
	var out []string
	from := 0
	for _, s := range append(f.found, span{start: len(f.text), end: len(f.text)}) {
		if part := strings.TrimSpace(f.text[from:s.start]); part != "" {
			out = append(out, part)
		}
		from = s.end
	}
	return strings.Join(out, "\n\n")
}

// skipSpace returns the position of the first byte from pos on that is neither white space
// nor one of more.
func skipSpace(text string, pos int, more string) int {
	for pos < len(text) && strings.IndexByte(" \t\r\n"+more, text[pos]) >= 0 {
		pos++
	}
	return pos
}
