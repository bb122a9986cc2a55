package doctest_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is one fenced block of a page.
type block struct {
	page string
	line int    // Of the fence.
	kind string // What the fence says: see [blockKinds].
	text string
}

// String says where the block stands.
func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// Kinds of blocks. There are no others, so that nothing on a page is left
// untried.
const (
	shellKind    = "sh"          // Commands, in the terminal of the page.
	terminalKind = "sh terminal" // A command that goes on, in a terminal of its own.
	yamlKind     = "yaml"        // A definition: the file that its first line names.
	goKind       = "go"          // Part of the file that its first line names.
	sqlKind      = "sql"         // Statements, as PostgreSQL's superuser.
)

var blockKinds = []string{shellKind, terminalKind, yamlKind, goKind, sqlKind}

// untried lists the pages that only describe, and have nothing to run.
var untried = []string{
	"settings.md",      // Its example is read by a test in platform/cli.
	"features.md",      // Its own test is at the root.
	"models.md",        // Its providers are not on this machine.
	"observability.md", // Its tests are in platform/observe.
	"operations.md",    // Its tests are at the root and in platform/cli.
	"performance.md",   // Its commands take half an hour.
}

// repository is the repository's root, seen from here.
const repository = "../.."

// findPages returns the pages there are, as seen from docs, but for those of
// decisions.
func findPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, folder := range []string{".", "tools"} {
		found, err := filepath.Glob(filepath.Join(repository, "docs", folder, "*.md"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, page := range found {
			pages = append(pages, path.Join(folder, filepath.Base(page)))
		}
	}
	return pages
}

// readPage returns the blocks of a page. It fails on what looks like a block
// and is none.
func readPage(t *testing.T, name string) []block {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, "docs", name))
	require.NoError(t, err)
	blocks, err := parsePage(name, string(raw))
	require.NoError(t, err)
	return blocks
}

func parsePage(name, text string) ([]block, error) {
	var blocks []block
	var open *block
	blank := true // Whether the line before is empty.
	for i, line := range strings.Split(text, "\n") {
		fence, info, fenced := strings.Cut(line, "```")
		switch {
		case fenced && strings.TrimSpace(fence) != "" && open == nil: // In a sentence.
		case fenced && open == nil:
			if !slices.Contains(blockKinds, info) {
				return nil, fmt.Errorf("%s:%d: a block of kind %q is never run: use one of %q", name, i+1, info, blockKinds)
			}
			open = &block{page: name, line: i + 1, kind: info}
		case fenced:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case blank && strings.HasPrefix(line, "    "):
			return nil, fmt.Errorf("%s:%d: an indented block is never run: fence it", name, i+1)
		}
		blank = strings.TrimSpace(line) == ""
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block is not closed", open)
	}
	return blocks, nil
}

// named returns the file that the first line of a block names in a comment, and
// the lines after it.
func (b block) named(comment string) (file, rest string, err error) {
	first, rest, _ := strings.Cut(b.text, "\n")
	file, ok := strings.CutPrefix(first, comment+" ")
	if !ok || strings.ContainsAny(file, " \t") {
		return "", "", fmt.Errorf("%s: the first line names no file, as in %q", b, comment+" examples/file")
	}
	return file, rest, nil
}

// Every page is one whose blocks are run, or has a reason not to be.
func TestEveryPageIsTried(t *testing.T) {
	t.Parallel()

	known := slices.Concat(untried, firstSteps, ownTemporal, descriptive)
	for _, page := range findPages(t) {
		require.Contains(t, known, page, "a page that no test reads: add it to a list in pages_test.go")
	}
	for _, page := range descriptive {
		require.Empty(t, readPage(t, page), "%s: a page with blocks is to be run: list it elsewhere", page)
	}
	for _, page := range slices.Concat(firstSteps, ownTemporal) {
		require.NotEmpty(t, readPage(t, page))
	}
}

// The reader of pages sees what would not be run.
func TestPagesWithUntriedBlocks(t *testing.T) {
	t.Parallel()

	blocks, err := parsePage("p", "# P\n\n```sh\ntrue\n#> x\n```\n\n- a list\n    that goes on\n")
	require.NoError(t, err)
	require.Equal(t, []block{{page: "p", line: 3, kind: shellKind, text: "true\n#> x\n"}}, blocks)
	for text, want := range map[string]string{
		"```\nmake\n```\n":       `p:1: a block of kind ""`,
		"\n```json\n{}\n```\n":   `p:2: a block of kind "json"`,
		"Like this:\n\n    make": "p:3: an indented block",
		"```sh\ntrue\n":          "p:1: the block is not closed",
	} {
		_, err := parsePage("p", text)
		require.ErrorContains(t, err, want)
	}
}
