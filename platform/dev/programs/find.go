package programs

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MinMajor is the oldest major version of PostgreSQL that Toolcrib runs on.
const MinMajor = 15

// inspectTimeout bounds asking one program for its version.
const inspectTimeout = 5 * time.Second

// distributions are where distributions keep PostgreSQL's server programs, which
// most leave out of $PATH.
var distributions = []string{
	"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                   // PostgreSQL's own packages for Fedora and its kin
	"/usr/libexec/postgresql*",                           // Alpine
	"/opt/homebrew/opt/postgresql@*/bin",                 // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",                    // Homebrew on Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
	"/usr/local/pgsql/bin",                               // PostgreSQL's own make install
}

// Installation is the programs of one release of PostgreSQL.
type Installation struct {
	Dir     string // The folder that holds them.
	Version string // Such as "17.2".
	Major   int
}

// Path returns the path of a program, such as "initdb".
func (i Installation) Path(program string) string { return filepath.Join(i.Dir, program) }

// Search is where PostgreSQL is looked for. The zero Search finds nothing.
type Search struct {
	Path       string   // A list of folders like $PATH.
	Folders    []string // Patterns of further ones.
	Downloaded string   // The folder of what was downloaded; see [Download].
	System     []string // What the operating system calls itself, most exact first.
}

// Machine returns where PostgreSQL is looked for on this machine.
func Machine() Search {
	downloaded, err := CacheFolder()
	if err != nil {
		downloaded = "" // Without a home folder nothing was downloaded.
	}
	return Search{Path: os.Getenv("PATH"), Folders: distributions, Downloaded: downloaded, System: systemNames()}
}

// Find returns the installations that are new enough, in the order they are
// preferred. It fails with a [*MissingError] where there is none.
func (s Search) Find(ctx context.Context) ([]Installation, error) {
	all := s.All(ctx)
	fit := slices.Clone(all)
	fit = slices.DeleteFunc(fit, func(i Installation) bool { return i.Major < MinMajor })
	if len(fit) > 0 {
		return fit, nil
	}
	missing := &MissingError{Searched: append([]string{"$PATH"}, s.Folders...), Install: s.InstallCommand()}
	for _, i := range all {
		missing.TooOld = append(missing.TooOld, i.Dir)
	}
	return nil, missing
}

// All returns all installations of any version: those on the path in its order,
// then those of distributions, newest first, then the downloaded one.
func (s Search) All(ctx context.Context) []Installation {
	var found []Installation
	for _, dir := range filepath.SplitList(s.Path) {
		found = inspected(ctx, found, dir)
	}
	var rest []Installation
	for _, pattern := range s.Folders {
		rest = matching(ctx, rest, pattern)
	}
	found = append(found, newestFirst(rest)...)
	if s.Downloaded == "" {
		return found
	}
	return append(found, newestFirst(matching(ctx, nil, filepath.Join(s.Downloaded, "*", "bin")))...)
}

func newestFirst(found []Installation) []Installation {
	slices.SortStableFunc(found, func(a, b Installation) int { return cmp.Compare(b.Major, a.Major) })
	return found
}

func matching(ctx context.Context, found []Installation, pattern string) []Installation {
	folders, err := filepath.Glob(pattern)
	if err != nil {
		return found // A folder with a bracket in its name, where nothing of ours is.
	}
	for _, dir := range folders {
		found = inspected(ctx, found, dir)
	}
	return found
}

// inspected adds the PostgreSQL in dir, if there is one.
func inspected(ctx context.Context, found []Installation, dir string) []Installation {
	if i, err := inspect(ctx, dir); err == nil {
		return append(found, i)
	}
	return found
}

var versionNumber = regexp.MustCompile(`\d+(\.\d+)*`)

// inspect returns the installation of PostgreSQL in dir, whose version the
// program postgres reports.
func inspect(ctx context.Context, dir string) (Installation, error) {
	if !filepath.IsAbs(dir) {
		return Installation{}, os.ErrNotExist
	}
	i := Installation{Dir: dir}
	for _, program := range []string{"postgres", "initdb"} {
		info, err := os.Stat(i.Path(program))
		if err != nil {
			return Installation{}, err
		}
		if info.IsDir() || info.Mode()&0o111 == 0 {
			return Installation{}, os.ErrPermission
		}
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	out, err := outputOf(ctx, aMoment, i.Path("postgres"), "--version")
	if err != nil {
		return Installation{}, err
	}
	i.Version = versionNumber.FindString(string(out))
	major, _, _ := strings.Cut(i.Version, ".")
	i.Major, err = strconv.Atoi(major)
	return i, err
}
