package cli_test

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// Each flag of a server has a variable, which its help names.
func TestEveryFlagHasAVariable(t *testing.T) {
	t.Parallel()

	root := quiet()
	seen := 0
	for _, cmd := range root.Commands() {
		if cmd.Name() != "serve" && cmd.Name() != "worker" {
			continue
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				seen++
				require.Contains(t, f.Usage, cli.VariableOf(f.Name), "%s --%s", cmd.Name(), f.Name)
			}
		})
	}
	require.Greater(t, seen, 30)
}
