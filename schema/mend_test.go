package schema_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Each text has two readings, or one that is in doubt: it is refused.
func TestAmbiguousRepairsAreRefused(t *testing.T) {
	t.Parallel()

	s := anything(t)
	for name, text := range map[string]string{
		"an apostrophe in single quotes":          `{'note':'it's here','b':1}`,
		"a possessive in single quotes":           `{'note':'the boys' toys'}`,
		"a possessive before a comma":             `{'note':'the boys', girls'}`,
		"quotes in double quotes":                 `{"note":"he said "no" to it",}`,
		"a comment with a quote in it":            "{\"a\":\"x // y\", // \"b\"\n}",
		"a comment that may be the string's":      "{\"a\":\"x\"// y\n}",
		"a hash that may be the string's":         "{\"a\":\"x\"# y\n}",
		"a comment that may hide a member":        "{a:1 // first, b:2\n}",
		"a hash comment that may hide a member":   "{a:1 # b:2\n}",
		"a comment to the end":                    `{"a":1, // "b":2}`,
		"a colour without quotes":                 "{\"a\": #fff\n,\"b\":1}",
		"a URL without quotes":                    "{\"a\": //example.com/x\n}",
		"a URL without quotes, with scheme":       "{\"a\": https://example.com/x\n}",
		"an apostrophe in a comment":              "{'a':'x', // it's\n'b':'y'}",
		"triple double quotes":                    `{"a":"""x"""}`,
		"triple double quotes around a quote":     `{"a":"""he said "x" """}`,
		"triple single quotes":                    `{'a':'''x'''}`,
		"triple quotes in a list":                 `["""a"""]`,
		"a hexadecimal escape":                    `{"a":"\x41"}`,
		"a hexadecimal escape in single quotes":   `{'a':'\x41'}`,
		"an octal escape":                         `{"a":"\101"}`,
		"a pattern's escape":                      `{"a":"\d+"}`,
		"a line continued":                        "{\"a\":\"x\\\ny\"}",
		"a slash that only JSON escapes":          `{'a':'\/'}`,
		"a named character":                       `{'a':'\N{BULLET}'}`,
		"strings side by side in a list":          `["a" "b"]`,
		"strings side by side":                    `{"a":"x" "y"}`,
		"strings added up":                        `{"a":"x"+"y"}`,
		"a comma too many in a list":              `[1,,2]`,
		"a comma first":                           `[,1]`,
		"numbers side by side":                    `[1 2]`,
		"a bracket too many that may lack a pair": `[1]]`,
		"a bracket that does not match":           `{"a":[1}`,
		"a word without quotes":                   `{"a":open}`,
		"not a number":                            `{"a":NaN}`,
		"undefined":                               `{"a":undefined}`,
		"a prefixed string":                       `{'a':u'x'}`,
		"a tuple":                                 `{'a':(1,2)}`,
		"a set":                                   `{'a':{1,2}}`,
		"a number with underscores":               `{"a":1_000,}`,
		"a number with a zero first":              `{"a":007,}`,
		"a hexadecimal number":                    `{"a":0x10,}`,
		"None as a name":                          `{None:1}`,
		"true as a name":                          `{true:1}`,
		"a number as a name":                      `{1:"a"}`,
		"names in two styles":                     `{"a":1,b:2,}`,
		"a duplicate name in two spellings":       `{"a":1,"\u0061":2,}`,
		"a duplicate name, repaired":              `{'a':1,'a':2}`,
		"a call around it":                        `f({"a":1})`,
		"a comma behind it":                       `{"a":1},`,
		"a lone surrogate":                        `{'a':'\ud800'}`,
		"NUL":                                     `{'a':'\u0000'}`,
		"a number out of range":                   `{'a':1e400}`,
		"typographic quotes":                      `{“a”:“b”}`,
		"a template string":                       "{\"a\":`x`}",
	} {
		got, _, err := s.Prepare(t.Context(), json.RawMessage(text))
		require.Error(t, err, "%s: %s became %s", name, text, got)
		require.Equal(t, tool.Invalid, tool.KindOf(err), name)
	}
	for text, want := range map[string]string{
		`{'a':"it's",'b':'x'}`:                `{"a":"it's","b":"x"}`,
		`{'a':'it\'s'}`:                       `{"a":"it's"}`,
		`{"a":"it\'s"}`:                       `{"a":"it's"}`,
		`{'a':'say "x"'}`:                     `{"a":"say \"x\""}`,
		"{\"a\":\"x\", // the first\n}":       `{"a":"x"}`,
		"{\"a\":1 # the first\n}":             `{"a":1}`,
		`{'1':'01','None':'None','true':'1'}`: `{"1":"01","None":"None","true":"1"}`,
		`{"a":1}}`:                            `{"a":1}`,
	} {
		got, _, err := s.Prepare(t.Context(), json.RawMessage(text))
		require.NoError(t, err, text)
		require.Equal(t, want, string(got))
	}
}

func anything(tb testing.TB) *schema.Schema {
	tb.Helper()
	s, err := schema.New(0).Compile(json.RawMessage(`{"type":["object","array"]}`))
	require.NoError(tb, err)
	return s
}

func object(tb testing.TB) *schema.Schema {
	tb.Helper()
	s, err := schema.New(0).Compile(json.RawMessage(`{"type":"object"}`))
	require.NoError(tb, err)
	return s
}

// A damage is a way in which models write JSON wrongly.
type damage struct {
	name string
	do   func(r *rand.Rand, text string) string
}

var (
	stringPattern = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	namePattern   = regexp.MustCompile(`"([A-Za-z_][A-Za-z0-9_]*)"(\s*:)`)
	tokenPattern  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^"{}\[\],:\s]+`)
)

// damages lists the ways. Those that touch tokens come before those that change
// how strings are written, since only valid JSON shows where strings end.
var damages = []damage{
	{"nothing", func(_ *rand.Rand, text string) string { return text }},
	{"Python's constants", func(_ *rand.Rand, text string) string {
		return tokenPattern.ReplaceAllStringFunc(text, func(s string) string {
			return map[string]string{"true": "True", "false": "False", "null": "None"}[s] +
				map[bool]string{true: s}[!slices.Contains([]string{"true", "false", "null"}, s)]
		})
	}},
	{"a trailing comma", func(r *rand.Rand, text string) string {
		return onOne(r, tokenPattern, text, func(s string) string {
			if s == "}" || s == "]" {
				return "," + s
			}
			return s
		})
	}},
	{"a missing comma", func(r *rand.Rand, text string) string {
		return onOne(r, tokenPattern, text, func(s string) string { return map[bool]string{true: " ", false: s}[s == ","] })
	}},
	{"a missing token", func(r *rand.Rand, text string) string {
		return onOne(r, tokenPattern, text, func(s string) string {
			return map[bool]string{false: s}[len(s) == 1 && strings.Contains("{}[]:", s)]
		})
	}},
	{"a value left out", func(r *rand.Rand, text string) string {
		return onOne(r, tokenPattern, text, func(s string) string {
			return map[bool]string{true: "...", false: s}[s[0] == '"']
		})
	}},
	{"a line comment", func(r *rand.Rand, text string) string {
		note := []string{" // note\n", " # note\n", "// note\n", " // it's a \"note\"\n", " # a: b\n", " // note"}[r.IntN(6)]
		return onOne(r, tokenPattern, text, func(s string) string { return s + note })
	}},
	{"a block comment", func(r *rand.Rand, text string) string {
		return onOne(r, tokenPattern, text, func(s string) string { return s + "/* a note */" })
	}},
	{"triple quotes", func(r *rand.Rand, text string) string {
		return onOne(r, stringPattern, text, func(s string) string { return `""` + s + `""` })
	}},
	{"names without quotes", func(_ *rand.Rand, text string) string { return namePattern.ReplaceAllString(text, "$1$2") }},
	{"a missing quote", func(r *rand.Rand, text string) string {
		if i := strings.LastIndexByte(text[:1+r.IntN(len(text))], '"'); i > 0 && text[i-1] != '\\' {
			return text[:i] + text[i+1:]
		}
		return text
	}},
	{"escapes of Python", func(_ *rand.Rand, text string) string { return strings.ReplaceAll(text, "A", `\x41`) }},
	{"backslashes left bare", func(_ *rand.Rand, text string) string { return strings.ReplaceAll(text, `\\`, `\`) }},
	{"quotes inside left bare", func(_ *rand.Rand, text string) string { return strings.ReplaceAll(text, `\"`, `"`) }},
	{"line breaks as they are", func(_ *rand.Rand, text string) string { return strings.ReplaceAll(text, `\n`, "\n") }},
	{"one string in single quotes", func(r *rand.Rand, text string) string {
		return onOne(r, stringPattern, text, func(s string) string { return "'" + s[1:len(s)-1] + "'" })
	}},
	{"single quotes as Python writes them", func(_ *rand.Rand, text string) string {
		return stringPattern.ReplaceAllStringFunc(text, func(s string) string {
			if strings.Contains(s, "'") {
				return s
			}
			return "'" + strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`) + "'"
		})
	}},
	{"single quotes, whatever is inside", func(_ *rand.Rand, text string) string {
		return stringPattern.ReplaceAllStringFunc(text, func(s string) string { return "'" + s[1:len(s)-1] + "'" })
	}},
	{"a closing brace too many", func(_ *rand.Rand, text string) string { return text + "}" }},
	{"cut off", func(r *rand.Rand, text string) string { return text[:1+r.IntN(len(text))] }},
	{"a fence", func(_ *rand.Rand, text string) string { return "```json\n" + text + "\n```" }},
	{"a text of JSON", func(_ *rand.Rand, text string) string {
		raw, _ := json.Marshal(text) // A string: it cannot fail.
		return string(raw)
	}},
}

// onOne changes one of the matches of a pattern.
func onOne(r *rand.Rand, pattern *regexp.Regexp, text string, change func(string) string) string {
	found := pattern.FindAllStringIndex(text, -1)
	if len(found) == 0 {
		return text
	}
	at := found[r.IntN(len(found))]
	return text[:at[0]] + change(text[at[0]:at[1]]) + text[at[1]:]
}

// words are what strings are made of: what breaks a reader that guesses.
var words = []string{
	"it's", "O'Brien", "the boys' ", "rock 'n' roll", `6" nail`, `he said "no"`, `""`, "a, b", "x: y", "# 1",
	"http://a.b/c?d=e#f", "// no", "/* no */",
	"{a}", "[1]", "C:\\work", "\\d+", "None", "true", "A", "AbA", "line\nbreak", "tab\there", "…", "...", "```", "1", "01",
	"é", "😀", "-", "",
}

func drawText(r *rand.Rand) string {
	var out []string
	for range r.IntN(3) {
		out = append(out, words[r.IntN(len(words))])
	}
	return strings.Join(out, " ")
}

// drawDamaged draws a value that a call may have.
func drawDamaged(r *rand.Rand, depth int) any {
	switch n := r.IntN(9); {
	case n < 2 && depth > 0:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, drawDamaged(r, depth-1))
		}
		return list
	case n < 4 && depth > 0:
		return drawMembers(r, depth-1)
	case n == 4:
		return json.Number(strconv.Itoa(r.IntN(200) - 100))
	case n == 5:
		return []any{true, false, nil}[r.IntN(3)]
	default:
		return drawText(r)
	}
}

func drawMembers(r *rand.Rand, depth int) map[string]any {
	out := make(map[string]any)
	for range 1 + r.IntN(3) {
		name := []string{"a", "name", "user_id", "to", "1", "None", "true", "it's", "x y", `say "x"`}[r.IntN(10)]
		out[name] = drawDamaged(r, depth)
	}
	return out
}

// checkDamage damages a value in up to two ways, and requires the value or a
// refusal, never a third value.
func checkDamage(ctx context.Context, tb rapid.TB, s *schema.Schema, r *rand.Rand) (repaired bool) {
	value := drawMembers(r, 3)
	one, other := r.IntN(len(damages)), r.IntN(len(damages))
	first, second := damages[min(one, other)], damages[max(one, other)]
	if strings.Contains(first.name, "single quotes") && strings.Contains(second.name, "single quotes") {
		second = damages[0] // Where a string ends cannot be seen any more.
	}
	raw, err := json.Marshal(value)
	if r.IntN(2) == 0 {
		raw, err = json.MarshalIndent(value, "", " ")
	}
	if err != nil {
		tb.Fatal(err)
	}
	want, err := tool.Canonical(raw)
	if err != nil {
		tb.Fatal(err)
	}
	text := first.do(r, string(raw))
	if other, err := tool.Canonical(json.RawMessage(text)); err == nil && string(other) != string(want) &&
		first.name != "a text of JSON" {
		return false // The damage made other, valid JSON: it cannot be noticed.
	}
	text = second.do(r, text)
	got, receipt, err := s.Prepare(ctx, json.RawMessage(text))
	switch {
	case err != nil:
		return false
	case string(got) == string(want):
		return len(receipt) > 0
	case len(receipt) == 0 && json.Valid([]byte(text)): // The damage made other, valid JSON: it cannot be noticed.
		return false
	case first.name == "a text of JSON" && validText(text):
		return false
	}
	tb.Fatalf("%s, then %s:\nvalue %s\ntext  %s\nread  %s\nby    %s", first.name, second.name, want, text, got,
		receipt.JSON())
	return false
}

// validText reports whether text is a string that holds valid JSON.
func validText(text string) bool {
	var inner string
	return json.Unmarshal([]byte(text), &inner) == nil && json.Valid([]byte(inner))
}

// TestDamageIsRepairedOrRefused damages 120,000 values.
func TestDamageIsRepairedOrRefused(t *testing.T) {
	t.Parallel()

	const cases = 120_000
	s := object(t)
	repaired := 0
	for seed := range uint64(cases) {
		if checkDamage(t.Context(), t, s, rand.New(rand.NewPCG(seed, 10))) {
			repaired++
		}
	}
	require.Greater(t, repaired, cases/10, "refusing everything is no repair")
	t.Logf("%d of %d were repaired", repaired, cases)
}

// TestDamageDrawn lets rapid look for a value that is read as a third one.
func TestDamageDrawn(t *testing.T) {
	t.Parallel()

	s := object(t)
	rapid.Check(t, func(t *rapid.T) {
		checkDamage(
			t.Context(), t, s, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "stream"))),
		)
	})
}
