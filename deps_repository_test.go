package toolcrib_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is the source of both modules, tests aside. It is parsed here and
// not by the go command, so that the test cache notices when a file changes.
type repository struct {
	packages map[string][]sourceFile // By directory.
	names    []string                // Of all files, tests included.
	goMod    string
}

type sourceFile struct {
	name    string
	syntax  *ast.File
	imports map[string]string // Paths by the name they have in the file.
}

// readRepository parses every Go file below root that belongs to a module
// that ships.
func readRepository(t *testing.T, root fs.FS) *repository {
	t.Helper()

	r := &repository{packages: make(map[string][]sourceFile)}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || name == "tools"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		r.names = append(r.names, name)
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := readSource(root, name)
		if err == nil {
			r.packages[path.Dir(name)] = append(r.packages[path.Dir(name)], f)
		}
		return err
	})
	require.NoError(t, err)
	goMod, err := fs.ReadFile(root, "go.mod")
	require.NoError(t, err)
	r.goMod = string(goMod)
	return r
}

func readSource(root fs.FS, name string) (sourceFile, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return sourceFile{}, err
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return sourceFile{}, err
	}
	f := sourceFile{name: name, syntax: syntax, imports: make(map[string]string)}
	for _, spec := range syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return f, err
		}
		local := importName(p)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "_" { // Several may be blank.
			local = "_" + p
		}
		f.imports[local] = p
	}
	return f, nil
}

// importName guesses the package name of an import path: its last part that is
// no major version.
func importName(p string) string {
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(p))
	}
	return strings.TrimPrefix(strings.ReplaceAll(base, "-go", ""), "go-")
}

func (r *repository) directories() []string { return slices.Sorted(maps.Keys(r.packages)) }

// imports lists what a directory's package imports.
func (r *repository) imports(dir string) []string {
	var out []string
	for _, f := range r.packages[dir] {
		out = append(out, slices.Collect(maps.Values(f.imports))...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reaching lists the import chains that break a law.
func (r *repository) reaching(l reachLaw) []string {
	var out []string
	for _, dir := range r.directories() {
		if !bound(l.from, dir) || dir == "platform" || strings.HasPrefix(dir, "platform/") {
			continue
		}
		for _, chain := range r.chains(dir) {
			last := chain[len(chain)-1]
			if slices.Contains(l.but, last) {
				continue
			}
			if matchesPath(l.deny, last) ||
				l.only != nil && !matchesPath(l.only, last) && !(slices.Contains(l.only, std) && isStandard(last)) {
				out = append(out, strings.Join(chain, " -> ")+": "+l.why)
			}
		}
	}
	return out
}

// importing lists the packages outside the allowed ones that import a path.
func (r *repository) importing(pattern string, forbidden func(dir string) bool) []string {
	var out []string
	for _, dir := range r.directories() {
		for _, p := range r.imports(dir) {
			if forbidden(dir) && matchesPath([]string{pattern}, p) {
				out = append(out, dir+" -> "+p)
			}
		}
	}
	return out
}

// chains returns one import chain from a directory to each package it reaches
// through packages of this repository.
func (r *repository) chains(from string) [][]string {
	var out [][]string
	seen := map[string]bool{module + "/" + from: true}
	var walk func(chain []string, dir string)
	walk = func(chain []string, dir string) {
		for _, p := range r.imports(dir) {
			if seen[p] {
				continue
			}
			seen[p] = true
			next := append(slices.Clone(chain), p)
			out = append(out, next)
			if below, ok := strings.CutPrefix(p, module+"/"); ok {
				walk(next, below)
			}
		}
	}
	walk([]string{from}, from)
	return out
}

// bound reports whether a law from these patterns binds the package in dir.
func bound(patterns []string, dir string) bool { return matchesPath(patterns, dir) }

func matchesPath(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, below := strings.CutSuffix(pattern, "/...")
		return pattern == "..." || p == prefix || below && strings.HasPrefix(p, prefix+"/")
	})
}

// isStandard reports whether an import path is of the standard library.
func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}
