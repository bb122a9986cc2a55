package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Nothing in an engine leads to files, a network, processes or an environment.
func TestNothingLeadsOut(t *testing.T) {
	t.Parallel()

	p := newPool(t)
	for name, program := range map[string]string{
		"names": `export default () => ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker", "SharedWorker", "process", "require", "module", "Deno",
			"Bun", "std", "os", "scriptArgs", "print", "load", "read", "readFile", "setTimeout", "setInterval", "queueMicrotask", "Buffer", "navigator", "window",
			"self", "global", "WebAssembly", "__dirname", "__loadScript", "bjson", "gc"].filter(name => name in globalThis && name !== "queueMicrotask");`,
		"function": `export default () => { const g = new Function("return this")(); return Object.keys(g).filter(k => k !== "console"); };`,
		"meta":     `export default () => Object.keys(import.meta).filter(k => /\//.test(String(import.meta[k])));`,
		"stack":    `export default () => (new Error().stack.match(/\/(work|home|root|usr|tmp|proc)/) ?? []);`,
		"symbols":  `export default () => Object.getOwnPropertySymbols(globalThis).map(String).filter(s => !s.includes("toStringTag"));`,
	} {
		got, err := run(t, p, sandbox.Job{Language: sandbox.JavaScript, Program: []byte(program)})
		require.NoError(t, err, name)
		require.Equal(t, "[]", got, name)
	}
	for _, module := range []string{
		"fs", "node:fs", "/etc/passwd", "file:///etc/passwd", "./x.js", "../../x.json", "https://example.com/x.js",
		"data:text/javascript,1", "std", "os", "qjs:std", "",
	} {
		raw, err := json.Marshal(module)
		require.NoError(t, err)
		_, err = run(t, p, sandbox.Job{
			Language: sandbox.JavaScript, Program: []byte("export default () => import(" + string(raw) + ");"),
		})
		require.Equal(t, sandbox.Failed, classOf(err), module)
		require.ErrorContains(t, err, "programs cannot import modules", module)
		_, err = run(t, p, sandbox.Job{
			Language: sandbox.JavaScript, Program: []byte("import x from " + string(raw) + "; export default () => x;"),
		})
		require.Equal(t, sandbox.Malformed, classOf(err), module)
	}
	for program, want := range map[string]string{
		`[$ENV, env] | add`:              `[{}]`,
		`input_filename`:                 ``,
		`[splits("a")] | $__loc__.file`:  ``,
		`import "a" as a; .`:             ``,
		`include "/etc/passwd"; .`:       ``,
		`import "/etc/passwd" as $d; $d`: ``,
		`input`:                          ``,
		`inputs`:                         ``,
		`$__prog_args`:                   ``,
		`get_search_list`:                ``,
		`"/etc/passwd" | @sh | ltrimstr("x") | length`: `[13]`,
	} {
		got, err := run(t, p, sandbox.Job{Language: sandbox.JQ, Program: []byte(program), Input: json.RawMessage(`"a"`)})
		if want == "" {
			if err != nil {
				require.NotEmpty(t, classOf(err), program)
				continue
			}
			require.NotContains(t, got, "/", program)
			continue
		}
		require.NoError(t, err, program)
		require.Equal(t, want, got, program)
	}
}
