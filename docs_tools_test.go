package toolcrib_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/worker"
)

// TestEveryTypeHasItsPage proves that each type of tools has a page that a test
// runs, and that readers find it.
func TestEveryTypeHasItsPage(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob(filepath.Join("docs", "tools", "*.md"))
	require.NoError(t, err)
	var pages []string
	for _, impl := range worker.Types(worker.Known{}).Names() {
		pages = append(pages, string(impl)+".md")
	}
	for _, file := range files {
		require.Contains(t, pages, filepath.Base(file), "docs/tools has the pages of types of tools, and no others")
	}
	run := pagesThatAreRun(t)
	text := readText(t)
	for _, page := range pages {
		require.FileExists(t, filepath.Join("docs", "tools", page))
		require.Contains(t, run, "tools/"+page, "no test runs the page: add it to pages_test.go of platform/doctest")
		for _, index := range []string{"README.md", "concepts.md"} {
			require.Contains(t, text(filepath.Join("docs", index)), "](tools/"+page+")", "docs/%s leaves it out", index)
		}
	}
}

// pagesThatAreRun reads the lists of pages whose blocks package doctest runs.
func pagesThatAreRun(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("platform", "doctest", "pages_test.go"), nil,
		parser.SkipObjectResolution)
	require.NoError(t, err)
	var pages []string
	ast.Inspect(file, func(n ast.Node) bool {
		list, ok := n.(*ast.ValueSpec)
		if !ok || !slices.Contains([]string{"firstSteps", "ownTemporal"}, list.Names[0].Name) {
			return true
		}
		ast.Inspect(list, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				page, err := strconv.Unquote(text.Value)
				require.NoError(t, err)
				pages = append(pages, page)
			}
			return true
		})
		return false
	})
	require.NotEmpty(t, pages)
	return pages
}
