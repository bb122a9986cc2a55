package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// The class of a failure is the engine's. No text that a program makes up, and
// no kind of error that it throws, makes another of it; and the text arrives.
func TestClassesAreTheEngines(t *testing.T) {
	t.Parallel()
	const (
		jq, js = sandbox.JQ, sandbox.JavaScript
		depth  = `(function f() { return f() + 1; })()`
	)
	tests := []struct {
		name     string
		language sandbox.Language
		program  string
		class    sandbox.Class
		says     string
	}{
		{
			"Cards", js, `export default () => { throw new Error("out of memory cards") };`, sandbox.Failed,
			"out of memory cards",
		},
		{"Text", js, `export default () => { throw "out of memory" };`, sandbox.Failed, "out of memory"},
		{
			"SameKind", js, `export default () => { throw new InternalError("out of memory") };`, sandbox.Failed,
			"InternalError: out of memory",
		},
		{
			"SameKindOfDepth", js, `export default () => { throw new InternalError("stack overflow") };`, sandbox.Failed,
			"InternalError: stack overflow",
		},
		{
			"OtherEngine", js, `export default () => { throw new RangeError("Maximum call stack size exceeded") };`,
			sandbox.Failed, "Maximum call stack",
		},
		{"Null", js, `export default () => { throw null };`, sandbox.Failed, "null"},
		{"Object", js, `export default () => { throw {code: "no such order"} };`, sandbox.Failed, "no such order"},
		{"Undefined", js, `export default () => { throw undefined };`, sandbox.Failed, "undefined"},
		{"AtTheTop", js, `throw new Error("stack overflow"); export default () => 1;`, sandbox.Failed, "stack overflow"},
		{
			"Later", js, `export default async () => { await null; throw new Error("cannot allocate memory") };`,
			sandbox.Failed, "cannot allocate memory",
		},
		{
			"DepthThenMemory", js, `export default () => { try { ` + depth + ` } catch { throw new Error("out of memory") } };`,
			sandbox.Failed, "out of memory",
		},
		{
			"DepthChanged", js,
			`export default () => { try { ` + depth + ` } catch (e) { e.message = "out of memory"; throw e } };`,
			sandbox.Failed, "out of memory",
		},
		{
			"DepthConstructor", js,
			`export default () => { try { ` + depth + ` } catch (e) { throw new e.constructor("stack overflow") } };`,
			sandbox.Failed, "stack overflow",
		},
		{
			"InstanceOf", js,
			`export default () => { try { ` + depth +
				` } catch (e) { return [e instanceof InternalError, new InternalError("x").name, {} instanceof InternalError] } };`,
			"", `[true,"InternalError",false]`,
		},
		{"Depth", js, `export default () => ` + depth + `;`, sandbox.OverDepth, "exceeded the recursion limit"},
		{
			"DepthOfMethods", js, `export default () => { const o = {get a() { return this.a }}; return o.a };`,
			sandbox.OverDepth, "exceeded the recursion limit",
		},
		{
			"DepthOfProxies", js, `export default () => { const p = new Proxy({}, {get: (t, k, r) => r[k]}); return p.a };`,
			sandbox.OverDepth, "exceeded the recursion limit",
		},
		{
			"DepthOfText", js, `export default () => { const o = {toString() { return "" + this }}; return "" + o };`,
			sandbox.OverDepth, "exceeded the recursion limit",
		},
		{
			"DepthOfGenerators", js, `export default () => { function* g() { yield* g() } return [...g()] };`,
			sandbox.OverDepth, "exceeded the recursion limit",
		},
		{
			"DepthOfResult", js, `export default () => { let o = {}; for (let i = 0; i < 1e5; i++) o = {o}; return o };`,
			sandbox.OverDepth, "exceeded the recursion limit",
		},
		{
			"MemoryOfArrays", js, `export default () => { const a = []; for (;;) a.push(new Array(1e5).fill(a.length)) };`,
			sandbox.OverSpace, "memory",
		},
		{"MemoryOfObjects", js, `export default () => { const a = []; for (;;) a.push({a}) };`, sandbox.OverSpace, "memory"},
		{
			"MemoryOfText", js, `export default () => { let s = "x".repeat(1000); const a = []; for (;;) a.push(s += "y") };`,
			sandbox.OverSpace, "memory",
		},
		{
			"MemoryAtTheTop", js, `const a = []; for (;;) a.push(new ArrayBuffer(1e6)); export default () => 1;`,
			sandbox.OverSpace, "memory",
		},
		{
			"MemoryLater", js, `export default async () => { await null; const a = []; for (;;) a.push([a]) };`,
			sandbox.OverSpace, "memory",
		},
		{"Result", js, `export default () => "x".repeat(2e6);`, sandbox.OverSize, "more than 1048576 bytes"},
		{
			"Prints", js, `export default () => { for (;;) console.log("x".repeat(1000)) };`, sandbox.OverSize,
			"printed more than",
		},
		{"Loop", js, `export default () => { for (;;); };`, sandbox.OverTime, "longer than"},
		{"NULInTheResult", js, `export default () => ({"a\0": 1, "a\ufffd": 2});`, sandbox.BadOutput, "NUL"},
		{"HalfAPair", js, `export default () => "\u{1F9F0}".slice(0, 1);`, sandbox.BadOutput, "surrogate"},
		{
			"NULInAMessage", js, `export default () => { throw new Error("no\0such\u001b[31m order") };`, sandbox.Failed,
			"nosuch[31m order",
		},
		{"CardsJQ", jq, `error("fatal error: out of memory")`, sandbox.Failed, "fatal error: out of memory"},
		{"DeepWordsJQ", jq, `error("the filter recurses too deep")`, sandbox.Failed, "too deep"},
		{"DepthJQ", jq, `def f: 1 + f; f`, sandbox.OverDepth, "exceeded the recursion limit"},
		{"DepthOfArraysJQ", jq, `def f: [f]; f`, sandbox.OverDepth, "exceeded the recursion limit"},
		{"DepthOfPairsJQ", jq, `def f: g as $x | f, 1; def g: 1; f`, sandbox.Malformed, "g/0"},
		{"DepthThatEndsJQ", jq, `def f: if . > 30000 then . else (. + 1 | f) + 0 end; 0 | f`, "", "[30001]"},
		{"ManyJQ", jq, `[limit(300000; repeat(1))] | length`, "", "[300000]"},
		{"RecurseJQ", jq, `[0 | recurse(if . < 300000 then . + 1 else empty end)] | length`, "", "[300001]"},
		{"ReduceJQ", jq, `reduce range(300000) as $i (0; . + $i)`, "", "[44999850000]"},
		{"UntilJQ", jq, `0 | until(. >= 300000; . + 1)`, "", "[300000]"},
		{"MemoryJQ", jq, `[range(1e12)]`, sandbox.OverSpace, "memory"},
		{"MemoryOfTextJQ", jq, `def f: . + . | f; "x" | f`, sandbox.OverSpace, "memory"},
		{"OutputsJQ", jq, `range(1e9)`, sandbox.OverSize, "more than 1048576 bytes"},
		{"PrintsJQ", jq, `def f: debug | f; "x" * 1000 | f`, sandbox.OverSize, "printed more than"},
		{"LoopJQ", jq, `def f: f; f`, sandbox.OverTime, "longer than"},
		{"NULJQ", jq, `{("a\u0000"): 1, ("a\ufffd"): 2}`, sandbox.BadOutput, "NUL"},
	}
	p := newPool(t, func(c *sandbox.Config) { c.Children = 4 })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limits := sandbox.Limits{Time: sandbox.MaxLimits.Time, Memory: sandbox.DefaultLimits.Memory, Output: 1 << 20}
			if tt.class == sandbox.OverTime {
				limits.Time = time.Second
			}
			got, err := run(t, p, sandbox.Job{
				Language: tt.language, Program: []byte(tt.program), Input: json.RawMessage("null"), Limits: limits,
			})
			require.Equal(t, tt.class, classOf(err), "%q %v", got, err)
			if err == nil {
				require.Equal(t, tt.says, got)
				return
			}
			require.ErrorContains(t, err, tt.says)
			require.LessOrEqual(t, len(err.Error()), sandbox.MaxMessage+len("…"))
		})
	}
}

// A command's class is the engine's as well, whatever its functions are called
// and whatever it prints; what it printed last is a part of the failure.
func TestClassesOfCommands(t *testing.T) {
	t.Parallel()
	const words = "stack overflow: out of memory"
	said := command{imports: fdWrite, pages: 1, data: vector(uint32(len(words))) + words}
	say := func(then ...byte) command {
		c := said
		c.body = join(writeTo(2), then)
		return c
	}
	grow := []byte{0x41, 0x80, 0x80, 0x02, 0x40, 0x00, 0x1a} // 2 GiB.
	for _, tt := range []struct {
		name    string
		command command
		class   sandbox.Class
		says    string
	}{
		{"Words", say(unreachable...), sandbox.Failed, "trapped: unreachable\n" + words},
		{"Grown", say(join(grow, unreachable)...), sandbox.OverSpace, "exceeded its memory limit"},
		{"Asked", say(grow...), sandbox.BadOutput, words},
		{"Recursion", command{body: callStart}, sandbox.OverDepth, "exceeded the recursion limit"},
		{"Begins", command{pages: 60000}, sandbox.OverSpace, "starts with 3750 MiB"},
		{
			"Writes",
			command{imports: fdWrite, pages: 1, data: vector(60000), body: forever(writeTo(1)...)},
			sandbox.OverSize,
			"more than",
		},
		{
			"Prints",
			command{imports: fdWrite, pages: 1, data: vector(60000), body: forever(writeTo(2)...)},
			sandbox.OverSize,
			"printed more than",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, newPool(t), sandbox.Job{
				Language: sandbox.WASM, Program: tt.command.assemble(), Limits: sandbox.Limits{
					Time: sandbox.MaxLimits.Time, Memory: sandbox.MinMemory, Output: 1 << 20,
				},
			})
			require.Equal(t, tt.class, classOf(err), "%v", err)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// What needs more memory than the limit is refused when it is checked already.
func TestMemoryHoldsWhenAProgramIsChecked(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	for name, j := range map[string]sandbox.Job{
		"wasm": {Language: sandbox.WASM, Program: command{pages: 2000}.assemble()}, // 125 MiB, of 112.
		"javascript": {
			Language: sandbox.JavaScript, Program: []byte("export default () => [" + strings.Repeat("()=>{},", 140_000) + "];"),
		},
		"patterns": {
			Language: sandbox.JavaScript,
			Program:  []byte("export default () => [" + strings.Repeat(`/\p{L}/u,`, 15_000) + "];"),
		},
	} {
		j.Check = true
		j.Limits.Memory = sandbox.MinMemory
		_, err := run(t, p, j)
		require.Equal(t, sandbox.OverSpace, classOf(err), "%s: %v", name, err)
		j.Limits.Memory = sandbox.MaxLimits.Memory
		_, err = run(t, p, j)
		require.NoError(t, err, name)
	}
}

// What a program may use does not depend on the programs that ran before it: a
// process that kept much of theirs is replaced.
func TestMemoryIsWholeForEachProgram(t *testing.T) {
	t.Parallel()
	p := newPool(t, func(c *sandbox.Config) { c.Children = 2 }) // One tenant has one of them.
	for n := range 4 {
		body := strings.Repeat("\x41\x00\x1a", 1<<20+n) // Each takes much to compile.
		_, err := run(t, p, sandbox.Job{
			Language: sandbox.WASM, Program: command{body: []byte(body)}.assemble(), Limits: sandbox.Limits{
				Time: sandbox.MaxLimits.Time, Memory: sandbox.MinMemory,
			},
		})
		require.Equal(t, sandbox.BadOutput, classOf(err), "program %d: %v", n, err)
	}
	require.Greater(t, p.Stats().Started, int64(1))
	require.Zero(t, p.Stats().Killed)
}
