package operator

import (
	"log/slog"
	"net/netip"
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
			Rules: tool.EgressRules{
				Hosts: []string{"*.example.com", "orders.internal"}, Methods: []string{"GET", "POST"}, MaxBytes: 4096,
			},
		}}, config(
			"--allow-host", "orders.internal:8443", "--allow-port", "8081",
			"--only-host", "*.example.com", "--only-host=orders.internal",
			"--only-method", "GET", "--only-method", "POST", "--max-answer-bytes", "4096",
		).Allow, name)
		require.Equal(t, tool.EgressRules{MaxBytes: 1}, config("--max-answer-bytes=1").Allow[""].Rules, name)
		denied := config("--deny-host", "*.corp.example", "--deny-cidr", "203.0.113.9/24", "--deny-cidr=2001:db8::/32",
			"--egress-proxy", "http://user:pw@proxy:3128")
		require.Equal(t, worker.Allowance{
			DenyHosts: []string{"*.corp.example"},
			DenyCIDRs: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8::/32")},
		}, denied.Allow[""], name)
		require.Equal(t, "proxy:3128", denied.Proxy.Host, name)
		require.Empty(t, config().Allow, name)
		require.Nil(t, config().Proxy, name)
	}
}

func TestReachOfTheCommandLineIsChecked(t *testing.T) {
	t.Parallel()

	for flag, bad := range map[string][]string{
		"--deny-host":    {"", "https://a.example", "a b", "*"},
		"--deny-cidr":    {"10.0.0.1", "10.0.0.0/33", "x"},
		"--egress-proxy": {"proxy:3128", "socks5://proxy", "http://", "http://secret@proxy/path"},
	} {
		for _, text := range bad {
			var flags WorkerFlags
			cmd := &cobra.Command{Use: "x"}
			flags.Register(cmd)
			require.NoError(t, cmd.ParseFlags([]string{flag, text}))
			_, err := flags.Config(slog.New(slog.DiscardHandler), func(string) string { return "" })
			require.ErrorContains(t, err, flag, "%q", text)
			require.NotContains(t, err.Error(), "secret")
		}
	}
}
