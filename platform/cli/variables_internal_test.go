package cli

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Each flag of a server has a variable, which its help names.
func TestEveryFlagHasAVariable(t *testing.T) {
	t.Parallel()

	a := &app{env: Env{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}}
	root := a.root()
	nameVariables(root)
	seen := 0
	for _, cmd := range root.Commands() {
		if cmd.Name() != "serve" && cmd.Name() != "worker" {
			continue
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				seen++
				require.Contains(t, f.Usage, variableOf(f.Name), "%s --%s", cmd.Name(), f.Name)
			}
		})
	}
	require.Greater(t, seen, 30)
}

func TestVariablesSetFlags(t *testing.T) {
	t.Parallel()

	run := func(environ []string, args ...string) (hosts []string, most int64, verbose bool, err error) {
		a := &app{env: Env{Environ: environ}}
		cmd := &cobra.Command{
			Use: "serve", SilenceErrors: true, SilenceUsage: true,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.takeVariables(cmd) },
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
