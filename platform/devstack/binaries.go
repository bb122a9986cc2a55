package devstack

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
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

// findBinaries returns the installation of the given major version, or, with
// major 0, the first one new enough: $PATH before the distribution's folders,
// and of those the newest first.
func findBinaries(ctx context.Context, major int) (binaries, error) {
	missing := &MissingPostgresError{Searched: append([]string{"$PATH"}, binaryFolders...), Install: installCommand(readOSRelease())}
	var found []binaries
	for _, dir := range candidateFolders() {
		b, ok := inspect(ctx, dir)
		switch {
		case !ok:
		case b.major < MinPostgresMajor:
			missing.TooOld = append(missing.TooOld, b.dir)
		default:
			found = append(found, b)
		}
	}
	if len(found) == 0 {
		return binaries{}, missing
	}
	if i := slices.IndexFunc(found, func(b binaries) bool { return b.major == major }); i >= 0 {
		return found[i], nil
	}
	if major != 0 {
		return binaries{}, &VersionMismatchError{
			Service: "PostgreSQL", Have: strconv.Itoa(major), Want: "PostgreSQL " + strconv.Itoa(found[0].major),
		}
	}
	return found[0], nil
}

func candidateFolders() []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	var installed []string
	for _, pattern := range binaryFolders {
		matches, err := filepath.Glob(pattern)
		if err == nil {
			installed = append(installed, matches...)
		}
	}
	slices.SortStableFunc(installed, func(a, b string) int {
		return cmp.Compare(numberIn(b), numberIn(a))
	})
	return append(dirs, installed...)
}

var firstNumber = regexp.MustCompile(`\d+`)

func numberIn(s string) int {
	n, err := strconv.Atoi(firstNumber.FindString(s))
	if err != nil {
		return 0
	}
	return n
}

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
	b.major = numberIn(string(out))
	return b, true
}

// readOSRelease returns the ID and ID_LIKE of this system.
func readOSRelease() []string {
	raw, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return []string{runtime.GOOS}
	}
	var ids []string
	for line := range strings.Lines(string(raw)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key == "ID" || key == "ID_LIKE" {
			ids = append(ids, strings.Fields(strings.Trim(value, `"'`))...)
		}
	}
	return ids
}

// installCommand returns the command that installs PostgreSQL on the first
// system of ids that it knows.
func installCommand(ids []string) string {
	for _, id := range ids {
		switch id {
		case "debian", "ubuntu":
			return "sudo apt-get update && sudo apt-get install -y postgresql"
		case "fedora", "rhel", "centos":
			return "sudo dnf install -y postgresql-server"
		case "alpine":
			return "sudo apk add postgresql"
		case "arch":
			return "sudo pacman -S --noconfirm postgresql"
		case "opensuse", "suse":
			return "sudo zypper install -y postgresql-server"
		case "darwin":
			return "brew install postgresql@17"
		}
	}
	return "your system's package manager, package postgresql or postgresql-server"
}
