package devcmd_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
)

// A reach that means nothing is refused before anything is started, by every
// command that takes one.
func TestWrongReach(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{
		{"worker", "--database-url", "postgres://127.0.0.1:1/x"},
		{"serve", "--database-url", "postgres://127.0.0.1:1/x"},
		{"dev", "--data", t.TempDir()},
	} {
		for _, c := range []struct{ flag, value, says string }{
			{
				"--only-host", "https://example.com",
				`--only-host: "https://example.com" is not a host, host:port or *.host in ASCII`,
			},
			{"--only-host", "*", `--only-host: "*" is not`},
			{"--only-method", "post", `--only-method: "post" is not a method in upper case, such as GET`},
			{"--max-answer-bytes", "-1", "--max-answer-bytes: expected 0 for no bound, or a number of bytes"},
			{"--max-answer-bytes", "1MB", `--max-answer-bytes "1MB": expected a whole number`},
			{"--allow-port", "0", `--allow-port "0" is no port`},
		} {
			var out, errs bytes.Buffer
			env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: t.TempDir()}
			args := append(slices.Clip(command), c.flag, c.value)
			require.Equal(t, cli.ExitUsage, cli.Run(t.Context(), env, args, commands.New, operator.New, devcmd.New), "%s: %s",
				args, &errs)
			require.Contains(t, errs.String(), c.says, args)
			require.Empty(t, out.String(), args)
		}
	}
}
