package cli

import (
	"log/slog"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// What operators narrow on the command line is what the worker's policy has,
// for all tenants, and with it what they open.
func TestReachOfTheCommandLine(t *testing.T) {
	t.Parallel()

	for name, register := range map[string]func(*WorkerFlags, *cobra.Command){
		"WorkerAndDev": (*WorkerFlags).Register, "Serve": (*WorkerFlags).registerReach,
	} {
		config := func(args ...string) worker.Config {
			t.Helper()
			var flags WorkerFlags
			cmd := &cobra.Command{Use: "x"}
			register(&flags, cmd)
			require.NoError(t, cmd.ParseFlags(args), name)
			cfg, err := flags.Config(slog.New(slog.DiscardHandler), func(string) string { return "" })
			require.NoError(t, err, name)
			return cfg
		}
		require.Equal(t, map[tool.TenantID]worker.Allowance{"": {
			Hosts: []string{"orders.internal:8443"}, Ports: []uint16{8081},
			Rules: tool.EgressRules{Hosts: []string{"*.example.com", "orders.internal"}, Methods: []string{"GET", "POST"}, MaxBytes: 4096},
		}}, config(
			"--allow-host", "orders.internal:8443", "--allow-port", "8081",
			"--only-host", "*.example.com", "--only-host=orders.internal",
			"--only-method", "GET", "--only-method", "POST", "--max-answer-bytes", "4096",
		).Allow, name)
		require.Equal(t, tool.EgressRules{MaxBytes: 1}, config("--max-answer-bytes=1").Allow[""].Rules, name)
		require.Empty(t, config().Allow, name)
	}
}
