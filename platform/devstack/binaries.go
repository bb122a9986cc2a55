package devstack

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// MinPostgresMajor is the oldest PostgreSQL that Toolcrib runs on.
const MinPostgresMajor = 15

// binaryFolders are where distributions keep PostgreSQL's server programs, which most
// leave out of $PATH.
var binaryFolders = []string{
	"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                   // PostgreSQL's own packages for Fedora and its kin
	"/usr/libexec/postgresql*",                           // Alpine
	"/opt/homebrew/opt/postgresql@*/bin",                 // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",                    // Homebrew on Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
	"/usr/local/pgsql/bin",                               // PostgreSQL's own make install
}

// binaries is one installation of PostgreSQL.
type binaries struct {
	dir   string
	major int
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// installations is where PostgreSQL is looked for.
type installations struct {
	path    string   // A list of folders like $PATH.
	folders []string // Patterns of further ones.
	system  []string // What the operating system calls itself, most exact first.
}

func machineInstallations() installations {
	return installations{path: os.Getenv("PATH"), folders: binaryFolders, system: systemNames()}
}

// find returns the installation of the given major version, or, with major 0,
// the first that is new enough.
func (in installations) find(ctx context.Context, major int) (binaries, error) {
	all := in.all(ctx)
	fit := slices.Clone(all)
	fit = slices.DeleteFunc(fit, func(b binaries) bool { return b.major < MinPostgresMajor })
	if len(fit) == 0 {
		missing := &MissingPostgresError{Searched: append([]string{"$PATH"}, in.folders...), Install: installCommand(in.system)}
		for _, b := range all {
			missing.TooOld = append(missing.TooOld, b.dir)
		}
		return binaries{}, missing
	}
	if major == 0 {
		return fit[0], nil
	}
	if i := slices.IndexFunc(fit, func(b binaries) bool { return b.major == major }); i >= 0 {
		return fit[i], nil
	}
	return binaries{}, &VersionMismatchError{
		Service: "PostgreSQL", Have: strconv.Itoa(major), Want: "PostgreSQL " + strconv.Itoa(fit[0].major),
	}
}

// all returns what is installed: what is on the path in its order, then the
// rest, newest first.
func (in installations) all(ctx context.Context) []binaries {
	var onPath, rest []binaries
	for _, dir := range filepath.SplitList(in.path) {
		if b, ok := inspect(ctx, dir); ok {
			onPath = append(onPath, b)
		}
	}
	for _, pattern := range in.folders {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			continue // The patterns are ours, and well formed.
		}
		for _, dir := range matches {
			if b, ok := inspect(ctx, dir); ok {
				rest = append(rest, b)
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b binaries) int { return cmp.Compare(b.major, a.major) })
	return append(onPath, rest...)
}

var firstNumber = regexp.MustCompile(`\d+`)

// inspect tells the version of the PostgreSQL in dir, if there is one.
func inspect(ctx context.Context, dir string) (binaries, bool) {
	if !filepath.IsAbs(dir) {
		return binaries{}, false
	}
	b := binaries{dir: dir}
	for _, program := range []string{"postgres", "initdb"} {
		if info, err := os.Stat(b.path(program)); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return binaries{}, false
		}
	}
	out, err := exec.CommandContext(ctx, b.path("postgres"), "--version").Output() //nolint:gosec // A program of the machine's own $PATH.
	if err != nil {
		return binaries{}, false
	}
	b.major, err = strconv.Atoi(firstNumber.FindString(string(out)))
	return b, err == nil
}
