package leancmd_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/leancmd"
)

// A build without the stack says so, and what to do, whatever flags it is given.
func TestDevOfALeanBuild(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{{"dev"}, {"dev", "--headless", "--json"}} {
		var out, errs bytes.Buffer
		env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs}
		require.Equal(t, cli.ExitConflict, cli.Run(t.Context(), env, args, leancmd.New))
		require.Contains(t, errs.String(), "-tags lean")
		require.Contains(t, errs.String(), "serve and worker with a Temporal of yours")
	}
	var out bytes.Buffer
	env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &out}
	require.Equal(t, cli.ExitOK, cli.Run(t.Context(), env, []string{"dev", "--help"}, leancmd.New))
	require.Contains(t, out.String(), "built for servers")
}
