package redact_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/redact"
)

// names returns the names of a list, each once.
func names(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []string
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, strings.Fields(line)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Of the names that public APIs use, nearly all are judged right.
func TestNamesOfPublicAPIs(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]bool{"testdata/sensitive.txt": true, "testdata/harmless.txt": false} {
		all := names(t, path)
		require.GreaterOrEqual(t, len(all), 150, path)
		var wrong []string
		for _, name := range all {
			if redact.SensitiveKey(name) != want {
				wrong = append(wrong, name)
			}
		}
		share := 1 - float64(len(wrong))/float64(len(all))
		t.Logf("%s: %d of %d right, wrong: %v", path, len(all)-len(wrong), len(all), wrong)
		require.GreaterOrEqual(t, share, 0.97, "%s: wrong: %v", path, wrong)
	}
}

// What is judged by name in JSON is judged so in texts.
func TestNamesInTexts(t *testing.T) {
	t.Parallel()

	for _, name := range names(t, "testdata/sensitive.txt") {
		if !redact.SensitiveKey(name) || strings.HasPrefix(name, "_") {
			continue
		}
		for _, text := range []string{
			name + "=hush4f1c", `said {"` + name + `": "hush4f1c"}`, "POST /?" + name + "=hush4f1c&a=1",
		} {
			require.NotContains(t, redact.Text(text), "hush4f1c", text)
		}
	}
}
