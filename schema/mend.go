package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// Reasons not to repair a text, with the remedy.
const (
	truncated   = "the JSON is cut off: send the whole payload again"
	unbalanced  = "the JSON's brackets do not match"
	elided      = "the JSON leaves something out: send every value"
	surplusText = "expected one JSON value and nothing else"
	valueless   = "the JSON has a property without a value"
	quoting     = "a string of the JSON can be read in more than one way: put strings in double quotes and escape " +
		"quotes within them"
	escaping    = "a string has an escape that JSON does not know"
	commenting  = "a comment of the JSON can be read in more than one way: send no comments"
	separating  = "expected a comma or a closing bracket"
	unknownWord = "expected a value: strings have to be in double quotes"
	mixedNames  = "the names of an object are quoted in different ways: put them in double quotes"
)

// mend parses text that is nearly JSON, by the common grammar of JSON, JavaScript literals
// and Python literals:
//
//   - strings in single quotes, names without quotes, True, False and None;
//   - a trailing comma, a missing one before a quoted name, and closing braces
//     too many at the end;
//   - line breaks and tabs within double quotes; comments between tokens.
//
// All else is refused with tool.Invalid, in particular ambiguous text: an escape with
// different meanings, an apostrophe that ends a string in single quotes early, adjacent
// strings, a comment that may hide a value, and a text that ends early. The result obeys the
// rule of [jsonvalue.Decode]. The cost is linear.
func mend(text string) (*jsonvalue.Value, error) {
	m := &mender{text: text, depth: MaxArgumentDepth}
	if !utf8.ValidString(text) {
		return nil, invalidValue("", "not JSON: it is not valid UTF-8")
	}
	if len(text) > MaxArgumentBytes {
		return nil, invalidValue("", fmt.Sprintf("larger than %d KiB", MaxArgumentBytes>>10))
	}
	v, reason := m.document()
	if reason != "" {
		return nil, invalidValue("", "not JSON, and not repaired: "+reason+m.place())
	}
	return v, nil
}

type mender struct {
	text     string
	pos      int
	depth    int  // Levels left.
	names    byte // How names are quoted: a quote, or 'a' for bare ones; 0 before the first.
	singles  bool // There are strings in single quotes.
	apostles bool // There are apostrophes in comments.
	spaced   bool // White space stood before the token at pos.
}

// place returns the position of the fault.
func (m *mender) place() string {
	if m.pos >= len(m.text) {
		return ""
	}
	return fmt.Sprintf(" (at byte %d)", m.pos+1)
}

func (m *mender) document() (*jsonvalue.Value, string) {
	v, reason := m.value()
	if reason != "" {
		return nil, reason
	}
	for {
		if reason := m.skip(0); reason != "" {
			return nil, reason
		}
		switch {
		case m.pos == len(m.text) && m.singles && m.apostles:
			return nil, commenting
		case m.pos == len(m.text):
			return v, ""
		case m.text[m.pos] != '}' || v.Kind() != jsonvalue.Object:
			return nil, surplusText
		}
		m.pos++
	}
}

// skip skips white space and comments. before is the last token: after a colon line comments
// are refused, since they may be a value such as //host/path.
func (m *mender) skip(before byte) string {
	m.spaced = false
	for m.pos < len(m.text) {
		rest := m.text[m.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			m.pos++
			m.spaced = true
		case strings.HasPrefix(rest, "\u00a0"):
			m.pos += len("\u00a0")
			m.spaced = true
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			if before == ':' || before == '"' && !m.spaced {
				return commenting
			}
			if reason := m.comment("\n", `"{}[]:,`); reason != "" {
				return reason
			}
		case strings.HasPrefix(rest, "/*"):
			if reason := m.comment("*/", `"`); reason != "" {
				return reason
			}
		default:
			return ""
		}
	}
	return ""
}

// comment skips a comment that ends with end. It refuses comments with suspicious characters,
// which may be a part of the JSON.
func (m *mender) comment(end, suspicious string) string {
	body, _, ok := strings.Cut(m.text[m.pos+1:], end)
	if !ok {
		m.pos = len(m.text)
		return truncated
	}
	if strings.ContainsAny(body, suspicious) || strings.Contains(body, "`") {
		return commenting
	}
	m.apostles = m.apostles || strings.Contains(body, "'")
	m.pos += 1 + len(body) + len(end)
	m.spaced = true
	return ""
}

// value parses a value; white space before it was skipped.
func (m *mender) value() (*jsonvalue.Value, string) {
	if m.pos >= len(m.text) {
		return nil, truncated
	}
	switch c := m.text[m.pos]; c {
	case '{', '[':
		if m.depth--; m.depth < 0 {
			return nil, "nested too deeply"
		}
		read := m.object
		if c == '[' {
			read = m.array
		}
		v, reason := read()
		m.depth++
		return v, reason
	case '"', '\'':
		text, reason := m.quoted(c)
		return jsonvalue.NewString(text), reason
	case ',', ':':
		return nil, valueless
	case '}', ']':
		return nil, unbalanced
	default:
		return m.word()
	}
}

func (m *mender) array() (*jsonvalue.Value, string) {
	m.pos++
	var items []*jsonvalue.Value
	for {
		if reason := m.skip(0); reason != "" {
			return nil, reason
		}
		if m.pos < len(m.text) && m.text[m.pos] == ']' {
			m.pos++
			return jsonvalue.NewArray(items), ""
		}
		item, reason := m.value()
		if reason != "" {
			return nil, reason
		}
		items = append(items, item)
		if reason := m.skip(lastByte(item)); reason != "" {
			return nil, reason
		}
		switch m.next() {
		case ',':
			m.pos++
		case ']':
		case '}':
			return nil, unbalanced
		case 0:
			return nil, truncated
		default:
			return nil, m.adjacent()
		}
	}
}

func (m *mender) object() (*jsonvalue.Value, string) {
	m.pos++
	var members []jsonvalue.Member
	for {
		if reason := m.skip(0); reason != "" {
			return nil, reason
		}
		if m.next() == '}' {
			m.pos++
			break
		}
		name, reason := m.name()
		if reason != "" {
			return nil, reason
		}
		item, reason := m.member()
		if reason != "" {
			return nil, reason
		}
		members = append(members, jsonvalue.Member{Name: name, Value: item})
		switch c := m.next(); {
		case c == ',':
			m.pos++
		case c == '}':
		case c == ']':
			return nil, unbalanced
		case c == 0:
			return nil, truncated
		case c == '"' && m.names == '"' && m.spaced: // A comma is missing before the next name.
		default:
			return nil, m.adjacent()
		}
	}
	v := jsonvalue.NewObject(members)
	sorted := v.Members()
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Name == sorted[i-1].Name {
			return nil, "duplicate member " + tool.Clip(jsonpointer.Escape(sorted[i].Name), 40) + ": send each name once"
		}
	}
	return v, ""
}

// member parses the value of a member, from after its name to the separator.
func (m *mender) member() (*jsonvalue.Value, string) {
	if reason := m.skip('"'); reason != "" {
		return nil, reason
	}
	switch m.next() {
	case ':':
		m.pos++
	case 0:
		return nil, truncated
	case ',', '}':
		return nil, valueless
	default:
		return nil, quoting
	}
	if reason := m.skip(':'); reason != "" {
		return nil, reason
	}
	if m.next() == '}' {
		return nil, valueless
	}
	item, reason := m.value()
	if reason != "" {
		return nil, reason
	}
	return item, m.skip(lastByte(item))
}

// lastByte returns a quote for a string, whose end may be wrong.
func lastByte(v *jsonvalue.Value) byte {
	if v.Kind() == jsonvalue.String {
		return '"'
	}
	return 0
}

// next returns the current byte; 0 at the end.
func (m *mender) next() byte {
	if m.pos >= len(m.text) {
		return 0
	}
	return m.text[m.pos]
}

// adjacent returns the fault where a comma or a closing bracket is missing.
func (m *mender) adjacent() string {
	rest := m.text[m.pos:]
	switch {
	case strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…"):
		return elided
	case slices.Contains([]byte{'{', '[', ':'}, rest[0]):
		return separating
	default:
		return quoting
	}
}

// name parses the name of a member. All names of a text must be quoted in one way.
func (m *mender) name() (string, string) {
	var name, reason string
	c := m.next()
	style, start := c, m.pos
	switch {
	case c == 0:
		return "", truncated
	case c == '"' || c == '\'':
		name, reason = m.quoted(c)
	case identifier(c, true):
		end := m.pos + 1
		for end < len(m.text) && identifier(m.text[end], false) {
			end++
		}
		name, style = m.text[m.pos:end], 'a'
		if slices.Contains([]string{"True", "False", "None", "true", "false", "null", "undefined", "NaN"}, name) {
			return "", "a name of the JSON may be a value: put names in double quotes"
		}
		m.pos = end
	case c == '.' || strings.HasPrefix(m.text[m.pos:], "…"):
		return "", elided
	case c == ']':
		return "", unbalanced
	default:
		return "", "expected the name of a property in double quotes"
	}
	if reason != "" {
		return "", reason
	}
	if strings.ContainsAny(name, "\n\r") && strings.ContainsAny(m.text[start:m.pos], "\n\r") {
		return "", quoting
	}
	if m.names != 0 && m.names != style {
		return "", mixedNames
	}
	m.names = style
	return name, ""
}

// identifier reports whether c can be part of, or start, a name without quotes.
func identifier(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$':
		return true
	default:
		return !first && (c >= '0' && c <= '9' || c == '-')
	}
}

// word parses a number or a constant.
func (m *mender) word() (*jsonvalue.Value, string) {
	end := m.pos
	for end < len(m.text) && (identifier(m.text[end], false) || m.text[end] == '+' || m.text[end] == '.') {
		end++
	}
	word := m.text[m.pos:end]
	switch word {
	case "true", "True":
		m.pos = end
		return jsonvalue.NewBool(true), ""
	case "false", "False":
		m.pos = end
		return jsonvalue.NewBool(false), ""
	case "null", "None":
		m.pos = end
		return jsonvalue.NullValue, ""
	}
	switch reason := jsonvalue.CheckNumber(word); {
	case reason == "":
		m.pos = end
		return jsonvalue.NewNumber(word), ""
	case reason != "not a number":
		return nil, reason
	case strings.HasPrefix(word, "...") || strings.HasPrefix(m.text[m.pos:], "…"):
		return nil, elided
	case end == len(m.text):
		return nil, truncated
	default:
		return nil, unknownWord
	}
}

// endsLine reports whether text ends with a comma and white space.
func endsLine(text []byte) bool {
	for i := len(text) - 1; i >= 0 && len(text)-i < 256; i-- {
		if strings.IndexByte(" \t\r", text[i]) < 0 {
			return text[i] == ','
		}
	}
	return false
}

// quoted parses a string. Double quotes may contain line breaks and tabs. Escapes are those
// with the same meaning in JSON, JavaScript and Python.
func (m *mender) quoted(quote byte) (string, string) {
	m.singles = m.singles || quote == '\''
	var out []byte
	for i := m.pos + 1; i < len(m.text); {
		switch c := m.text[i]; {
		case c == quote:
			m.pos = i + 1
			return string(out), ""
		case c == '\\':
			r, size, reason := jsonvalue.Escape(m.text[i:])
			if size == 0 && strings.HasPrefix(m.text[i:], `\'`) {
				r, size = '\'', 2
			}
			if i+1 == len(m.text) {
				return "", truncated
			}
			if size == 0 || quote == '\'' && m.text[i+1] == '/' {
				m.pos = i
				return "", escaping
			}
			if reason != "" {
				m.pos = i
				return "", reason
			}
			out = utf8.AppendRune(out, r)
			i += size
		case c < ' ' && (quote == '\'' || strings.IndexByte("\n\r\t", c) < 0),
			c == '\n' && endsLine(out):
			m.pos = i // Behind a comma, the line may end a member whose quote is missing.
			return "", quoting
		default:
			out = append(out, c)
			i++
		}
	}
	m.pos = len(m.text)
	return "", truncated
}
