package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

func TestPrograms(t *testing.T) {
	t.Parallel()
	p := newPool(t)

	const jq, js = sandbox.JQ, sandbox.JavaScript
	tests := []struct {
		name     string
		language sandbox.Language
		program  string
		input    string
		want     string
		class    sandbox.Class // Of the error.
		says     string
	}{
		{
			"JQPath", jq, `.items[] | select(.n > 1) | .id`, `{"items":[{"id":"a","n":1},{"id":"b","n":2},{"id":"c","n":3}]}`,
			`["b","c"]`, "", "",
		},
		{"JQNothing", jq, `empty`, `1`, `[]`, "", ""},
		{"JQKeepsDigits", jq, `.id`, `{"id":9007199254740993123}`, `[9007199254740993123]`, "", ""},
		{"JQHalts", jq, `1, halt, 2`, `null`, `[1]`, "", ""},
		{"JQHasNoEnvironment", jq, `$ENV, env`, `null`, `[{},{}]`, "", ""},
		{"JQFails", jq, `error("no such order")`, `null`, "", sandbox.Failed, "no such order"},
		{"JQType", jq, `.a`, `"text"`, "", sandbox.Failed, "expected an object"},
		{"JQParse", jq, `.a[`, `null`, "", sandbox.Malformed, "does not parse"},
		{"JQUnknown", jq, `nosuch`, `null`, "", sandbox.Malformed, "nosuch"},
		{"JQInputs", jq, `input`, `null`, "", sandbox.Malformed, "input"},
		{"JQImport", jq, `import "x" as x; .`, `null`, "", sandbox.Malformed, "module"},
		{"JSFunction", js, `export default ({a, b}) => ({sum: a + b});`, `{"a":1,"b":2}`, `{"sum":3}`, "", ""},
		{
			"JSAsync", js, `export default async function (x) { await null; return x.toReversed(); }`, `[1,2,3]`, `[3,2,1]`, "",
			"",
		},
		{"JSUndefined", js, `export default () => {};`, `null`, `null`, "", ""},
		{"JSUnicode", js, `export default s => s + "é\u{1F9F0}";`, `"ü"`, `"üé🧰"`, "", ""},
		{
			"JSThrows", js, `export default () => { throw new TypeError("no such order") };`, `null`, "", sandbox.Failed,
			"TypeError: no such order",
		},
		{"JSRejects", js, `export default () => Promise.reject("nope");`, `null`, "", sandbox.Failed, "nope"},
		{"JSNeverSettles", js, `export default () => new Promise(() => {});`, `null`, "", sandbox.Failed, "never settled"},
		{
			"JSTopLevelThrows", js, `throw new Error("at once"); export default () => 1;`, `null`, "", sandbox.Failed,
			"at once",
		},
		{"JSNoDefault", js, `export const x = 1;`, `null`, "", sandbox.Malformed, "default export"},
		{"JSNoFunction", js, `export default 7;`, `null`, "", sandbox.Malformed, "no function"},
		{"JSSyntax", js, `export default (`, `null`, "", sandbox.Malformed, "does not compile"},
		{
			"JSImports", js, `import fs from "fs"; export default () => 1;`, `null`, "", sandbox.Malformed,
			"programs cannot import modules",
		},
		{
			"JSImportsLate", js, `export default async () => (await import("os")).platform;`, `null`, "", sandbox.Failed,
			"programs cannot import modules",
		},
		{"JSReturnsAFunction", js, `export default () => () => 1;`, `null`, "", sandbox.BadOutput, "function"},
		{
			"JSHasNoHost", js,
			`export default () => [typeof std, typeof os, typeof fetch, typeof process, typeof require, typeof __print, typeof __settle, typeof __input];`, `null`,
			`["undefined","undefined","undefined","undefined","undefined","undefined","undefined","undefined"]`, "", "",
		},
		{"JSCycle", js, `export default () => { const a = {}; a.a = a; return a };`, `null`, "", sandbox.Failed, "circular"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := run(t, p, sandbox.Job{
				Language: tt.language, Program: []byte(tt.program), Input: json.RawMessage(tt.input),
			})
			require.Equal(t, tt.class, classOf(err), "%v", err)
			if tt.class != "" {
				require.ErrorContains(t, err, tt.says)
				return
			}
			require.NoError(t, err)
			require.JSONEq(t, tt.want, got)
			require.Equal(t, strings.Contains(tt.want, "9007199254740993123"), strings.Contains(got, "9007199254740993123"))
		})
	}
}

// What a program prints comes as it prints it, up to the limit of its output.
func TestPrinting(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	var said strings.Builder
	_, err := run(t, p, sandbox.Job{
		Language: sandbox.JavaScript, Print: func(s string) { said.WriteString(s) },
		Program: []byte(`export default () => { console.log("rows", [1, {a: 2}]); console.error(new Error("hm").message); return 1 };`),
	})
	require.NoError(t, err)
	require.Equal(t, "rows [1,{\"a\":2}]\nhm\n", said.String())

	said.Reset()
	_, err = run(t, p, sandbox.Job{
		Language: sandbox.JQ, Program: []byte(`debug | .a`), Input: json.RawMessage(`{"a":1}`),
		Print: func(s string) { said.WriteString(s) },
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1}`, said.String())

	said.Reset()
	_, err = run(t, p, sandbox.Job{
		Language: sandbox.JavaScript, Limits: sandbox.Limits{Output: 1000}, Print: func(s string) { said.WriteString(s) },
		Program: []byte(`export default () => { for (let i = 0; i < 1000; i++) console.log("again and again"); return 1 };`),
	})
	require.NoError(t, err)
	require.Equal(t, 1000, said.Len())
}

// Nothing of one run is there in the next, of the same tenant or another.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	leave := []byte(`export default x => { const seen = globalThis.kept ?? null; globalThis.kept = x; Array.prototype.kept = x; return [seen, [].kept === x] };`)
	for i, tenant := range []tool.TenantID{"a", "a", "b", "a"} {
		got, err := run(t, p, sandbox.Job{
			Tenant: tenant, Language: sandbox.JavaScript, Program: leave, Input: json.RawMessage(`"left behind"`),
		})
		require.NoError(t, err)
		require.Equal(t, `[null,true]`, got, "%d %s", i, tenant)
	}
}
