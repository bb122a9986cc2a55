package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Hostile programs end by a limit or by themselves, each in time, and other
// programs that run at the same time are not affected.
func TestHostilePrograms(t *testing.T) { //nolint:tparallel // What runs beside them ends when they have.
	t.Parallel()
	const (
		jq, js = sandbox.JQ, sandbox.JavaScript
		limit  = time.Second
	)
	deep := strings.Repeat("[", sandbox.MaxDepth+1) + strings.Repeat("]", sandbox.MaxDepth+1)
	tests := []struct {
		name     string
		language sandbox.Language
		program  string
		input    string
	}{
		{"LoopJS", js, `export default () => { for (;;); };`, ""},
		{"LoopAtTheTop", js, `for (;;); export default () => 1;`, ""},
		{"LoopOfPromises", js, `export default () => { const f = () => Promise.resolve().then(f); return f(); };`, ""},
		{"LoopInRegExp", js, `export default () => /^(a+)+$/.test("a".repeat(40) + "b");`, ""},
		{
			"LoopInSort", js,
			`export default () => { const a = Array.from({length: 1e6}, (_, i) => i); return a.sort(() => { for (;;); }); };`,
			"",
		},
		{"LoopInToJSON", js, `export default () => ({toJSON() { for (;;); }});`, ""},
		{"LoopInGetter", js, `export default () => ({get a() { for (;;); }});`, ""},
		{"LoopInProxy", js, `export default () => new Proxy({}, {ownKeys() { for (;;); }});`, ""},
		{"BigInt", js, `export default () => { let n = 3n; for (;;) n *= n; };`, ""},
		{"BigPower", js, `export default () => (2n ** 100000000n).toString();`, ""},
		{"ArrayOfArrays", js, `export default () => { const a = []; for (;;) a.push(new Array(1e6).fill(a.length)); };`, ""},
		{"StringDoubles", js, `export default () => { let s = "x"; for (;;) s += s; };`, ""},
		{"Repeat", js, `export default () => "x".repeat(2 ** 30);`, ""},
		{"PadStart", js, `export default () => "x".padStart(2 ** 29, "abc").split("");`, ""},
		{"ArrayBuffers", js, `export default () => { const a = []; for (;;) a.push(new ArrayBuffer(1 << 28)); };`, ""},
		{"ArrayLength", js, `export default () => new Array(2 ** 32 - 1).fill(0);`, ""},
		{"Recursion", js, `export default function f(x) { return f(x) + 1; };`, ""},
		{"RecursionInJSON", js, `export default () => { let o = {}; for (let i = 0; i < 1e6; i++) o = {o}; return o; };`, ""},
		{"RecursionInParse", js, `export default () => JSON.parse("[".repeat(1e6));`, ""},
		{"RecursionInRegExp", js, `export default () => new RegExp("(".repeat(1e5) + ")".repeat(1e5));`, ""},
		{
			"RecursionInToString", js,
			`export default () => { const a = []; a[0] = {toString() { return String(a[0]); }}; return String(a); };`, "",
		},
		{
			"DeepResult", js,
			fmt.Sprintf(`export default () => { let o = 1; for (let i = 0; i < %d; i++) o = [o]; return o; };`,
				sandbox.MaxDepth+1),
			"",
		},
		{"HugeResult", js, `export default () => "x".repeat(3 << 20);`, ""},
		{"PrintsForever", js, `export default () => { for (;;) console.log("x".repeat(1000)); };`, ""},
		{"SettlesItself", js, `import "program"; export default () => 1;`, ""},
		{"ForgesAPrompt", js, `globalThis.Promise = class {}; export default () => 1;`, ""},
		{"SpoilsJSON", js, `JSON.stringify = () => "not json"; export default () => 1;`, ""},
		{"FrozenGlobals", js, `Object.freeze(globalThis); export default () => { for (;;); };`, ""},
		{"ThrowsAMonster", js, `export default () => { throw {toString() { for (;;); }}; };`, ""},
		{"AllocatesInCatch", js, `export default () => { for (;;) { try { (function f() { f(); })(); } catch {} } };`, ""},
		{"Generators", js, `export default () => { function* g() { yield* g(); } return [...g()]; };`, ""},
		{"Evals", js, `export default () => { for (;;) eval("1+".repeat(1e5) + "1"); };`, ""},
		{"DeepSource", js, `export default () => ` + strings.Repeat("(", 50000) + "1" + strings.Repeat(")", 50000) + ";", ""},
		{
			"DeepTemplate", js,
			`export default () => ` + strings.Repeat("`${", 20000) + "1" + strings.Repeat("}`", 20000) + ";", "",
		},
		{"Atomics", js, `export default () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`, ""},
		{"WeakRefs", js, `export default () => { const a = []; for (;;) a.push(new WeakRef({a: "x".repeat(1000)})); };`, ""},
		{"Sparse", js, `export default () => { const o = {}; for (let i = 0; ; i++) o["k" + i] = i; };`, ""},
		{"Typed", js, `export default () => new Float64Array(2 ** 31);`, ""},
		{"ForksWorkers", js, `export default () => { for (;;) new Worker("data:text/javascript,for(;;);"); };`, ""},
		{"ForksByTimers", js, `export default () => { const f = () => { setTimeout(f); setTimeout(f); }; f(); };`, ""},
		{
			"ForksPromises", js,
			`export default () => { const f = () => Promise.all([Promise.resolve().then(f), Promise.resolve().then(f)]); return f(); };`,
			"",
		},
		{
			"ForksGenerators", js,
			`export default () => { const all = []; function* g() { yield; } for (;;) { const x = g(); x.next(); all.push(x); } };`,
			"",
		},
		{"LoopInImport", js, `const m = await new Promise(() => { for (;;); }); export default () => m;`, ""},
		{"LoopInStaticBlock", js, `class A { static { for (;;); } } export default () => 1;`, ""},
		{"LoopInFinalizer", js, `export default () => { try { for (;;); } finally { for (;;); } };`, ""},
		{"LoopInReviver", js, `export default () => JSON.parse("[1]", () => { for (;;); });`, ""},
		{
			"LoopInSpecies", js,
			`export default () => { class A extends Array { static get [Symbol.species]() { for (;;); } } return new A(1, 2).map(x => x); };`,
			"",
		},
		{"LookbehindRegExp", js, `export default () => /(?<=(a|aa)+)$/.test("a".repeat(5000) + "b");`, ""},
		{"HugeString", js, `export default () => "x".repeat(1e6).split("").map((_, i) => "y".repeat(i)).join("");`, ""},
		{"Normalizes", js, `export default () => { let s = "\u1E9B\u0323"; for (;;) s = (s + s).normalize("NFKD"); };`, ""},
		{"FloodsErrors", js, `export default () => { throw new Error("x".repeat(1 << 26)); };`, ""},
		{"FloodsConsole", js, `export default () => { const x = "x".repeat(1 << 20); for (;;) console.error(x); };`, ""},
		{"LoopJQ", jq, `def f: f; f`, ""},
		{"RecurseJQ", jq, `def f: 1 + f; f`, ""},
		{"RepeatJQ", jq, `repeat(1)`, ""},
		{"RangeJQ", jq, `[range(1e12)]`, ""},
		{"LimitJQ", jq, `last(range(1e12))`, ""},
		{"UntilJQ", jq, `until(false; . + 1)`, "0"},
		{"ReduceJQ", jq, `reduce range(1e9) as $i ([]; . + [$i])`, ""},
		{"StringJQ", jq, `"x" * 1e9`, ""},
		{"DoublesJQ", jq, `def f: . + . | f; "x" | f`, ""},
		{"IndexJQ", jq, `.[1e9] = 1`, "[]"},
		{"NegativeJQ", jq, `[limit(1e9; repeat("x" * 1000))]`, ""},
		{"PathsJQ", jq, `[paths] | combinations`, "[[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8]]"},
		{"RegExpJQ", jq, `test("^(a+)+$")`, `"` + strings.Repeat("a", 40) + `b"`},
		{"RegExpHugeJQ", jq, `test("(a{1000}){1000}")`, `"a"`},
		{"PowerJQ", jq, `def f: . * . | f; 3 | f`, ""},
		{"TojsonJQ", jq, `def f: [.] | f; f`, ""},
		{"FromjsonJQ", jq, `("[" * 1000000) | fromjson`, ""},
		{"DeepSourceJQ", jq, strings.Repeat("(", 30000) + "1" + strings.Repeat(")", 30000), ""},
		{"DeepArraysJQ", jq, strings.Repeat("[", 30000) + "1" + strings.Repeat("]", 30000), ""},
		{"ManyOutputsJQ", jq, `range(1e9)`, ""},
		{"SubJQ", jq, `[range(1e6)] | map(tostring) | join("x") | gsub("x"; "yyyyyyyyyy") | gsub("y"; "zzzzzzzzzz")`, ""},
		{"GetpathJQ", jq, `setpath([range(1e6)]; 1)`, ""},
		{"LtrimJQ", jq, `[splits("")] | combinations(20)`, `"abcdefgh"`},
		{"ImplodeJQ", jq, `[range(1e8)] | implode`, ""},
		{"FloodsDebugJQ", jq, `def f: debug | f; "x" * 100000 | f`, ""},
		{"FloodsErrorsJQ", jq, `error("x" * 10000000)`, ""},
		{"BacktracksJQ", jq, `first(range(1e9) | select(. < 0))`, ""},
		{"LabelsJQ", jq, `label $out | repeat(1) | if . == 2 then break $out else empty end`, ""},
		{"MutualJQ", jq, `def a: def b: a; b; a`, ""},
		{"WalkJQ", jq, `reduce range(200) as $i (0; [., .]) | walk(.)`, ""},
		{"SortJQ", jq, `[range(1e8; 0; -1)] | sort`, ""},
		{"GroupJQ", jq, `[limit(1e8; repeat({a: 1}))] | group_by(.a)`, ""},
		{"FormatJQ", jq, `"x" * 1e7 | [.,.,.,.,.,.] | map(@base64) | map(@uri) | @csv`, ""},
		{"DeepInput", jq, `.`, deep},
	}
	require.GreaterOrEqual(t, len(tests), 60)
	p := newPool(t, func(c *sandbox.Config) { c.Children = 4 })
	before := processes(t)
	_, err := run(t, p, sandbox.Job{Tenant: "neighbour", Language: jq, Program: []byte(".")})
	require.NoError(t, err)

	stop := neighbour(t, p)
	t.Run("Corpus", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				input := tt.input
				if input == "" {
					input = "null"
				}
				got, err := run(t, p, sandbox.Job{
					Tenant: "hostile", Language: tt.language, Program: []byte(tt.program), Input: json.RawMessage(input),
					Limits: sandbox.Limits{Time: limit, Memory: 224 << 20, Output: 1 << 20},
				})
				t.Logf("%.60q %s %v", got, classOf(err), err)
				if err != nil {
					require.NotEmpty(t, classOf(err), "%v", err)
					require.Less(t, len(err.Error()), 5<<10)
				}
			})
		}
	})
	require.NoError(t, stop())
	require.NoError(t, p.Close())
	require.Eventually(t, func() bool { return processes(t) <= before }, 5*time.Minute, 50*time.Millisecond,
		"no child is left")
}

// neighbour is another tenant that runs programs all the while, each of which
// answers correctly within its own time. The function it returns stops it, and
// returns the first failure.
func neighbour(t *testing.T, p *sandbox.Pool) (stop func() error) {
	t.Helper()
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-done:
				failed <- nil
				return
			default:
			}
			got, err := p.Run(t.Context(), sandbox.Job{
				Tenant: "neighbour", Language: sandbox.JQ, Program: []byte(".a + 1"), Input: json.RawMessage(`{"a":1}`),
				Limits: sandbox.Limits{Time: sandbox.MaxLimits.Time},
			})
			if err == nil && string(got.Output) != "[2]" {
				err = fmt.Errorf("got %s", got.Output)
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	return func() error {
		close(done)
		return <-failed
	}
}

// processes counts the children of this process.
func processes(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	require.NoError(t, err)
	n := 0
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil {
			n += len(strings.Fields(string(raw)))
		}
	}
	return n
}
