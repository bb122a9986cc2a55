package toolcrib_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// featureRanges holds the last number of each series of the requirement list.
// Every number from 1 on has exactly one place in docs/features.md.
var featureRanges = []struct {
	prefix string
	last   int
}{
	{"S0-", 140},
	{"S1-", 46},
	{"S2-", 48},
	{"S3-", 78},
	{"S4-", 68},
	{"Z", 20},
}

// featureProof matches one test in a Proof cell: `TestName`, optionally
// followed by the file or folder it is in. A path is relative to the
// repository's root and may stand in backquotes.
var featureProof = regexp.MustCompile("^`(Test[A-Za-z0-9_]*)`(?: in `?([A-Za-z0-9_./-]+?)`?)?$")

// TestFeatures proves that docs/features.md names every requirement once and
// claims nothing that no test shows.
func TestFeatures(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile(filepath.Join("docs", "features.md"))
	require.NoError(t, err)
	problems := checkFeatures(string(page), featureTests(t))
	require.Empty(t, problems, "docs/features.md:\n%s", strings.Join(problems, "\n"))
}

// TestFeaturesFindsMistakes proves that the check sees each kind of mistake.
func TestFeaturesFindsMistakes(t *testing.T) {
	t.Parallel()

	tests := map[string][]string{"TestResolve": {"resolver/resolver_test.go"}}
	tests["TestRun"] = []string{"platform/e2e/run_test.go", "workflows/run_test.go"}
	var lines []string
	for _, ref := range featureRefs() {
		lines = append(lines, "| Something | "+ref+" | not built | – |")
	}
	page := "| Feature | Ref | State | Proof |\n|---|---|---|---|\n" + strings.Join(lines, "\n")
	require.Empty(t, checkFeatures(page, tests))

	for name, tt := range map[string]struct {
		row  string // Instead of the one of S3-24.
		want string // Empty when the row is good.
	}{
		"built":               {"| Something | S3-24 | built | `TestResolve` |", ""},
		"partly":              {"| Something | S3-24 | partly | `TestResolve`, `TestRun` in workflows |", ""},
		"file given":          {"| Something | S3-24 | built | `TestRun` in `platform/e2e/run_test.go` |", ""},
		"row missing":         {"", "S3-24: no row"},
		"doubled":             {"| Something | S3-24, S3-25 | not built | – |", "S3-25: 2 rows"},
		"beyond the range":    {"| Something | S3-24, S3-79 | not built | – |", "unknown reference"},
		"leading zero":        {"| Something | S3-024 | not built | – |", "unknown reference"},
		"no feature":          {"|  | S3-24 | not built | – |", "no feature"},
		"a cell too many":     {"| Some|thing | S3-24 | not built | – |", "5 cells"},
		"unknown state":       {"| Something | S3-24 | done | `TestResolve` |", "state \"done\""},
		"built without proof": {"| Something | S3-24 | built | – |", "proof \"–\""},
		"proof not a test":    {"| Something | S3-24 | partly | see the docs |", "proof \"see the docs\""},
		"no such test":        {"| Something | S3-24 | built | `TestResolved` |", "no test TestResolved"},
		"test elsewhere": {
			"| Something | S3-24 | built | `TestResolve` in platform |", "no test TestResolve in platform",
		},
		"path half named":  {"| Something | S3-24 | built | `TestResolve` in resol |", "no test TestResolve in resol"},
		"proof of nothing": {"| Something | S3-24 | not built | `TestResolve` |", "not built, but has a proof"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := checkFeatures(strings.Replace(page, "| Something | S3-24 | not built | – |", tt.row, 1), tests)
			if tt.want == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, strings.Join(got, "\n"), tt.want)
		})
	}
}

// checkFeatures returns what is wrong with page. Tests maps the name of each
// test to the files that declare it.
func checkFeatures(page string, tests map[string][]string) []string {
	var problems []string
	refs := featureRefs()
	rows := make(map[string]int)

	for i, line := range strings.Split(page, "\n") {
		report := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("line %d: ", i+1)+fmt.Sprintf(format, args...))
		}
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| Feature |") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 4 {
			report("%d cells, want 4: %s", len(cells), line)
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		feature, state, proof := cells[0], cells[2], cells[3]
		if feature == "" {
			report("no feature")
		}
		for ref := range strings.SplitSeq(cells[1], ",") {
			ref = strings.TrimSpace(ref)
			if !slices.Contains(refs, ref) {
				report("unknown reference %q", ref)
			}
			rows[ref]++
		}
		switch state {
		case "built", "partly":
			for _, p := range featureProofProblems(proof, tests) {
				report("%s", p)
			}
		case "not built":
			if proof != "–" {
				report("not built, but has a proof: %s", proof)
			}
		default:
			report("state %q, want built, partly or not built", state)
		}
	}

	for _, ref := range refs {
		switch n := rows[ref]; n {
		case 0:
			problems = append(problems, ref+": no row")
		case 1:
		default:
			problems = append(problems, fmt.Sprintf("%s: %d rows", ref, n))
		}
	}
	return problems
}

// featureProofProblems returns what is wrong with the Proof cell of a row that
// claims to be built, wholly or partly.
func featureProofProblems(proof string, tests map[string][]string) []string {
	var problems []string
	for one := range strings.SplitSeq(proof, ",") {
		one = strings.TrimSpace(one)
		m := featureProof.FindStringSubmatch(one)
		if m == nil {
			problems = append(problems, fmt.Sprintf("proof %q, want `TestName` or `TestName` in path", one))
			continue
		}
		name, where := m[1], m[2]
		found := slices.ContainsFunc(tests[name], func(file string) bool {
			dir := path.Clean(where)
			return where == "" || file == dir || strings.HasPrefix(file, dir+"/")
		})
		if !found {
			problems = append(problems, strings.TrimSuffix("no test "+name+" in "+where, " in "))
		}
	}
	return problems
}

// featureRefs returns every reference number there is.
func featureRefs() []string {
	var refs []string
	for _, r := range featureRanges {
		for n := range r.last {
			refs = append(refs, fmt.Sprintf("%s%d", r.prefix, n+1))
		}
	}
	return refs
}

// featureTests returns the files that declare each test of the repository, all
// modules included. It parses them itself, so that the test cache notices when
// one changes.
func featureTests(t *testing.T) map[string][]string {
	t.Helper()

	tests := make(map[string][]string)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch base := d.Name(); {
		case d.IsDir():
			if name != "." && (base == "testdata" || base == "vendor" || base == "node_modules" ||
				strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(base, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && isTest(fn) {
				tests[fn.Name.Name] = append(tests[fn.Name.Name], filepath.ToSlash(name))
			}
		}
		return nil
	})
	require.NoError(t, err)
	return tests
}

// isTest reports whether go test runs fn as a test: TestXxx(*testing.T).
func isTest(fn *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(fn.Name.Name, "Test")
	if first, _ := utf8.DecodeRuneInString(rest); !ok || fn.Recv != nil || unicode.IsLower(first) {
		return false
	}
	if params := fn.Type.Params.List; len(params) == 1 && len(params[0].Names) <= 1 && fn.Type.Results == nil {
		star, ok := params[0].Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		typ, ok := star.X.(*ast.SelectorExpr)
		return ok && typ.Sel.Name == "T"
	}
	return false
}
