package textcall_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent/textcall"
	"github.com/toolcrib/toolcrib/agent/textcall/textcalltest"
)

func offered(name string) bool { return textcalltest.Offered(name) }

// Every call that stands in an answer is found, with its arguments, and what remains of the
// answer; nothing else is taken for one.
func TestFind(t *testing.T) {
	t.Parallel()

	all := textcalltest.Answers()
	for _, a := range all {
		t.Run(a.File+"/"+a.Name, func(t *testing.T) {
			t.Parallel()

			calls, rest := textcall.Find(a.Text, offered)
			var got []string
			for _, c := range calls {
				got = append(got, c.Name+" "+string(c.Arguments))
				require.Equal(t, a.File == "repaired" && !strings.Contains(a.Name, "as a string"), c.Repaired)
			}
			require.Equal(t, a.Calls, got, a.Text)
			require.Equal(t, a.Rest, rest)
		})
	}
	require.Greater(t, len(all), 700)
}
