package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The settings of the compose file, and those of the chart's tests, are settings that servers and workers have.
func TestDeployedSettings(t *testing.T) {
	t.Parallel()

	deployed := filepath.Join("..", "..", "deploy")
	s := &shell{vars: map[string]string{"TOOLS_OPENAI_KEY": "planted-key"}}
	inEffect := func(file string) map[string]string {
		t.Helper()
		var shown []struct{ Name, Value string }
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, "settings", "--settings", file, "--set", "--json")), &shown))
		found := map[string]string{}
		for _, setting := range shown {
			found[setting.Name] = setting.Value
		}
		return found
	}
	composed := inEffect(filepath.Join(deployed, "compose-settings.yaml"))
	require.Equal(t, "temporal:7233", composed["temporal-address"])
	require.Equal(t, "0.0.0.0:9090", composed["metrics-address"])

	raw, err := os.ReadFile(filepath.Join(deployed, "helm", "toolcrib", "ci", "full-values.yaml"))
	require.NoError(t, err)
	var values struct{ Settings map[string]any }
	require.NoError(t, yaml.Unmarshal(raw, &values))
	require.NotEmpty(t, values.Settings)
	text, err := yaml.Marshal(values.Settings)
	require.NoError(t, err)
	s.dir = t.TempDir()
	mounted := inEffect(s.write(t, "settings.yaml", string(text)))
	for name := range values.Settings {
		require.Contains(t, mounted, name)
	}
	require.Equal(t, "2000000", mounted["max-unfinished-runs"])
}
