package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

func write(t *testing.T, file, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// An artifact is made of a file, grows, comes back as it was, and is stopped.
func TestArtifactCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	file := write(t, filepath.Join(s.dir, "quote.js"), "export default () => 1;")
	require.Contains(t, s.run(t, "artifact", "list").err, "no artifacts yet")
	require.Regexp(t, `^artifact quote 1\.0\.0 uploaded, 23 B, sha256 [0-9a-f]{64}\n$`,
		s.ok(t, "artifact", "create", "quote", "--file", file, "--input", "lines:array!", "--input", "tax"))
	require.Contains(t, s.ok(t, "artifact", "upload", "quote", file, "--input", "lines:array!", "--input", "tax"),
		"1.0.0 is there already, with this content")
	write(t, file, "export default () => 2;")
	require.Contains(t, s.ok(t, "artifact", "upload", "quote", file, "--version", "1.1.0"), "quote 1.1.0 uploaded")
	require.Equal(t, cli.ExitConflict, s.run(t, "artifact", "upload", "quote", file, "--version", "1.0.0").code)
	shown := s.ok(t, "artifact", "show", "quote")
	require.Regexp(t, `1\.1\.0 +23 B`, shown)
	require.Regexp(t, `1\.0\.0 +23 B .* lines:array! tax`, shown)
	require.Contains(t, s.ok(t, "artifact", "list"), "javascript")
	require.Equal(t, "export default () => 1;", s.ok(t, "artifact", "download", "quote", "--version", "1.0.0"))
	copied := filepath.Join(s.dir, "copy.js")
	require.Contains(t, s.ok(t, "artifact", "download", "quote", "-o", copied), "1.1.0")
	raw, err := os.ReadFile(copied)
	require.NoError(t, err)
	require.Equal(t, "export default () => 2;", string(raw))
	for _, change := range []struct{ name, status string }{
		{"deprecate", "deprecated"}, {"disable", "disabled"}, {"enable", "active"},
	} {
		require.Equal(t, "artifact quote is "+change.status+"\n", s.ok(t, "artifact", change.name, "quote"))
	}

	require.Contains(t, s.ok(t, "artifact", "create", "label", "--language", "wasm"), "without a version")
	require.Equal(t, cli.ExitNotFound, s.run(t, "artifact", "download", "label").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "artifact", "create", "what").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "artifact", "upload", "label", filepath.Join(s.dir, "none.wasm")).code)
	require.Equal(t, cli.ExitOK, s.pipe(t, "\x00asm\x01\x00\x00\x00", "artifact", "upload", "label", "-").code)
	hostile := write(t, file, "export default () => `\x1b]0;gone\x07`;\n\treturn;\n")
	require.Contains(t, s.ok(t, "artifact", "upload", "quote", hostile), "1.1.1")
	require.Contains(t, s.ok(t, "artifact", "download", "quote"), "\x1b", "what is no terminal has every byte")
	s.columns = 80
	require.Contains(t, s.run(t, "artifact", "download", "label").err, "the program is no text")
	shown = s.ok(t, "artifact", "download", "quote")
	require.NotContains(t, shown, "\x1b", "a program does not write to a terminal what that obeys")
	require.Contains(t, shown, "export default () => `")
}

// The same for scripts.
func TestArtifactCommandsInJSON(t *testing.T) {
	t.Parallel()
	s := setup(t)
	file := write(t, filepath.Join(s.dir, "total.jq"), ".a | add")
	var uploaded v1.UploadedArtifact
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "artifact", "create", "total", "--file", file, "--json")), &uploaded))
	require.Equal(t, "jq", uploaded.Artifact.Language)
	require.True(t, uploaded.Added)
	var shown struct {
		Artifact v1.Artifact          `json:"artifact"`
		Versions []v1.ArtifactVersion `json:"versions"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "artifact", "show", "total", "--json")), &shown))
	require.Equal(t, uploaded.Version.Digest, shown.Versions[0].Digest)
	var content v1.ArtifactContent
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "artifact", "download", "total", "--json")), &content))
	require.Equal(t, ".a | add", content.Source)
}

// A folder with a program and the tool that runs it applies at once; a program
// comes from the definition's folder and nowhere else.
func TestApplyArtifactFiles(t *testing.T) {
	t.Parallel()
	s := setup(t)
	folder := filepath.Join(s.dir, "tools")
	write(t, filepath.Join(folder, "code", "add.js"), "export default ({a}) => a;")
	definition := write(t, filepath.Join(folder, "z-artifact.yaml"),
		"kind: artifact\nslug: add\nfile: code/add.js\ninputs: [{name: a, type: number, required: true}]\n")
	write(
		t, filepath.Join(folder, "a-tool.yaml"),
		"kind: tool\nslug: addUp\ndescription: Adds.\nartifact_id: add\npublish: true\n",
	)
	requireLines(t, s.ok(t, "apply", "-f", folder), "artifact add 1.0.0 created, published",
		"tool addUp 1.0.0 created, published")
	requireLines(t, s.ok(t, "apply", "-f", folder), "artifact add 1.0.0 unchanged", "tool addUp 1.0.0 unchanged")
	require.Equal(t, "export default ({a}) => a;", s.ok(t, "artifact", "download", "add"))

	secret := write(t, filepath.Join(s.dir, "secret.js"), "secret")
	require.NoError(t, os.Symlink(secret, filepath.Join(folder, "link.js")))
	for _, file := range []string{"../secret.js", secret, "link.js", "none.js", "code"} {
		write(t, definition, "kind: artifact\nslug: add\nfile: "+file+"\n")
		got := s.run(t, "apply", "-f", definition)
		require.NotEqual(t, cli.ExitOK, got.code, file)
		require.Contains(t, got.err, "z-artifact.yaml:3:", file)
	}
	write(t, definition, "kind: artifact\nslug: add\nfile: code/add.js\nsource: x\n")
	require.Contains(t, s.run(t, "apply", "-f", definition).err, "expected one of them")
}
