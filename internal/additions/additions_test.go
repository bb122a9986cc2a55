// Package additions proves the table "Where do I add…" of ARCHITECTURE.md: it adds
// one thing of each kind, and runs tests of what was added.
package additions

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// addition is what the table "Where do I add…" of ARCHITECTURE.md says of one
// thing: new files, and one line in a file that exists.
type addition struct {
	files    map[string]string // New ones, by path.
	file     string            // The file that gets a line.
	after    string            // The line that it stands behind.
	line     string
	imports  []string // What the line needs.
	generate bool     // Run sqlc on queries and migrations.
	tests    []string // Packages, with a file of test among the new ones.
}

// TestAdditionsTouchOnePlace adds an implementation type and a built-in, as the
// table says, and runs tests of what was added, with the repository as it is
// otherwise: an overlay of files, nothing is written.
func TestAdditionsTouchOnePlace(t *testing.T) {
	t.Parallel()

	steps, err := os.ReadDir(filepath.Join("..", "..", "store", "migrations"))
	require.NoError(t, err)
	next := fmt.Sprintf("store/migrations/%03d", len(steps)/2+1)
	for name, a := range map[string]addition{
		"Type": {
			files:   map[string]string{"executors/shout/type.go": shoutType, "worker/shout_added_test.go": shoutTest},
			file:    "worker/types.go",
			after:   "\t\tnested.Composition(),",
			line:    "\t\tshout.Type(),",
			imports: []string{`"github.com/toolcrib/toolcrib/executors/shout"`},
			tests:   []string{"./worker"},
		},
		"Builtin": {
			files: map[string]string{"builtins/reverse_text.go": reverseBuiltin, "builtins/reverse_added_test.go": reverseTest},
			file:  "builtins/catalog.go",
			after: "\t\t{true, datetimeUtils(cfg.clock())},",
			line:  "\t\t{true, reverseText()},",
			tests: []string{"./builtins"},
		},
		"Column": {
			files: map[string]string{
				next + "_artifact_note.up.sql": "alter table artifacts add column note text not null default '';\n" +
					"grant update (note) on artifacts to toolcrib_app;\n",
				next + "_artifact_note.down.sql": "alter table artifacts drop column note;\n",
				"store/note_added_test.go":       noteTest,
			},
			file:     "store/queries/artifacts.sql",
			line:     noteQuery,
			tests:    []string{"./store"},
			generate: true,
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); a.run(t) })
	}
}

func (a addition) run(t *testing.T) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	dir := t.TempDir()
	overlay := map[string]string{}
	put := func(name, text string) {
		at := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
		overlay[filepath.Join(root, name)] = at
	}
	for name, text := range a.files {
		put(name, text)
	}
	text, err := os.ReadFile(filepath.Join(root, a.file))
	require.NoError(t, err)
	changed := string(text) + a.line // At the end, where no line is named.
	if a.after != "" {
		require.Contains(t, changed, a.after+"\n")
		changed = strings.Replace(string(text), a.after+"\n", a.after+"\n"+a.line+"\n", 1)
	}
	put(a.file, changed)
	for _, imported := range a.imports {
		put(a.file, strings.Replace(changed, "import (\n", "import (\n\t"+imported+"\n", 1))
	}
	if a.generate {
		generate(t, root, dir)
		made := filepath.Join(dir, "store", "internal", "db")
		files, err := os.ReadDir(made)
		require.NoError(t, err)
		for _, f := range files {
			overlay[filepath.Join(root, "store", "internal", "db", f.Name())] = filepath.Join(made, f.Name())
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	at := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(at, list, 0o600))
	args := append([]string{"test", "-vet=off", "-overlay", at, "-run", "Added", "-count", "1"}, a.tests...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "no tests to run")
}

// generate runs sqlc on the queries and migrations of root with those of dir over
// them, and leaves the code in dir.
func generate(t *testing.T, root, dir string) {
	t.Helper()
	for _, below := range []string{"store/queries", "store/migrations"} {
		files, err := os.ReadDir(filepath.Join(root, below))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, below), 0o700))
		for _, f := range files {
			to := filepath.Join(dir, below, f.Name())
			if _, err := os.Stat(to); err == nil {
				continue
			}
			require.NoError(t, os.Symlink(filepath.Join(root, below, f.Name()), to))
		}
	}
	config, err := os.ReadFile(filepath.Join(root, "sqlc.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sqlc.yaml"), config, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/go.mod", "sqlc", "generate", "-f",
		filepath.Join(dir, "sqlc.yaml"))
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
