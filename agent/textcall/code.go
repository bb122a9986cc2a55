package textcall

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// maxName bounds the length of a name in front of a parenthesis.
const maxName = 128

// Languages of code fences with calls that are written as code. In any other they are a program.
var (
	// callLanguages say themselves that calls follow.
	callLanguages = []string{"tool_code", "tool_call", "tool_calls", "tool"}
	// codeLanguages may be those of a program too: then the call is the end of the answer.
	codeLanguages = []string{"", "python", "py"}
)

// codeWords in the sentence before a call written as code say that it is a part of a program.
var codeWords = []string{
	"script", "program", "snippet", "python", "signature", "docstring", "documentation", "import ", "notebook",
	"your code", "the code", "in code", "source", "paste", "equivalent", "usage", "line", "add this", "replace",
	"method", "client", "library", "shell", "console", "unit test", "the test", "write ", "defined",
}

// parenthesis looks at an opening parenthesis: whether it belongs to calls that are written as
// code, as getOrder(id="A-17") is, begin their lines, and end the answer.
func (f *finder) parenthesis() {
	from := f.pos
	for from > f.edge && f.pos-from < maxName && isNameByte(f.text[from-1]) {
		from--
	}
	f.spend(f.pos - from)
	start := from
	var all []Call
	end := start
	for {
		call, next, ok := f.expression(from)
		if !ok || f.left < 0 || len(all) == MaxCalls {
			break
		}
		all, end = append(all, call), next
		from = skipSpace(f.text, next, ";")
	}
	if len(all) == 0 || f.before(start) != "" || hasAny(f.lineAbove(start), programSigns) {
		f.pos++ // What is in the parentheses may be anything.
		return
	}
	f.spoken(start, end, all)
}

// spoken takes calls written as code that stand from start to end in a place where a program
// could stand too.
func (f *finder) spoken(start, end int, calls []Call) {
	closed := f.ending(opening{}, skipSpace(f.text, end, ";"))
	empty := slices.ContainsFunc(calls, func(c Call) bool { return c.empty })
	sentence, above := f.lead(start)
	if closed < 0 || empty || f.quoted(start) || hasAny(sentence, codeWords) || hasAny(above, codeWords) {
		f.pos, f.refused = end, end
		return
	}
	f.take(start, closed, calls)
}

// programSigns are in a line of a program.
var programSigns = []string{"=", ";", "(", ")", "{", "}"}

// lineAbove returns the line right above that of pos.
func (f *finder) lineAbove(pos int) string {
	part := strings.TrimSuffix(f.text[max(f.edge, pos-maxLead):pos], "\n")
	return part[strings.LastIndexByte(part, '\n')+1:]
}

// isCode reports whether one of the calls is written as code.
func isCode(calls []Call) bool {
	return slices.ContainsFunc(calls, func(c Call) bool { return c.code })
}

// expressions reads an array of calls that are written as code: [getOrder(id="A-17"), ping()].
func (f *finder) expressions(pos int) (calls []Call, end int, ok bool) {
	for pos++; ; pos++ {
		call, next, found := f.expression(skipSpace(f.text, pos, ""))
		if !found || f.left < 0 {
			return nil, pos, false
		}
		call.empty = false // The brackets say that it is one.
		calls = append(calls, call)
		pos = skipSpace(f.text, next, "")
		switch {
		case strings.HasPrefix(f.text[pos:], "]"):
			return calls, pos + 1, true
		case !strings.HasPrefix(f.text[pos:], ","):
			return nil, pos, false
		}
	}
}

// expression reads a call written as code: the name of an offered tool, and in parentheses an
// object, or names with values, or nothing.
func (f *finder) expression(pos int) (call Call, end int, ok bool) {
	at := pos
	for at < len(f.text) && at-pos < maxName && isNameByte(f.text[at]) {
		at++
	}
	f.spend(at - pos)
	if at == pos || at >= len(f.text) || f.text[at] != '(' || !f.offered(f.text[pos:at]) {
		return call, pos, false
	}
	call = Call{Name: f.text[pos:at], code: true}
	if end, ok = f.region(at); !ok || !f.spend(4*(end-at)) {
		return call, pos, false
	}
	text := strings.TrimSpace(f.text[at+1 : end-1])
	call.empty = text == ""
	if !strings.HasPrefix(text, "{") {
		if text, ok = keywords(text); !ok {
			return call, pos, false
		}
	}
	v, repaired, err := decodeText(text)
	if err != nil || v.Kind() != jsonvalue.Object {
		return call, pos, false
	}
	call.Arguments, call.Repaired = arguments(v), repaired
	return call, end, call.Arguments != nil
}

// keywords writes arguments such as id="A-17", limit=1 as the members of an object. The values
// are written as they are.
func keywords(text string) (object string, ok bool) {
	var members []string
	for pos := 0; pos < len(text); {
		at := pos
		for at < len(text) && isNameByte(text[at]) {
			at++
		}
		name := text[pos:at]
		at = skipSpace(text, at, "")
		if !isName(name) || at >= len(text) || text[at] != '=' {
			return "", false
		}
		end := valueEnd(text, at+1)
		if end < 0 {
			return "", false
		}
		members = append(members, `"`+name+`":`+text[at+1:end])
		pos = skipSpace(text, end+1, "")
	}
	return "{" + strings.Join(members, ",") + "}", true
}

// valueEnd returns the end of the value at pos, which is a comma outside of its strings and
// brackets, or the end of the text; -1 where it is not one value, such as a sum or a call.
func valueEnd(text string, pos int) int {
	for depth := 0; pos < len(text); pos++ {
		switch text[pos] {
		case '"', '\'':
			if pos = closeQuote(text, pos); pos < 0 {
				return -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '(', ')', '=':
			return -1
		case ',':
			if depth == 0 {
				return pos
			}
		}
	}
	return len(text)
}

func isNameByte(c byte) bool {
	return isLetter(rune(c)) || c >= '0' && c <= '9' || strings.IndexByte("_-./", c) >= 0
}
