package textcall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// maxSurplus bounds the closing braces too many behind an object.
const maxSurplus = 3

// value reads the object or array at pos. It returns its calls and its end, and false with
// the position to continue at if it is none.
func (f *finder) value(pos int) (calls []Call, end int, ok bool) {
	if at := skipSpace(f.text, pos+1, ""); f.text[pos] == '[' && at < len(f.text) && isLetter(rune(f.text[at])) {
		if calls, end, ok = f.expressions(pos); ok {
			return calls, end, true
		}
	}
	v, repaired, end := f.decode(pos)
	if v == nil {
		return nil, end, false
	}
	r := reader{offered: f.offered}
	if calls, ok = r.calls(v); !ok {
		return nil, end, false
	}
	for i := range calls {
		calls[i].Repaired = repaired
	}
	for n := 0; n < maxSurplus && f.text[pos] == '{' && end < len(f.text) && f.text[end] == '}'; n++ {
		end++
	}
	return calls, end, true
}

// decode decodes the object or array at pos. Without a value, end is where to continue.
func (f *finder) decode(pos int) (v *jsonvalue.Value, repaired bool, end int) {
	end, ok := f.region(pos)
	if !ok {
		return nil, false, pos + 1
	}
	text := f.text[pos:end]
	if !f.spend(2 * len(text)) {
		return nil, false, end
	}
	v, syntax, err := decodeText(text)
	if err != nil {
		return nil, false, end
	}
	return v, syntax, end
}

// decodeText decodes JSON, or what is nearly JSON: then it reports that it was repaired.
func decodeText(text string) (v *jsonvalue.Value, repaired bool, err error) {
	if v, err = schema.Decode(json.RawMessage(text)); err == nil {
		return v, false, nil
	}
	v, err = schema.Mend(text)
	return v, true, err
}

// region returns the end of the object, array or arguments in parentheses at pos, by its
// brackets. Brackets in strings do not count.
func (f *finder) region(pos int) (end int, ok bool) {
	var open []byte     // The closing brackets of what is open.
	before := byte('{') // The last byte that is not white space.
	i := pos
	defer func() { f.spend(i - pos) }()
	for ; i < len(f.text); i++ {
		c := f.text[i]
		switch {
		case c == '"', c == '\'' && strings.IndexByte("{[,:(=", before) >= 0:
			if i = closeQuote(f.text, i); i < 0 {
				i = len(f.text)
				return 0, false
			}
		case c == '{', c == '[':
			if len(open) == schema.MaxArgumentDepth {
				return 0, false
			}
			open = append(open, c+2)
		case c == '(' && i == pos:
			open = append(open, ')')
		case c == '}', c == ']', c == ')' && f.text[pos] == '(':
			last := len(open) - 1
			if last < 0 || open[last] != c {
				return 0, false
			}
			if open = open[:last]; last == 0 {
				i++
				return i, true
			}
		}
		if strings.IndexByte(" \t\r\n", c) < 0 {
			before = c
		}
	}
	return 0, false
}

// closeQuote returns the position of the quote that ends the string at pos, or -1.
func closeQuote(text string, pos int) int {
	for i := pos + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[pos]:
			return i
		}
	}
	return -1
}

// Names of the members of calls.
var (
	nameKeys      = []string{"name", "tool", "tool_name", "function", "function_name"}
	argumentKeys  = []string{"arguments", "parameters", "input", "args", "tool_input", actionInputKey}
	wrapperKeys   = []string{"function", "tool", "tool_call", "function_call"}
	listKeys      = []string{"tool_calls", "function_calls"}
	idKeys        = []string{"id", "call_id", "tool_call_id"}
	thoughtKeys   = []string{"thought", "thoughts", "reasoning"}
	callTypes     = []string{"function", "function_call", "tool", "tool_call", "tool_use", "call"}
	assistantName = "assistant"
)

// The name and the arguments of an action, which have one another.
const (
	actionKey      = "action"
	actionInputKey = "action_input"
)

// reader turns JSON values into calls.
type reader struct{ offered func(string) bool }

// calls returns the calls that a value consists of, and false if it is anything else.
func (r reader) calls(v *jsonvalue.Value) ([]Call, bool) {
	switch v.Kind() {
	case jsonvalue.Array:
		return r.list(v)
	case jsonvalue.Object:
		if list := r.listed(v); list != nil {
			return r.list(list)
		}
		call, ok := r.call(v, true)
		return []Call{call}, ok
	case jsonvalue.Null, jsonvalue.False, jsonvalue.True, jsonvalue.Number, jsonvalue.String:
	}
	return nil, false
}

// list returns the calls of an array in which everything is a call.
func (r reader) list(v *jsonvalue.Value) ([]Call, bool) {
	var out []Call
	for _, item := range v.Items() {
		call, ok := r.call(item, true)
		if !ok {
			return nil, false
		}
		out = append(out, call)
	}
	return out, len(out) > 0
}

// listed returns the array under "tool_calls" of an object that has nothing else but what a
// message of an assistant has.
func (r reader) listed(v *jsonvalue.Value) *jsonvalue.Value {
	var out *jsonvalue.Value
	for _, m := range v.Members() {
		switch {
		case slices.Contains(listKeys, m.Name) && m.Value.Kind() == jsonvalue.Array && out == nil:
			out = m.Value
		case m.Name == "role" && m.Value.Text() == assistantName:
		case m.Name == "content" && (m.Value.Kind() == jsonvalue.Null ||
			m.Value.Kind() == jsonvalue.String && m.Value.Text() == ""):
		case r.incidental(m):
		default:
			return nil
		}
	}
	return out
}

// call returns the call that an object is. Where nested, it may be within another object.
func (r reader) call(v *jsonvalue.Value, nested bool) (call Call, ok bool) {
	if v.Kind() != jsonvalue.Object {
		return call, false
	}
	var within *jsonvalue.Value
	named := nameKeys
	if (v.Get(actionInputKey) != nil) != (v.Get(actionKey) != nil) {
		return call, false
	} else if v.Get(actionKey) != nil {
		named = []string{actionKey}
	}
	for _, m := range v.Members() {
		isString := m.Value.Kind() == jsonvalue.String
		switch {
		case slices.Contains(named, m.Name) && isString:
			if call.Name != "" && call.Name != m.Value.Text() {
				return call, false
			}
			call.Name = m.Value.Text()
		case slices.Contains(argumentKeys, m.Name) && call.Arguments == nil:
			if call.Arguments = arguments(m.Value); call.Arguments == nil {
				return call, false
			}
		case slices.Contains(wrapperKeys, m.Name) && nested && within == nil:
			within = m.Value
		case r.incidental(m):
		default:
			return call, false
		}
	}
	if within != nil {
		if call.Name != "" || call.Arguments != nil {
			return call, false
		}
		return r.call(within, false)
	}
	return call, call.Arguments != nil && r.offered(call.Name)
}

// incidental reports whether a member may be in a call beside its name and arguments.
func (r reader) incidental(m jsonvalue.Member) bool {
	kind := m.Value.Kind()
	switch {
	case slices.Contains(idKeys, m.Name):
		return kind == jsonvalue.String || kind == jsonvalue.Number || kind == jsonvalue.Null
	case slices.Contains(thoughtKeys, m.Name):
		return kind == jsonvalue.String
	case m.Name == "type":
		return kind == jsonvalue.String && slices.Contains(callTypes, m.Value.Text())
	case m.Name == "index":
		return kind == jsonvalue.Number
	default:
		return false
	}
}

// arguments returns the arguments of a call; nil for anything but an object of values, such
// as the schema in a tool's definition, or placeholders.
func arguments(v *jsonvalue.Value) json.RawMessage {
	object := v
	if v.Kind() == jsonvalue.String {
		var err error
		if object, _, err = decodeText(strings.TrimSpace(v.Text())); err != nil || strings.TrimSpace(v.Text()) == "" {
			return nil
		}
	}
	if object.Kind() != jsonvalue.Object || isSchema(object) || hasPlaceholder(object) {
		return nil
	}
	return v.Append(nil)
}

// isSchema reports whether an object is the JSON Schema of one.
func isSchema(v *jsonvalue.Value) bool {
	kind, properties := v.Get("type"), v.Get("properties")
	return kind != nil && kind.Text() == "object" && properties != nil && properties.Kind() == jsonvalue.Object
}

// hasPlaceholder reports whether a value has a string that stands for another one.
func hasPlaceholder(v *jsonvalue.Value) bool {
	switch v.Kind() {
	case jsonvalue.String:
		return isPlaceholder(strings.TrimSpace(v.Text()))
	case jsonvalue.Array:
		return slices.ContainsFunc(v.Items(), hasPlaceholder)
	case jsonvalue.Object:
		return slices.ContainsFunc(v.Members(), func(m jsonvalue.Member) bool {
			return m.Name == "..." || hasPlaceholder(m.Value)
		})
	case jsonvalue.Null, jsonvalue.False, jsonvalue.True, jsonvalue.Number:
	}
	return false
}

// isPlaceholder reports whether a string is "...", "<order id>", "{order_id}", "[ORDER_ID]" or
// "YOUR_ORDER_ID", say.
func isPlaceholder(s string) bool {
	if s == "..." || s == "…" || strings.HasPrefix(s, "YOUR_") {
		return true
	}
	for _, pair := range []string{"<>", "{}", "[]"} {
		inner, ok := strings.CutPrefix(s, pair[:1])
		inner, end := strings.CutSuffix(inner, pair[1:])
		if !ok || !end {
			continue
		}
		if pair == "{}" { // "{{order_id}}" too.
			inner = strings.TrimSuffix(strings.TrimPrefix(inner, "{"), "}")
		}
		if isName(inner) && (pair != "[]" || inner == strings.ToUpper(inner)) {
			return true
		}
	}
	return false
}

// isName reports whether s consists of words, and begins with a letter.
func isName(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 64 || !isLetter(rune(s[0])) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !isLetter(r) && !strings.ContainsRune("0123456789 _-", r)
	}) < 0
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
