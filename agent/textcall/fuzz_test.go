package textcall_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent/textcall"
	"github.com/toolcrib/toolcrib/agent/textcall/textcalltest"
)

// FuzzFind looks for calls in anything: what is found is a call of an offered tool, and
// without calls the text is unchanged.
func FuzzFind(f *testing.F) {
	for _, a := range textcalltest.Answers() {
		f.Add(a.Text)
	}
	for _, seed := range []string{
		"`", "<", "</", "<|", "[TOOL_CALLS]", "<function=", "```{", "{'", "<!--", "{}}}}", "<think",
		"ping(", "ping(a=", "[ping(", "<function=ping><parameter=a>", "<a:invoke name='ping'>", "<tool><name>ping</name>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		calls, rest := textcall.Find(text, offered)
		if len(calls) == 0 {
			require.Equal(t, text, rest)
			return
		}
		require.LessOrEqual(t, len(calls), textcall.MaxCalls)
		require.Less(t, len(rest), len(text))
		for _, c := range calls {
			require.True(t, offered(c.Name))
			var v any
			require.NoError(t, json.Unmarshal(c.Arguments, &v))
			switch v.(type) {
			case map[string]any, string:
			default:
				t.Fatalf("arguments %s", c.Arguments)
			}
		}
	})
}

// Texts that invite to begin over and over take time that is linear in their length: one
// that is sixteen times as long as another takes far less than its square as much.
func TestFindIsLinear(t *testing.T) { //nolint:paralleltest // Compares times.
	const call = `{"name":"ping","arguments":{}}`
	for name, part := range map[string]string{ //nolint:paralleltest // As above.
		"Braces": "{", "Brackets": "[", "Both": "{[", "Quotes": `{"`, "SingleQuotes": "{'", "Fences": "```",
		"FenceLines": "```\n", "OpenFences": "```json\n{", "Backticks": "` ``", "Tags": "<tool_call>",
		"Tokens":   "[TOOL_CALLS]",
		"Thoughts": "<think>", "Ends": "</think>", "Comments": "<!--", "Examples": "<example>", "Less": "<",
		"Elements": "<a ",
		"Calls":    call, "CallLines": call + "\n", "NoCalls": `{"name":"ping"}` + "\n", "Prose": "It {is} [so] `c` <b>. ",
		"Mentions": "For example:\n" + call + "\n", "FencedData": "```json\n{\"a\":1}\n```\n", "OneLineFences": "```a``` b ",
		"Deep": strings.Repeat("[", 100) + strings.Repeat("]", 100), "Tilde": "~", "Escapes": `{"\`,
		"Nested": `{"a":[{"b":"`, "Parentheses": "(", "Code": "ping(", "CodeLines": "ping(a=1)\n", "CodeQuotes": "ping(a=\"\n",
		"CodeLists": "[ping(", "CodeInCode": "ping(a=ping(b=", "OneLongName": "a", "Parameters": "<parameter=a>",
		"Elements1": "<function=ping><parameter=a>", "Elements2": "<function=ping><parameter=a>1</parameter>",
		"Namespaces": "<a:invoke name=\"ping\"><a:parameter name=\"a\">", "Names": "<tool><name>ping</name>",
		"Described": "<tool><name>ping</name><arguments>{", "PythonTags": "<|python_tag|>ping(a=1) ",
	} {
		t.Run(name, func(t *testing.T) {
			const long, times = textcall.MaxText / 2, 16
			find := func(size int) time.Duration {
				text := "{" + strings.Repeat(part, size/len(part)-1)
				begin := time.Now()
				calls, _ := textcall.Find(text, offered)
				require.LessOrEqual(t, len(calls), textcall.MaxCalls)
				return time.Since(begin)
			}
			short := max(find(long/times), find(long/times), find(long/times))
			for try := 0; find(long) > short*times*times/2; try++ { // A pause of the machine is no defect.
				require.Less(t, try, 3)
			}
		})
	}
}

// An answer with more calls than may be has the first ones; a longer text than may be has none.
func TestFindIsBounded(t *testing.T) {
	t.Parallel()

	line := `{"name":"ping","arguments":{}}` + "\n"
	calls, rest := textcall.Find(strings.Repeat(line, textcall.MaxCalls+2), offered)
	require.Len(t, calls, textcall.MaxCalls)
	require.Equal(t, strings.TrimSpace(strings.Repeat(line, 2)), rest)

	text := line + strings.Repeat(" ", textcall.MaxText)
	calls, rest = textcall.Find(text, offered)
	require.Empty(t, calls)
	require.Equal(t, text, rest)

	deep := `{"name":"ping","arguments":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}}"
	calls, _ = textcall.Find(deep, offered)
	require.Empty(t, calls)
}

// Data and other code, however much of it there is, do not keep a call from being found.
func TestFindBehindMuchElse(t *testing.T) {
	t.Parallel()

	const call = "\n\n" + `{"name":"ping","arguments":{}}`
	for name, part := range map[string]string{
		"Fences": "```json\n{\"a\": 1}\n```\n\n", "OneLineFences": "Use ```a``` or so.\n", "Inline": "Use `a` or so. ",
		"Tags": "<b>a</b> <tool> ", "Braces": "a {b} [c] ", "Objects": "{\"a\": [1, 2, {\"b\": \"c\"}]}\n",
		"Lines": strings.Repeat("word ", 200) + "`a` (b)\n\n",
	} {
		calls, _ := textcall.Find(strings.Repeat(part, 200)+call, offered)
		require.Len(t, calls, 1, name)
	}
}
