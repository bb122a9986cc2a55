package toolcrib_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shownBy matches the test that a line of docs/failure-semantics.md names in its
// last cell: `TestName`, or `TestName/Case`.
var shownBy = regexp.MustCompile("^`(Test[A-Za-z0-9_]*)(?:/([A-Za-z0-9_]+))?`$")

// TestFailureSemantics proves that docs/failure-semantics.md says nothing of
// failures that no test shows, and leaves out no point at which a worker is
// killed.
func TestFailureSemantics(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile(filepath.Join("docs", "failure-semantics.md"))
	require.NoError(t, err)
	tests := featureTests(t)
	named, problems := checkFailures(string(page), tests, readText(t))
	require.Empty(t, problems, "docs/failure-semantics.md:\n%s", strings.Join(problems, "\n"))

	killed, err := os.ReadFile(filepath.Join("platform", "e2e", "crash_test.go"))
	require.NoError(t, err)
	points := regexp.MustCompile(`(?m)^\t\t\{"(\w+)", `).FindAllStringSubmatch(string(killed), -1)
	require.NotEmpty(t, points)
	for _, point := range points {
		require.Contains(t, named, "TestKilledWorker/"+point[1], "docs/failure-semantics.md leaves it out")
	}
}

// TestFailureSemanticsFindsMistakes proves that the check sees each kind of
// mistake.
func TestFailureSemanticsFindsMistakes(t *testing.T) {
	t.Parallel()

	tests := map[string][]string{"TestDies": {"e2e/dies_test.go"}}
	text := func(string) string { return `{"BeforeAdmit", pure}` }
	for row, want := range map[string]string{
		"| killed | runs again | `TestDies` |":             "",
		"| killed | runs again | `TestDies/BeforeAdmit` |": "",
		"| killed | runs again | `TestLives` |":            "no test TestLives",
		"| killed | runs again | `TestDies/AfterAdmit` |":  "no case AfterAdmit of TestDies",
		"| killed | runs again | somewhere |":              "names no test",
	} {
		_, problems := checkFailures("| what | then | test |\n|---|---|---|\n"+row, tests, text)
		if want == "" {
			require.Empty(t, problems)
			continue
		}
		require.Len(t, problems, 1)
		require.Contains(t, problems[0], want)
	}
}

// checkFailures returns the tests that a page of failures names, and what is
// wrong with it. Text returns what stands in a file of tests.
func checkFailures(page string, tests map[string][]string, text func(file string) string) (named, problems []string) {
	for i, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasSuffix(line, "| test |") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		last := strings.TrimSpace(cells[len(cells)-1])
		m := shownBy.FindStringSubmatch(last)
		switch {
		case m == nil:
			problems = append(problems, fmt.Sprintf("line %d names no test: %s", i+1, last))
		case len(tests[m[1]]) == 0:
			problems = append(problems, fmt.Sprintf("line %d: no test %s", i+1, m[1]))
		case m[2] != "" && !inOneOf(tests[m[1]], text, `"`+m[2]+`"`):
			problems = append(problems, fmt.Sprintf("line %d: no case %s of %s", i+1, m[2], m[1]))
		default:
			named = append(named, strings.Trim(last, "`"))
		}
	}
	return named, problems
}

func inOneOf(files []string, text func(file string) string, part string) bool {
	for _, file := range files {
		if strings.Contains(text(file), part) {
			return true
		}
	}
	return false
}

func readText(t *testing.T) func(file string) string {
	t.Helper()
	return func(file string) string {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(raw)
	}
}

// linkPattern matches a link of a page to a file.
var linkPattern = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)

// TestLinks proves that the pages lead nowhere that is not there.
func TestLinks(t *testing.T) {
	t.Parallel()

	pages, err := filepath.Glob("*.md")
	require.NoError(t, err)
	for _, pattern := range []string{"docs/*.md", "docs/tools/*.md", "docs/decisions/*.md", "examples/*/README.md"} {
		more, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, more)
		pages = append(pages, more...)
	}
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, link := range linkPattern.FindAllStringSubmatch(string(raw), -1) {
			require.FileExists(t, followed(page, link[1]), "%s links to %s", page, link[1])
		}
	}
}

// followed returns the file that a link leads to: of a folder, anything in it.
func followed(page, link string) string {
	to := filepath.Join(filepath.Dir(page), filepath.FromSlash(link))
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return page
	}
	return to
}
