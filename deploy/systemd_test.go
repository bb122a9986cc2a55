package deploy_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The units run as an unprivileged user on a read-only file system, and let running calls finish.
func TestSystemdUnits(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "worker"} {
		raw, err := os.ReadFile("systemd/toolcrib-" + command + ".service")
		require.NoError(t, err)
		settings := map[string]string{}
		for line := range strings.SplitSeq(string(raw), "\n") {
			if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
				settings[name] = value
			}
		}
		require.Equal(t, "/usr/local/bin/toolcrib "+command+" --json", settings["ExecStart"])
		require.Contains(t, settings, "CapabilityBoundingSet")
		require.Empty(t, settings["CapabilityBoundingSet"])
		for name, value := range map[string]string{
			"DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes",
			"PrivateTmp": "yes", "PrivateDevices": "yes", "RestrictNamespaces": "yes", "Restart": "on-failure",
		} {
			require.Equal(t, value, settings[name], name)
		}
		stop, err := strconv.Atoi(settings["TimeoutStopSec"])
		require.NoError(t, err)
		require.Greater(t, stop, 45, "what runs has 30 s")
		require.NotContains(t, settings, "Environment", "secrets are in the file")
	}
}
