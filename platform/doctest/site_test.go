package doctest_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
)

// Addresses as pages have them. Each stands for a free one of this machine, in
// everything that is run.
const (
	shopAddress     = shop.Address
	apiAddress      = "127.0.0.1:8080"
	summaryAddress  = "127.0.0.1:8790"
	temporalAddress = "127.0.0.1:7233"
	postgresAddress = "127.0.0.1:5432"
)

// site is where a reader works: a clone of the repository, with a terminal.
type site struct {
	t         *testing.T
	dir       string
	environ   []string
	superuser string            // URL of PostgreSQL for blocks of SQL.
	addresses map[string]string // As pages have them, and as they are.
	shell     *shell
	commands  []string // All that were run, in the words of the page.
}

func newSite(t *testing.T) *site {
	t.Helper()
	// The account of PostgreSQL has to pass through, which it may not in a TempDir.
	dir, err := os.MkdirTemp("", "toolcrib-doctest-") //nolint:usetesting // See above.
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &site{t: t, dir: dir, addresses: make(map[string]string)}
	s.clone()
	s.environ = append(slices.DeleteFunc(os.Environ(), inherited), "HOME="+dir,
		"PATH="+filepath.Join(dir, "commands")+":"+os.Getenv("PATH"))
	return s
}

// inherited reports whether a variable would lead commands elsewhere.
func inherited(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	for _, prefix := range []string{
		"TOOLCRIB_", "TEMPORAL_", "OTEL_", "OPENAI_", "ANTHROPIC_", "SHOP_", "MAKE", "MFLAGS", "XDG_CONFIG", "BASH_ENV",
		"PG",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "HOME" || name == "PATH" || strings.HasSuffix(strings.ToLower(name), "_proxy")
}

// clone makes what a reader has after cloning and building.
func (s *site) clone() {
	s.t.Helper()
	root, err := filepath.Abs(repository)
	require.NoError(s.t, err)
	self, err := os.Executable()
	require.NoError(s.t, err)
	goCommand, err := exec.LookPath("go")
	require.NoError(s.t, err)
	home, err := os.UserHomeDir()
	require.NoError(s.t, err)
	require.NoError(s.t, os.MkdirAll(filepath.Join(s.dir, "platform"), 0o755))
	for _, name := range []string{"Makefile", "scripts", "platform/go.sum"} {
		require.NoError(s.t, os.Symlink(filepath.Join(root, name), filepath.Join(s.dir, name)))
	}
	stands := func(name string) string {
		return fmt.Sprintf("#!/bin/sh\n%s=%s exec %q \"$@\"\n", commandVariable, name, self)
	}
	for name, script := range map[string]string{
		"platform/bin/toolcrib": stands("toolcrib"),
		"commands/temporal":     stands("temporal"),
		// The build cache is for the repository's own path, so go runs there;
		// the platform's commands are built already.
		"commands/go": fmt.Sprintf("#!/bin/sh\n[ \"$1\" = build ] && exit\ncd %q && HOME=%q exec %q \"$@\"\n", root, home,
			goCommand),
	} {
		s.write(name, script, 0o755)
	}
}

func (s *site) write(name, text string, mode fs.FileMode) {
	s.t.Helper()
	file := filepath.Join(s.dir, filepath.FromSlash(name))
	require.NoError(s.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(s.t, os.WriteFile(file, []byte(text), mode))
}

// translate puts the addresses as they are in the place of those of pages.
func (s *site) translate(text string) string {
	for from, to := range s.addresses {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// examples puts the repository's examples into the clone: definitions, and the
// programs and documents that they are about. Go is run in its own place.
func (s *site) examples() {
	s.t.Helper()
	from := filepath.Join(repository, "examples")
	err := filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) == ".go" {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(repository, file)
		if err != nil {
			return err
		}
		s.write(name, s.translate(string(raw)), 0o644)
		return nil
	})
	require.NoError(s.t, err)
}

// try follows the instruction of a block.
func (s *site) try(t *testing.T, b block) {
	t.Helper()
	switch b.kind {
	case shellKind:
		s.runCommands(t, b)
	case terminalKind:
		s.openTerminal(t, b)
	case yamlKind:
		s.writeDefinition(t, b)
	case goKind:
		requireExcerpt(t, b, "//")
	case sqlKind:
		s.query(t, b)
	}
}

func (s *site) runCommands(t *testing.T, b block) {
	t.Helper()
	commands, err := parseCommands(b)
	require.NoError(t, err)
	for _, c := range commands {
		s.commands = append(s.commands, c.text)
		code, output := s.shell.run(t, s.translate(c.text))
		for i := range c.says {
			c.says[i] = s.translate(c.says[i])
		}
		require.NoError(t, c.check(code, output), "%s", b)
	}
}

// Addresses that a process prints when it is ready.
var readyPatterns = map[string]*regexp.Regexp{
	apiAddress:      regexp.MustCompile(`(?m)(?:^ *API +|msg=serving url=)http://(127\.0\.0\.1:\d+)`),
	temporalAddress: regexp.MustCompile(`(?m)^ *Temporal +(127\.0\.0\.1:\d+)`),
}

// openTerminal starts what goes on, and waits until it says what it should. A
// port that was taken meanwhile is replaced.
func (s *site) openTerminal(t *testing.T, b block) {
	t.Helper()
	commands, err := parseCommands(b)
	require.NoError(t, err)
	var script strings.Builder
	var says []string
	for _, c := range commands {
		script.WriteString(c.text)
		says = append(says, c.says...)
	}
	require.NotEmpty(t, says, "%s: say by what its reader knows that it is ready", b)
	for range 20 {
		s.choosePorts(script.String())
		c := openTerminal(s.t, s.dir, s.environ, s.translate(script.String()))
		var want []string
		for _, line := range says {
			want = append(want, s.translate(line))
		}
		if c.await(t, want) {
			for address, pattern := range readyPatterns {
				if m := pattern.FindStringSubmatch(c.said()); m != nil {
					s.addresses[address] = m[1]
				}
			}
			return
		}
		require.Contains(t, c.said(), "address already in use", "%s: it ended", b)
	}
	require.Fail(t, "no port is free", "%s", b)
}

// choosePorts chooses the ports of commands that do not print where they
// listen.
func (s *site) choosePorts(script string) {
	if strings.Contains(script, "cmd/shop") {
		s.addresses[shopAddress] = freePort()
		s.examples()
	}
	if strings.Contains(script, "examples/thin-tool") {
		s.addresses[summaryAddress] = freePort()
	}
	if strings.Contains(script, "toolcrib serve") {
		s.addresses[apiAddress] = "127.0.0.1:0"
	}
}

// freePort returns an address that is likely to be free, below the ports that systems give to
// connections.
func freePort() string { return fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000)) }

// writeDefinition writes the file of a page's instruction. A file that is in
// the repository is shown on the page as it is.
func (s *site) writeDefinition(t *testing.T, b block) {
	t.Helper()
	name, _, err := b.named("#")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(repository, name)); err == nil {
		requireExcerpt(t, b, "#")
		return
	}
	s.write(name, s.translate(b.text), 0o644)
}

// requireExcerpt holds a block to the file of the repository that it is from.
func requireExcerpt(t *testing.T, b block, comment string) {
	t.Helper()
	name, rest, err := b.named(comment)
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(repository, name))
	require.NoError(t, err, "%s", b)
	require.Contains(t, string(raw), strings.Trim(rest, "\n"), "%s is not what %s says", b, name)
}

func (s *site) query(t *testing.T, b block) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.superuser)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	for statement := range strings.SplitSeq(b.text, ";\n") { // One by one: making a database wants to be alone.
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err, "%s: %s", b, statement)
	}
}
