package toolcrib_test

import (
	"fmt"
	"slices"
	"strings"
)

// requirements: the list of what may be required is short, and go.mod requires
// nothing directly that is not on it.
func requirements(r *repository) []string {
	var out []string
	if n := len(directRequirements); n > maxRequirements {
		out = append(out, fmt.Sprintf("%d direct requirements are listed, at most %d may be", n, maxRequirements))
	}
	for _, m := range r.required(true) {
		if !slices.Contains(directRequirements, m) && !slices.Contains(testLibraries, m) {
			out = append(out, "go.mod requires "+m+", which is not on the list in deps_test.go")
		}
	}
	return out
}

// importedRequirements: what the root module's code imports is on the list,
// whatever go.mod calls it.
func importedRequirements(r *repository) []string {
	known := r.required(false)
	var out []string
	for _, dir := range r.directories() {
		if dir == "platform" || strings.HasPrefix(dir, "platform/") {
			continue
		}
		for _, p := range r.imports(dir) {
			if isStandard(p) || matchesPath([]string{module + "/..."}, p) {
				continue
			}
			m := moduleOf(p, known)
			if !slices.Contains(directRequirements, m) && !slices.Contains(testLibraries, m) {
				out = append(out, fmt.Sprintf("%s imports %s of module %q, which is not on the list in deps_test.go", dir, p, m))
			}
		}
	}
	return out
}

// moduleOf returns the module with the longest path that holds a package.
func moduleOf(p string, modules []string) string {
	longest := ""
	for _, m := range modules {
		if len(m) > len(longest) && matchesPath([]string{m + "/..."}, p) {
			longest = m
		}
	}
	return longest
}

// required lists the modules that go.mod requires, or only the direct ones.
func (r *repository) required(direct bool) []string {
	var out []string
	inBlock := false
	for line := range strings.Lines(r.goMod) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "require ("):
			inBlock = true
			continue
		case line == ")":
			inBlock = false
			continue
		case strings.HasPrefix(line, "require "):
			line = strings.TrimPrefix(line, "require ")
		case !inBlock:
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 2 || direct && strings.Contains(line, "// indirect") {
			continue
		}
		out = append(out, fields[0])
	}
	return out
}
