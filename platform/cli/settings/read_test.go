package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli/settings"
)

var known = []settings.Setting{
	{Key: "listen", Variable: "TOOLCRIB_LISTEN", Kind: settings.Text},
	{Key: "verbose", Variable: "TOOLCRIB_VERBOSE", Kind: settings.Bool},
	{Key: "max-requests", Variable: "TOOLCRIB_MAX_REQUESTS", Kind: settings.Whole},
	{Key: "file-unused", Variable: "TOOLCRIB_FILE_UNUSED", Kind: settings.Duration},
	{Key: "allow-host", Variable: "TOOLCRIB_ALLOW_HOST", Kind: settings.List},
	{Key: "database-url", Variable: "TOOLCRIB_DATABASE_URL", Kind: settings.Text, Secret: true},
	{Key: "TOOLCRIB_MODEL_*", Kind: settings.Text},
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func getenv(name string) string {
	if name == "THE_URL" {
		return "postgres://app:synthetic@db/tools"
	}
	return ""
}

func TestRead(t *testing.T) {
	t.Parallel()

	file := write(t, `# A comment.
listen: 0.0.0.0:8080
verbose: true
max-requests: 100
file-unused: 36h
allow-host: [orders.internal:8443, stock.internal]
database-url: {env: THE_URL}
TOOLCRIB_MODEL_VLLM_API_KEY: {file: key}
`)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "key"), []byte("synthetic-key\n"), 0o600))
	values, err := settings.Read(file, known, getenv)
	require.NoError(t, err)
	got := map[string]string{}
	for _, v := range values {
		got[v.Variable] = v.Text
	}
	require.Equal(t, map[string]string{
		"TOOLCRIB_LISTEN": "0.0.0.0:8080", "TOOLCRIB_VERBOSE": "true", "TOOLCRIB_MAX_REQUESTS": "100",
		"TOOLCRIB_FILE_UNUSED": "36h", "TOOLCRIB_ALLOW_HOST": "orders.internal:8443,stock.internal",
		"TOOLCRIB_DATABASE_URL": "postgres://app:synthetic@db/tools", "TOOLCRIB_MODEL_VLLM_API_KEY": "synthetic-key",
	}, got)
	require.True(t, values[6].Secret, "the key of a model is a secret")
	require.Equal(t, 8, values[6].Line)
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		values, err := settings.Read(write(t, empty), known, getenv)
		require.NoError(t, err)
		require.Empty(t, values)
	}
}

// Each mistake is reported at its line, with what is allowed, and without a value.
func TestReadRefuses(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"\nlissten: x":                             `settings.yaml:2: there is no setting "lissten": did you mean listen?`,
		"wholly-else: synthetic":                   `1: there is no setting "wholly-else"; toolcrib settings lists them`,
		"listen: a\nverbose: true\nlisten: b":      "settings.yaml:3: listen is set twice: in line 1 too",
		"listen: a\nTOOLCRIB_LISTEN: b":            "settings.yaml:2: listen is set twice: in line 1 too",
		"listen: 8080":                             "1: listen: expected a text: put it in quotes",
		"listen:":                                  "1: listen: expected text",
		"listen: [synthetic]":                      "1: listen: expected text, not a list",
		"verbose: synthetic":                       "1: verbose: expected true or false",
		"max-requests: synthetic":                  "1: max-requests: expected a whole number",
		"max-requests: 1.5":                        "1: max-requests: expected a whole number",
		"file-unused: 30":                          "1: file-unused: expected a duration",
		"allow-host: synthetic":                    "1: allow-host: expected a list of texts",
		"allow-host:\n  - a\n  - {b: synthetic}":   "settings.yaml:3: allow-host: expected a list of texts",
		"allow-host: ['a,synthetic']":              "1: allow-host: an item is empty or has a comma",
		"database-url: {path: synthetic}":          "1: database-url: a reference is {file: NAME} or {env: NAME}",
		"database-url: {env: NOT_SET}":             "1: database-url: NOT_SET is empty or not set",
		"database-url: {file: not-there}":          "not-there cannot be read: no such file",
		"verbose: {env: THE_URL}":                  "1: verbose: THE_URL has another value: expected true or false",
		"database-url: &a synthetic\nlisten: *a":   "settings.yaml:2: listen: expected text; YAML aliases are not supported",
		"- synthetic":                              "1: expected settings as name: value",
		"listen: a\n---\nlisten: b":                "expected one YAML document",
		"verbose: true\ndatabase-url: \"synthetic": "is not valid YAML here or above",
		"TOOLCRIB_MODEL_: synthetic":               "there is no setting",
	} {
		_, err := settings.Read(write(t, text), known, getenv)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, strings.ReplaceAll(err.Error(), `{path: synthetic}`, ""), "synthetic", text)
	}
	_, err := settings.Read(write(t, "a-b: 1\nc-d: 2"), known, getenv)
	require.ErrorContains(t, err, "settings.yaml:1:")
	require.ErrorContains(t, err, "settings.yaml:2:")
	_, err = settings.Read("/nowhere/settings.yaml", known, getenv)
	require.ErrorContains(t, err, "/nowhere/settings.yaml: cannot be read: no such file")
}

func TestMasked(t *testing.T) {
	t.Parallel()

	secret := settings.Setting{Secret: true}
	for text, want := range map[string]string{
		"":                                       "",
		"postgres://app:synthetic@db:5432/tools": "postgres://db:5432/tools",
		"postgres://db/tools?password=synthetic": "postgres://db/tools",
		"host=db password=synthetic":             "(hidden)",
		"synthetic-key":                          "(hidden)",
	} {
		require.Equal(t, want, settings.Masked(secret, text))
	}
	require.Equal(t, "0.0.0.0:8080", settings.Masked(settings.Setting{}, "0.0.0.0:8080"))
	require.Equal(t, "http://proxy:3128", settings.Masked(settings.Setting{}, "http://me:synthetic@proxy:3128"))
}
