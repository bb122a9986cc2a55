package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestVariablesSetFlags(t *testing.T) {
	t.Parallel()

	run := func(environ []string, args ...string) (hosts []string, most int64, verbose bool, err error) {
		a := &App{Env: Env{Environ: environ}}
		cmd := &cobra.Command{
			Use: "serve", SilenceErrors: true, SilenceUsage: true,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.applyVariables(cmd) },
		}
		cmd.Flags().StringArrayVar(&hosts, "allow-host", nil, "")
		cmd.Flags().Int64Var(&most, "max-answer-bytes", 5, "")
		cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "")
		root := &cobra.Command{Use: "toolcrib", SilenceErrors: true}
		root.AddCommand(cmd)
		root.SetArgs(append([]string{"serve"}, args...))
		err = root.Execute()
		return hosts, most, verbose, err
	}
	environ := []string{
		"TOOLCRIB_ALLOW_HOST=a.internal,b.internal:8443", "TOOLCRIB_MAX_ANSWER_BYTES=7", "TOOLCRIB_VERBOSE=true",
	}
	hosts, most, verbose, err := run(environ)
	require.NoError(t, err)
	require.Equal(t, []string{"a.internal", "b.internal:8443"}, hosts)
	require.Equal(t, int64(7), most)
	require.True(t, verbose)

	hosts, most, _, err = run(environ, "--allow-host", "c.internal", "--max-answer-bytes", "9")
	require.NoError(t, err)
	require.Equal(t, []string{"c.internal"}, hosts, "a flag wins")
	require.Equal(t, int64(9), most)

	_, _, _, err = run([]string{"TOOLCRIB_MAX_ANSWER_BYTES=much"})
	var wrong *UsageError
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, `TOOLCRIB_MAX_ANSWER_BYTES is "much"`)
}
