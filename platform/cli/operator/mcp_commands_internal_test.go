package operator

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
)

func TestCommandsOfMCPServersAreTheOperators(t *testing.T) {
	t.Parallel()

	config := func(text string) (map[string]mcpcall.Command, error) {
		file := filepath.Join(t.TempDir(), "commands.json")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		flags := WorkerFlags{MCPCommands: file}
		cfg, err := flags.Config(slog.New(slog.DiscardHandler), func(string) string { return "" })
		return cfg.MCPCommands, err
	}
	commands, err := config(`{"files": {"path": "/usr/bin/mcp-files", "args": ["/srv"], "env": ["LANG=C"]}}`)
	require.NoError(t, err)
	require.Equal(
		t,
		map[string]mcpcall.Command{"files": {Path: "/usr/bin/mcp-files", Args: []string{"/srv"}, Env: []string{"LANG=C"}}},
		commands,
	)
	for text, want := range map[string]string{
		`{"files": {"path": "mcp-files"}}`:                     "not absolute",
		`{"files": {"path": "/bin/true", "shell": "rm -r /"}}`: "unknown field",
		`[]`: "cannot unmarshal",
	} {
		_, err := config(text)
		require.ErrorContains(t, err, want)
	}
	flags := WorkerFlags{MCPCommands: "/nowhere"}
	_, err = flags.Config(slog.New(slog.DiscardHandler), func(string) string { return "" })
	require.ErrorContains(t, err, "--mcp-commands")
}
