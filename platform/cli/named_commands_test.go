package cli_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var (
	namedCommand = regexp.MustCompile(`toolcrib ([a-z][a-z-]*)((?: [a-z][a-z-]*)*)([^\n;:()` + "`" + `]*)`)
	namedFlag    = regexp.MustCompile(`(?:^| )--([a-z][a-z-]+)`)
)

// What texts say "toolcrib" of that is no command: the platform itself, in prose.
var prose = []string{
	"binary", "data", "here", "is", "request", "credential encryption", "mcp session",
	"key-encryption",
}

// A command or flag that a message, help text or page names is one that there is.
func TestCommandsThatTextsNameExist(t *testing.T) {
	t.Parallel()
	root := quiet()
	dev := &cobra.Command{Use: "dev"} // It stands in another package, and links what this one must not.
	for _, name := range []string{
		"data", "listen", "headless", "allow-host", "allow-port", "temporal-port", "postgres-port", "transcripts",
		"database-url",
	} {
		if root.PersistentFlags().Lookup(name) == nil {
			dev.Flags().String(name, "", "")
		}
	}
	root.AddCommand(dev, &cobra.Command{Use: "sandbox"}, &cobra.Command{Use: "help"})
	seen := 0
	var faults []string
	check := func(where, text string) {
		// Each stands alone, so that none has the flags of the next.
		text = strings.ReplaceAll(text, "toolcrib ", "\ntoolcrib ")
		for _, found := range namedCommand.FindAllStringSubmatch(text, -1) {
			cmd, words := root, append([]string{found[1]}, strings.Fields(found[2])...)
			for _, word := range words {
				if !cmd.HasSubCommands() {
					break
				}
				next := child(cmd, word)
				if next == nil && cmd != root && operandWord.MatchString(operandsOf(cmd)) {
					break // It is an operand, of a command that has others below it.
				}
				if next == nil && isProse(strings.Join(words, " ")) {
					break
				}
				if next == nil {
					faults = append(faults, fmt.Sprintf("%s: %q: %s has no command %q", where, found[0], cmd.CommandPath(), word))
					break
				}
				cmd, seen = next, seen+1
			}
			if cmd.HasSubCommands() { // It is named by a value, or no more was said.
				continue
			}
			for _, flag := range namedFlag.FindAllStringSubmatch(found[3], -1) {
				known := cmd.Flags().Lookup(flag[1]) != nil || cmd.InheritedFlags().Lookup(flag[1]) != nil
				if !known && flag[1] != "help" {
					faults = append(faults, fmt.Sprintf("%s: %q: %s has no flag --%s", where, found[0], cmd.CommandPath(), flag[1]))
				}
			}
		}
	}
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != top):
			return filepath.SkipDir
		case strings.Contains("CHANGELOG.md features.md ARCHITECTURE.md", entry.Name()):
		case strings.HasSuffix(path, ".md") && filepath.Base(filepath.Dir(path)) != "decisions":
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			check(path, string(raw))
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			for _, text := range textsOf(t, path) {
				check(path, text)
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, faults)
	require.Greater(t, seen, 300)
}

func isProse(words string) bool {
	for _, start := range prose {
		if strings.HasPrefix(words+" ", start+" ") {
			return true
		}
	}
	return false
}

func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// textsOf returns the strings of a Go file. What is put together of several is
// one, with VALUE for what is no literal.
func textsOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var texts []string
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := textOf(e)
		if ok {
			texts = append(texts, text)
		}
		return !ok
	})
	return texts
}

func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := textOf(e.X)
		right, also := textOf(e.Y)
		if e.Op != token.ADD || !ok && !also {
			return "", false
		}
		if !ok {
			left = "VALUE"
		}
		if !also {
			right = "VALUE"
		}
		return left + right, true
	default:
		return "", false
	}
}
