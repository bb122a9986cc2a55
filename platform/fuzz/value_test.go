package fuzz_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
)

// dice is the source of every choice. The same seed chooses the same.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0x746f6f6c63726962))} }

// chance is true in so many of a hundred cases.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func one[T any](d dice, of []T) T { return of[d.IntN(len(of))] }

// The worst that a text, a number and a body can be.
var (
	nastyTexts = []string{
		"", " ", "\x00", "a\x00b", "\u202e\u0000", "\xff\xfe", "\xc3\x28", "\ufeff", "\U0001F9F0\u200d\U0001F527", "ＡＢＣ",
		"İstanbul", "ß",
		"null", "true", "-1", "0", "NaN", "1e999", "../../../etc/passwd", "..%2f..%2f", "/", "//", ".", "..", "%", "%00",
		"%zz", "a/b", "a?b", "a#b",
		"'", "\"", "'; drop table tools; --", "\\", "\r\nX-Injected: yes", "${jndi}", "{{7*7}}", "<script>alert(1)</script>",
		"{id}",
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000000000000000000000000000",
		"{00000000-0000-0000-0000-000000000000}", "urn:uuid:00000000-0000-7000-8000-000000000000", "0", "constructor",
		"__proto__",
		"1.0.0", "^1.2", "~1", ">=0 <9", "*", "x", "99999999999999999999.0.0", "1.0.0-\x00", "v1", "1.2.3+meta",
		"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-13-45T99:99:99Z", "-292277022399-01-01T00:00:00Z",
		"2026-02-29T00:00:00+24:00",
		"%s%n%d", "\u2028\u2029", "é", "e\u0301",
	}
	nastyNumbers = []string{
		"-1", "0", "1", "-0", "0.5", "1e3", "2147483648", "9223372036854775807", "9223372036854775808",
		"-9223372036854775809", "1e400", "1e-400",
		"NaN", "Infinity", "0x10", "01", "+1", "123456789012345678901234567890.123456789", "1.7976931348623157e308", "201",
		"10001",
	}
	nastyBodies = []string{
		"", " ", "null", "true", "0", `""`, "[]", "{}", "[[]]", "{", "}", "[", `{"a":}`, "{}{}", "{}x", "\ufeff{}", "\x00",
		"\xff", "nul", `{"":""}`,
		`{"__proto__":{}}`, "<a/>", "a=b&c=d", "1e999999",
	}
)

func long(d dice) string {
	unit := one(d, []string{"a", "é", "0", "\U0001F9F0", "../", "%", " "})
	return strings.Repeat(unit, one(d, []int{64, 65, 100, 128, 129, 201, 300, 301, 5000, 70000})/len(unit)+1)
}

func (d dice) nasty() string {
	switch {
	case d.chance(10):
		return long(d)
	case d.chance(15):
		return "a\x00b"
	}
	return one(d, nastyTexts)
}

// deep is a value nested so many levels.
func (d dice) deep() json.RawMessage {
	n := one(d, []int{10, 63, 65, 500, 11000})
	if d.chance(50) {
		return json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	return json.RawMessage(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n))
}

// writer makes the values of one request.
type writer struct {
	dice
	doc   *document
	pool  *pool
	who   actor
	worst int // Percentage of values that are wrong on purpose.
}

// value makes a value for a schema, or a wrong one. name is that of the field.
func (w writer) value(name string, schema node, depth int) any {
	schema = w.doc.resolve(schema)
	if w.chance(w.worst) {
		return w.wrong(schema, depth)
	}
	if enum := list(schema["enum"]); len(enum) > 0 {
		return one(w.dice, enum)
	}
	if known, ok := w.known(name, depth); ok {
		return known
	}
	for _, of := range []string{"oneOf", "anyOf", "allOf"} {
		if options := list(schema[of]); len(options) > 0 {
			return w.value(name, object(one(w.dice, options)), depth)
		}
	}
	switch w.typeOf(schema) {
	case "object":
		return w.object(schema, depth)
	case "array":
		least, most := int(number(schema["minItems"], 0)), int(number(schema["maxItems"], 3))
		out := []any{}
		for range least + w.IntN(max(min(most, least+3)-least+1, 1)) {
			out = append(out, w.value(name, object(schema["items"]), depth+1))
		}
		return out
	case "string":
		return w.text(schema)
	case "integer":
		low := number(schema["minimum"], 0)
		return int64(low) + w.Int64N(int64(min(number(schema["maximum"], low+50)-low, 1000))+1)
	case "number":
		low := number(schema["minimum"], 0)
		return low + w.Float64()*min(number(schema["maximum"], low+2)-low, 2)
	case "boolean":
		return w.chance(50)
	case "null":
		return nil
	default:
		return one(w.dice, []any{"hello", 7, true, map[string]any{"say": "hello"}, []any{1, "two"}})
	}
}

func (w writer) typeOf(schema node) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any: // Nullable, as a rule.
		if w.chance(90) {
			return text(t[0])
		}
		return text(one(w.dice, t))
	}
	if schema["properties"] != nil {
		return "object"
	}
	return ""
}

func (w writer) object(schema node, depth int) any {
	out := map[string]any{}
	required := list(schema["required"])
	properties := object(schema["properties"])
	for _, name := range sorted(properties) {
		if slices.Contains(required, any(name)) || name == "wait_s" ||
			depth < 6 && w.chance(40) { // With wait_s always set, no request waits as long as the API permits.
			out[name] = w.value(name, object(properties[name]), depth+1)
		}
	}
	if w.chance(w.worst) {
		out[w.nasty()] = w.nasty()
	}
	if w.chance(w.worst) && len(out) > 0 {
		if name := one(w.dice, sorted(out)); name != "wait_s" {
			delete(out, name)
		}
	}
	return out
}

func (w writer) text(schema node) any {
	switch text(schema["format"]) {
	case "date-time":
		return time.Date(2026, 1, 1+w.IntN(2000), w.IntN(24), 0, 0, 0, time.UTC).Format(time.RFC3339)
	case "date":
		return time.Date(2026, 1, 1+w.IntN(2000), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case "uuid":
		return fmt.Sprintf("01900000-0000-7000-8000-%012x", w.IntN(1000))
	case "uri", "uri-reference":
		return "http://127.0.0.1:1/" + one(w.dice, []string{"", "a", "{id}"})
	}
	if pattern := text(schema["pattern"]); pattern != "" {
		re, err := regexp.Compile(pattern)
		for _, s := range []string{"abc", "a", "aTool", "a-b", "1.0.0", "123", "key-1", strings.Repeat("a", 64), ""} {
			if err == nil && re.MatchString(s) && len(s) >= int(number(schema["minLength"], 0)) {
				return s
			}
		}
	}
	n := int(min(number(schema["maxLength"], 12), 12))
	s := strings.Repeat("x", max(int(number(schema["minLength"], 0)), w.IntN(n+1)))
	if w.chance(20) { // Exactly as long as it may be.
		s = strings.Repeat(one(w.dice, []string{"y", "é"}), int(min(number(schema["maxLength"], 40), 5000)))
	}
	return s
}

// wrong makes a value that the schema does not allow, most often.
func (w writer) wrong(schema node, depth int) any {
	if w.typeOf(schema) == "string" && w.chance(50) {
		return w.nasty() // Of the right type: it gets further.
	}
	switch w.IntN(8) {
	case 0:
		return nil
	case 1:
		return json.RawMessage(one(w.dice, nastyNumbers))
	case 2:
		return w.deep()
	case 3:
		return []any{w.nasty(), nil}
	case 4:
		return map[string]any{w.nasty(): w.nasty()}
	case 5:
		if n := number(schema["maxLength"], 0); n > 0 {
			return strings.Repeat("z", int(n)+1)
		}
		if n := number(schema["maximum"], 0); n > 0 {
			return n + 1
		}
		return w.chance(50)
	default:
		return w.nasty()
	}
}

func number(v any, otherwise float64) float64 {
	if f, ok := v.(float64); ok && !math.IsNaN(f) {
		return f
	}
	return otherwise
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
