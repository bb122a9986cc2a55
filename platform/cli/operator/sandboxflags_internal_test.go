package operator

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/worker"
)

// Limits come from flags, or else from variables, and are what can hold.
func TestSandboxLimits(t *testing.T) {
	t.Parallel()

	limits := func(variables map[string]string, args ...string) (worker.SandboxLimits, error) {
		t.Helper()
		var flags SandboxFlags
		cmd := &cobra.Command{Use: "x"}
		flags.Register(cmd)
		require.NoError(t, cmd.ParseFlags(args))
		return flags.Limits(func(name string) string { return variables[name] })
	}
	all := worker.SandboxLimits{
		Time: 5 * time.Second, Memory: 256 << 20, Output: 64 << 10, Program: 100 << 10, Children: 3,
	}
	got, err := limits(nil, "--sandbox-time=5s", "--sandbox-memory-mb=256", "--sandbox-output-kb=64",
		"--sandbox-program-kb=100", "--sandbox-children=3")
	require.NoError(t, err)
	require.Equal(t, all, got)
	variables := map[string]string{
		"TOOLCRIB_SANDBOX_TIME": "5s", "TOOLCRIB_SANDBOX_MEMORY_MB": "256", "TOOLCRIB_SANDBOX_OUTPUT_KB": "64",
		"TOOLCRIB_SANDBOX_PROGRAM_KB": "100",
		"TOOLCRIB_SANDBOX_CHILDREN":   "3",
	}
	got, err = limits(variables)
	require.NoError(t, err)
	require.Equal(t, all, got)
	got, err = limits(variables, "--sandbox-time=1s")
	require.NoError(t, err)
	require.Equal(t, time.Second, got.Time, "a flag wins")
	for _, arg := range []string{
		"--sandbox-time=31s", "--sandbox-memory-mb=100", "--sandbox-output-kb=9000", "--sandbox-program-kb=-1",
		"--sandbox-children=1000",
	} {
		_, err := limits(nil, arg)
		require.ErrorContains(t, err, "want ", arg)
	}
	_, err = limits(map[string]string{"TOOLCRIB_SANDBOX_CHILDREN": "many"})
	require.ErrorContains(t, err, "is no number")
	_, err = limits(map[string]string{"TOOLCRIB_SANDBOX_TIME": "5"})
	require.ErrorContains(t, err, "is no duration")
}
