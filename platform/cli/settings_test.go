package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
)

// settle runs a command line with an environment.
func settle(t *testing.T, environ []string, args ...string) ended {
	t.Helper()
	var out, errs bytes.Buffer
	env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: t.TempDir(), Environ: environ}
	return ended{cli.Run(t.Context(), env, args, operator.New), out.String(), errs.String()}
}

type shownSetting struct {
	Name, Variable, Value, Origin, Where string
	Secret                               bool
}

func shownSettings(t *testing.T, environ []string, args ...string) map[string]shownSetting {
	t.Helper()
	got := settle(t, environ, append([]string{"settings", "--json"}, args...)...)
	require.Equal(t, cli.ExitOK, got.code, got.err)
	var list []shownSetting
	require.NoError(t, json.Unmarshal([]byte(got.out), &list))
	byName := map[string]shownSetting{}
	for _, s := range list {
		byName[s.Name] = s
	}
	require.NotContains(t, got.out, "synthetic")
	return byName
}

func settingsFileOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// A flag comes before a variable, that before the file, and that before the default;
// secrets are not shown, wherever they come from.
func TestSettingsPrecedence(t *testing.T) {
	t.Parallel()

	file := settingsFileOf(t, `listen: 127.0.0.1:1111
task-queue: from-file
database-url: postgres://app:synthetic@db/tools
TEMPORAL_API_KEY: synthetic
allow-host: [orders.internal, stock.internal]
temporal-address: temporal:7233
`)
	environ := []string{
		"TOOLCRIB_TASK_QUEUE=from-variable", "TOOLCRIB_KEK=synthetic", "TOOLCRIB_MODEL_X_API_KEY=synthetic",
		"TOOLCRIB_LISTEN=", // Not set.
	}
	shown := shownSettings(t, environ, "--settings", file, "serve", "--", "--allow-host", "flag.internal")
	for name, want := range map[string][2]string{
		"listen":                   {"127.0.0.1:1111", "file"},
		"task-queue":               {"from-variable", "environment"},
		"allow-host":               {"flag.internal", "flag"},
		"database-url":             {"postgres://db/tools", "file"},
		"temporal-address":         {"temporal:7233", "file"},
		"TEMPORAL_API_KEY":         {"(hidden)", "file"},
		"TOOLCRIB_KEK":             {"(hidden)", "environment"},
		"TOOLCRIB_MODEL_X_API_KEY": {"(hidden)", "environment"},
		"temporal-namespace":       {"default", "default"},
	} {
		require.Equal(t, want, [2]string{shown[name].Value, shown[name].Origin}, name)
	}
	require.Equal(t, file+":1", shown["listen"].Where)
	require.NotContains(t, shown, "build-id", "serve has no such setting")

	shown = shownSettings(t, append(environ, cli.SettingsVariable+"="+file), "--set")
	require.Equal(t, "orders.internal,stock.internal", shown["allow-host"].Value)
	require.NotContains(t, shown, "temporal-namespace")
}

// A server is configured by the file: what it then fails of is what the file says.
func TestServersReadTheFile(t *testing.T) {
	t.Parallel()

	file := settingsFileOf(t, "database-url: postgres://app@db/tools\nallow-host: [\"https://orders.internal/\"]\n")
	for _, command := range []string{"serve", "worker"} {
		got := settle(t, nil, command, "--settings", file)
		require.Equal(t, cli.ExitUsage, got.code)
		require.Contains(t, got.err, "--allow-host", command)
		got = settle(t, []string{cli.SettingsVariable + "=" + file}, command)
		require.Contains(t, got.err, "--allow-host", command)
		got = settle(t, []string{cli.SettingsVariable + "=/nowhere", "TOOLCRIB_DATABASE_URL=x"}, command)
		require.Equal(t, cli.ExitUsage, got.code)
		require.Contains(t, got.err, "/nowhere: cannot be read")
	}
	got := settle(t, nil, "reconcile", "--settings", settingsFileOf(t, "database-url: postgres://app@db/tools\n"))
	require.Contains(t, got.err, "maintenance", "the database is known")
	got = settle(t, nil, "settings", "--settings", settingsFileOf(t, "listenn: x\nverbose: 3\n"))
	require.Equal(t, cli.ExitUsage, got.code)
	require.Contains(t, got.err, "settings.yaml:1: there is no setting \"listenn\": did you mean listen?")
	require.Contains(t, got.err, "settings.yaml:2: verbose: expected true or false")
	got = settle(t, nil, "settings", "migrate")
	require.Equal(t, cli.ExitUsage, got.code)
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The example in the docs is valid and has every setting of servers.
func TestSettingsExample(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/settings.md")
	require.NoError(t, err)
	example := yamlBlock.FindSubmatch(page)
	require.NotNil(t, example)
	file := settingsFileOf(t, string(example[1]))
	for _, name := range []string{"database-url", "maintenance-url", "temporal-key", "s3-secret", "proxy"} {
		secret := filepath.Join(filepath.Dir(file), name)
		require.NoError(t, os.WriteFile(secret, []byte("https://synthetic.example\n"), 0o600))
	}
	environ := []string{"TOOLS_OPENAI_KEY=synthetic"}
	shown := shownSettings(t, environ, "--settings", file)
	own := map[string]bool{}
	for _, cmd := range quiet().Commands() {
		if cmd.Name() == "serve" || cmd.Name() == "worker" {
			for _, name := range flagsOf(cmd) {
				own[name] = true
			}
		}
	}
	for name, s := range shown {
		if own[name] {
			require.Equal(t, "file", s.Origin, "docs/settings.md leaves %s out", name)
		}
	}
	require.Greater(t, len(own), 40)
}

func flagsOf(cmd *cobra.Command) (names []string) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "settings" {
			names = append(names, f.Name)
		}
	})
	return names
}
