package console_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sources returns the files of the pages with one of the endings, by their paths below web/src.
func sources(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS("web/src"), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, ending := range endings {
			if strings.HasSuffix(path, ending) {
				raw, err := os.ReadFile(filepath.Join("web/src", path))
				out[path] = string(raw)
				return err
			}
		}
		return nil
	}))
	require.NotEmpty(t, out)
	return out
}

// What the pages import is a dependency of theirs, not one of a dependency alone.
func TestImportsAreDeclared(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile("web/package.json")
	require.NoError(t, err)
	var declared struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	require.NoError(t, json.Unmarshal(raw, &declared))
	imports := regexp.MustCompile(`(?:from|import) ?\(?"((?:@[\w-]+/)?[\w-]+)[^"]*"`)
	found := 0
	for path, text := range sources(t, ".ts", ".tsx") {
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			require.Contains(t, declared.Dependencies, m[1], path)
			found++
		}
	}
	require.Greater(t, found, 100)
}

// A class of its own has its look from one file: another area that uses the name would change it there too. The
// base only says how parts move and print.
func TestClassesAreDefinedOnce(t *testing.T) {
	t.Parallel()

	comments, rules := regexp.MustCompile(`(?s)/\*.*?\*/`), regexp.MustCompile(`([^{}]+)\{`)
	class := regexp.MustCompile(`^\.[\w-]+$`)
	defined := map[string]string{}
	for path, text := range sources(t, ".css") {
		if path == "styles/base.css" {
			continue
		}
		for _, rule := range rules.FindAllStringSubmatch(comments.ReplaceAllString(text, ""), -1) {
			for selector := range strings.SplitSeq(rule[1], ",") {
				selector = strings.TrimSpace(selector)
				if !class.MatchString(selector) {
					continue
				}
				if other, ok := defined[selector]; ok {
					require.Equal(t, other, path, "%s is defined in two files", selector)
				}
				defined[selector] = path
			}
		}
	}
	require.Greater(t, len(defined), 100)
}
