package textcall_test

import (
	"embed"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent/textcall"
)

// answers are answers of models, by shape. In a file, each begins with its name behind "===";
// behind "--- calls" are the calls in it, a line each with the arguments, and behind
// "--- text" what remains of it. An answer without "--- calls" has none.
//
//go:embed testdata/answers/*.txt
var answers embed.FS

type answer struct {
	name, text string
	calls      []string
	rest       string
}

func readAnswers(tb testing.TB) map[string][]answer {
	tb.Helper()
	files, err := answers.ReadDir("testdata/answers")
	require.NoError(tb, err)
	all := make(map[string][]answer)
	for _, f := range files {
		raw, err := answers.ReadFile("testdata/answers/" + f.Name())
		require.NoError(tb, err)
		name := strings.TrimSuffix(path.Base(f.Name()), ".txt")
		for part := range strings.SplitSeq("\n"+string(raw), "\n=== ") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			title, body, _ := strings.Cut(part, "\n")
			text, expected, found := strings.Cut(body, "\n--- calls\n")
			a := answer{name: title, text: text, rest: text}
			if found {
				var calls string
				calls, a.rest, _ = strings.Cut(expected, "\n--- text\n")
				a.calls = strings.Split(calls, "\n")
			}
			all[name] = append(all[name], a)
		}
	}
	return all
}

func offered(name string) bool {
	switch name {
	case "getOrder", "searchOrders", "sendMail", "ping":
		return true
	default:
		return false
	}
}

// Every call that stands in an answer is found, with its arguments, and what remains of the
// answer; nothing else is taken for one.
func TestFind(t *testing.T) {
	t.Parallel()

	count := 0
	for file, list := range readAnswers(t) {
		for _, a := range list {
			count++
			t.Run(file+"/"+a.name, func(t *testing.T) {
				t.Parallel()

				calls, rest := textcall.Find(a.text, offered)
				var got []string
				for _, c := range calls {
					got = append(got, c.Name+" "+string(c.Arguments))
					require.Equal(t, file == "repaired" && !strings.Contains(a.name, "as a string"), c.Repaired)
				}
				require.Equal(t, a.calls, got, a.text)
				require.Equal(t, a.rest, rest)
			})
		}
	}
	require.Greater(t, count, 300)
}
