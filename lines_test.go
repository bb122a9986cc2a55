package toolcrib_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// maxLine is the longest a line of Go code may be, in characters; a tab is one.
const maxLine = 120

// TestLinesAreShort holds Go code to lines of maxLine characters. What cannot be
// wrapped may be longer: raw strings, struct tags, nolint directives, and
// comments that quote JSON.
func TestLinesAreShort(t *testing.T) {
	t.Parallel()
	var long []string
	for _, name := range readRepository(t, os.DirFS(".")).names {
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		if bytes.HasPrefix(src, []byte("// Code generated")) {
			continue
		}
		raw := rawLines(t, name, src)
		for i, line := range strings.Split(string(src), "\n") {
			if n := utf8.RuneCountInString(line); n > maxLine && !raw[i+1] && !strings.Contains(line, "//nolint") &&
				!strings.HasPrefix(strings.TrimLeft(line, "\t/ "), "{") {
				long = append(long, fmt.Sprintf("%s:%d: %d characters", name, i+1, n))
			}
		}
	}
	require.Empty(t, long, "wrap these lines")
}

// rawLines returns the numbers of the lines on which there is a raw string or a
// struct tag.
func rawLines(t *testing.T, name string, src []byte) map[int]bool {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, src, 0)
	require.NoError(t, err)
	lines := make(map[int]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "`") {
			for i := files.Position(lit.Pos()).Line; i <= files.Position(lit.End()).Line; i++ {
				lines[i] = true
			}
		}
		return true
	})
	return lines
}
