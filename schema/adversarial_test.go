package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
)

// adversary is a schema that can be published and a payload that makes judging
// by it expensive.
type adversary struct {
	schema, payload string
	costly          bool // More than the budget allows.
}

const kb64 = 64 << 10

// times repeats text until it has about size bytes.
func times(text string, size int) string { return strings.Repeat(text, size/len(text)) }

// list writes an array of the same item, of about size bytes.
func list(item string, size int) string {
	return "[" + strings.TrimSuffix(times(item+",", size), ",") + "]"
}

// nested writes an object within an object, levels deep, by a member.
func nested(open, inner string, levels int) string {
	return strings.Repeat("{"+open, levels) + inner + strings.Repeat("}", levels)
}

// bushy writes a tree of objects that is wide and deep.
func bushy(levels, width, size int) string {
	branch := nested(`"n":1,"kids":[`, `{"n":"x"}`, levels)
	branch = strings.ReplaceAll(branch, "}", "]}")
	branch = strings.Replace(branch, `{"n":"x"]}`, `{"n":"x"}`, 1)
	_ = width
	return `{"n":2,"kids":` + list(branch, size) + `}`
}

func adversaries() map[string]adversary {
	out := make(map[string]adversary)
	recursive := `{"type":"object","anyOf":[` + strings.TrimSuffix(strings.Repeat(
		`{"properties":{"n":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["n","kids"]},`, 4),
		",") + `]}`
	for _, kb := range []int{29, 115} {
		out[fmt.Sprintf("recursive anyOf, %d KB", kb)] = adversary{schema: recursive, payload: bushy(20, 1, kb<<10)}
	}
	differing := `{"type":"object","required":["n"],"oneOf":[`
	var alternatives strings.Builder
	for i := range 8 {
		alternatives.WriteString(fmt.Sprintf(
			`{"properties":{"n":{"type":"integer","minimum":%d},"kids":{"type":"array","items":{"$ref":"#"}}}},`, i,
		))
	}
	differing += alternatives.String()
	out["nested oneOf"] = adversary{schema: strings.TrimSuffix(differing, ",") + `]}`, payload: bushy(20, 1, kb64)}
	out["aliases in branches"] = adversary{
		schema: `{"type":"object","required":["v"],"properties":{"v":{"$ref":"#/$defs/v"}},"$defs":{"v":{"anyOf":[
			{"type":"object","required":["query","v"],"properties":{"query":{"type":"string"},"v":{"$ref":"#/$defs/v"}}},
			{"type":"object","required":["text","v"],"properties":{"text":{"type":"string"},"v":{"$ref":"#/$defs/v"}}},
			{"type":"object","required":["url","v"],"properties":{"url":{"type":"string"},"v":{"$ref":"#/$defs/v"}}},{"type":"integer"}]}}}`,
		payload: `{"v":` + nested(`"input":5,"link":7,"`+strings.Repeat("k", 500)+`":0,"v":`, `"1"`, 120) + `}`,
	}
	var chain strings.Builder
	for i := range 400 {
		fmt.Fprintf(&chain, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"}],"properties":{"p%d":{"type":"string"}}},`, i, i+1, i)
	}
	out["allOf chain"] = adversary{
		schema: `{"type":"object","properties":{"list":{"type":"array","items":{"$ref":"#/$defs/a0"}}},"$defs":{` +
			chain.String() + `"a400":{"type":"object"}}}`,
		payload: `{"list":` + list(`{"p1":5}`, kb64) + `}`, costly: true,
	}
	out["reference cycle"] = adversary{
		schema: `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{
			"a":{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#/$defs/b"}},{"type":"array","items":{"$ref":"#/$defs/c"}}]},
			"b":{"anyOf":[{"$ref":"#/$defs/c"},{"type":"array","items":{"$ref":"#/$defs/a"}}]},
			"c":{"oneOf":[{"type":"boolean"},{"type":"array","items":{"$ref":"#/$defs/a"}},{"type":"array","items":{"$ref":"#/$defs/b"}}]}}}`,
		payload: `{"a":` + list(strings.Repeat("[", 100)+`"x"`+strings.Repeat("]", 100), kb64) + `}`,
	}
	out["unique items"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"items":{"type":"integer"}}}}`,
		payload: `{"a":[` + numbers(11_000) + `,"5"]}`,
	}
	out["unique arrays of arrays"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"uniqueItems":true,"items":{"$ref":"#/$defs/a"}}}}`,
		payload: `{"a":` + strings.Repeat("[", 100) + numbers(11_000) + strings.Repeat("]", 100) + `}`,
	}
	out["contains"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"type":"array","contains":{"anyOf":[{"const":-1},{"const":-2},{"type":"array","contains":{"const":3}}]}}}}`,
		payload: `{"a":` + list(`[1,2]`, kb64) + `}`,
	}
	out["wide object"] = adversary{
		schema:  `{"type":"object","additionalProperties":{"type":"integer"}}`,
		payload: wide(5_000, `"5"`),
	}
	branches := strings.TrimSuffix(
		strings.Repeat(`{"properties":{"zz":{"type":"integer"}},"required":["zz"],"additionalProperties":{"type":"string"}},`,
			100),
		",",
	)
	out["wide object, many branches"] = adversary{
		schema:  `{"type":"object","anyOf":[` + branches + `]}`,
		payload: wide(5_000, `1`), costly: true,
	}
	unevaluated := strings.TrimSuffix(strings.Repeat(`{"properties":{"k1":{"type":"integer"}}},`, 200), ",")
	out["unevaluated properties"] = adversary{
		schema:  `{"type":"object","anyOf":[` + unevaluated + `],"unevaluatedProperties":{"type":"integer"}}`,
		payload: wide(5_000, `"1"`),
	}
	out["recursive unevaluated"] = adversary{
		schema: `{"type":"object","anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"unevaluatedProperties":false,"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},
			"b":{"anyOf":[{"$ref":"#/$defs/c"},{"$ref":"#/$defs/c"}]},"c":{"properties":{"n":{"$ref":"#"}}}}}`,
		payload: nested(`"n":`, `{"m":1}`, 100),
	}
	patterns := make([]string, 15)
	for i := range patterns {
		patterns[i] = fmt.Sprintf(`"^(a|b|ab){%d}(x+x+)+y$":{"type":"string"}`, 30+i)
	}
	out["pattern properties"] = adversary{
		schema:  `{"type":"object","patternProperties":{` + strings.Join(patterns, ",") + `}}`,
		payload: wide(5_000, `1`), costly: true,
	}
	out["a large pattern"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"type":"string","pattern":"^([a-z]{1,9}[a-z0-9]{1,50}){9}$"}}}`,
		payload: `{"a":"` + times("ab0", kb64) + `"}`, costly: true,
	}
	out["a format of patterns"] = adversary{
		schema:  `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string","format":"regex"}}}`,
		payload: `{"a":"` + times(`(\\pL{900}){1,9}`, kb64) + `"}`,
	}
	members := make([]string, 3_000)
	for i := range members {
		members[i] = fmt.Sprintf(`{"k":[%d]}`, i)
	}
	out["large enum"] = adversary{
		schema: `{"type":"object","properties":{"a":{"type":"array","items":{"enum":[` + strings.Join(members, ",") +
			`]}}}}`,
		payload: `{"a":` + list(`{"k":[3000]}`, kb64) + `}`,
	}
	spellings := make([]string, 3_000)
	for i := range spellings {
		spellings[i] = fmt.Sprintf(`"member_%d"`, i)
	}
	out["large enum of words"] = adversary{
		schema: `{"type":"object","properties":{"a":{"type":"array","items":{"enum":[` + strings.Join(spellings, ",") +
			`]}}}}`,
		payload: `{"a":` + list(`"MEMBER 2999"`, kb64) + `}`,
	}
	out["long numbers"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"type":"array","items":{"type":"number","multipleOf":0.0001,"minimum":0,"maximum":1e300}}}}`,
		payload: `{"a":` + list(strings.Repeat("7", 290)+"."+strings.Repeat("3", 600)+"e5", kb64) + `}`,
	}
	out["many errors"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","required":["x","y","z"],"properties":{"x":{"type":"integer"}}}}}}`,
		payload: `{"a":` + list(`{"x":"q"}`, kb64) + `}`,
	}
	out["lists of lists wanted"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}},"b":{"type":"array","items":{"$ref":"#/$defs/a"}}}}`,
		payload: `{"a":` + list(`5`, kb64) + `}`,
	}
	text := `5`
	for range 8 {
		quoted, _ := json.Marshal(`[` + text + `]`) // It cannot fail.
		text = string(quoted)
	}
	out["text in text"] = adversary{
		schema:  `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/a"}},{"type":"object"},{"type":"boolean"}]}}}`,
		payload: `{"a":` + list(text, kb64) + `}`,
	}
	anyArray := `{"type":"object","properties":{"a":{"type":"array"}}}`
	out["deep arrays"] = adversary{
		schema: anyArray, payload: `{"a":` + list(strings.Repeat("[", 100)+strings.Repeat("]", 100), kb64) + `}`,
	}
	out["quotes to repair"] = adversary{schema: anyArray, payload: `{'a':['` + times(`\'\"`, kb64) + `',]}`}
	out["escapes to repair"] = adversary{schema: anyArray, payload: `{'a':['` + times(`\u0041\n`, kb64) + `',]}`}
	out["strings to repair"] = adversary{schema: anyArray, payload: `{'a':` + list(`'x'`, kb64) + `,}`}
	out["comments to repair"] = adversary{schema: anyArray, payload: `{'a':[` + times("1, /* x */", kb64) + `]}`}
	out["open comments"] = adversary{schema: anyArray, payload: `{'a':[` + times("/*", kb64) + `]}`}
	out["64 KB of ["] = adversary{schema: anyArray, payload: times("[", kb64)}
	out[`64 KB of {"a":`] = adversary{schema: anyArray, payload: times(`{"a":`, kb64)}
	out["64 KB of {a:"] = adversary{schema: anyArray, payload: times(`{a:`, kb64)}
	out[`64 KB of "`] = adversary{schema: anyArray, payload: times(`"`, kb64)}
	out["64 KB of backticks"] = adversary{schema: anyArray, payload: times("```", kb64)}
	return out
}

func numbers(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return strings.Join(out, ",")
}

// wide writes an object of n members.
func wide(n int, value string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`"ab%d":%s`, i, value)
	}
	return "{" + strings.Join(out, ",") + "}"
}

// cpuTime returns the CPU time of the process, garbage collection included.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkAdversarial prepares payloads that were made to be expensive. The
// figures are in docs/performance.md; cpu-ms/op and MB/op are to stay below 50 and
// 20 for 64 KB.
func BenchmarkAdversarial(b *testing.B) {
	cases := adversaries()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		b.Run(name, func(b *testing.B) {
			s, err := schema.New(0).Compile(json.RawMessage(c.schema))
			require.NoError(b, err)
			raw := json.RawMessage(c.payload)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := cpuTime(b)
			for b.Loop() {
				_, _, _ = s.Prepare(b.Context(), raw) // Accepted or refused: it ends.
			}
			spent := cpuTime(b) - began
			runtime.ReadMemStats(&after)
			b.ReportMetric(spent.Seconds()*1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/1e6, "MB/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}
