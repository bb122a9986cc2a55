package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// away takes server and key out of a shell's environment, and gives it a home.
func (s *shell) away() (server, key string) {
	server, key = s.vars[cli.ServerVariable], s.vars[cli.KeyVariable]
	s.vars = map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.dir, "settings")}
	return server, key
}

func (s *shell) settings() string { return filepath.Join(s.dir, "settings", "toolcrib") }

// A server and its key are kept under a name, for their owner's eyes only.
func TestContexts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	server, key := s.away()
	require.Contains(t, s.run(t, "context", "list").err, "toolcrib context add NAME --server URL")

	got := s.pipe(t, key+"\n", "context", "add", "prod", "--server", server, "--key-stdin")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Equal(t, "context prod is "+server+", and is used from now on\n", got.out)
	info, err := os.Stat(filepath.Join(s.settings(), "keys", "prod"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	config, err := os.ReadFile(filepath.Join(s.settings(), "config.yaml"))
	require.NoError(t, err)
	require.NotContains(t, string(config), key)
	require.Equal(t, cli.ExitOK, s.run(t, "tool", "list").code)

	s.ok(t, "context", "add", "other", "--server", "http://127.0.0.1:1", "--key-env", "OTHER_KEY")
	require.Equal(t, cli.ExitOK, s.run(t, "tool", "list").code, "the first context is used until another is")
	s.vars["OTHER_KEY"] = key
	require.Equal(t, cli.ExitUnavailable, s.run(t, "tool", "list", "--context", "other").code)
	s.ok(t, "context", "use", "other")
	require.Equal(t, cli.ExitUnavailable, s.run(t, "tool", "list").code)
	require.Equal(t, "USED  NAME   SERVER"+strings.Repeat(" ", len(server)-6)+"  KEY\n"+
		fmt.Sprintf("*     other  %-*s  the variable OTHER_KEY\n", len(server), "http://127.0.0.1:1")+
		"      prod   "+server+"  kept\n", s.ok(t, "context", "list"))
	s.vars[cli.ContextVariable] = "prod"
	require.Equal(t, cli.ExitOK, s.run(t, "tool", "list").code)
	delete(s.vars, cli.ContextVariable)

	for _, all := range [][]string{
		{"context", "show"}, {"context", "list"}, {"context", "show", "prod", "--json"}, {"context", "list", "--json"},
	} {
		require.NotContains(t, s.ok(t, all...), key)
	}
	s.ok(t, "context", "remove", "prod")
	require.NoFileExists(t, filepath.Join(s.settings(), "keys", "prod"))
	got = s.run(t, "tool", "list", "--context", "prod")
	require.Equal(t, cli.ExitNotFound, got.code)
	require.Contains(t, got.err, `there is no context "prod"`)
	require.Contains(t, s.run(t, "context", "use", "othr").err, "did you mean other?")
	s.ok(t, "context", "use", "local")
	require.NotContains(t, s.ok(t, "context", "list"), "*")
}

// Settings are taken in the order flag, environment, context, data folder, and
// the source of each value is shown.
func TestConnectionPrecedence(t *testing.T) {
	t.Parallel()
	s := &shell{dir: t.TempDir()}
	s.vars = map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.dir, "settings")}
	show := func(args ...string) (server, serverFrom, keyFrom string) {
		var shown struct {
			Server struct{ Value, From string }
			Key    struct{ From string }
		}
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, append([]string{"context", "show", "--json"}, args...)...)), &shown))
		return shown.Server.Value, shown.Server.From, shown.Key.From
	}
	want := func(server, serverFrom, keyFrom string, args ...string) {
		t.Helper()
		gotServer, gotServerFrom, gotKeyFrom := show(args...)
		require.Equal(t, server, gotServer)
		require.Contains(t, gotServerFrom, serverFrom)
		require.Contains(t, gotKeyFrom, keyFrom)
		if keyFrom == "" {
			require.Empty(t, gotKeyFrom)
		}
	}
	want("http://127.0.0.1:8080", "default", "")
	s.write(t, ".toolcrib/server", "http://127.0.0.1:7\n")
	s.write(t, ".toolcrib/key", "tck_dev\n")
	require.NoError(t, os.Chmod(filepath.Join(s.dir, ".toolcrib"), 0o700))
	want("http://127.0.0.1:7", "data folder", "data folder")
	s.ok(t, "context", "add", "a", "--server", "https://a.example", "--key", "tck_a")
	s.ok(t, "context", "add", "b", "--server", "https://b.example", "--key", "tck_b")
	want("https://a.example", "context a (in use)", "context a (in use), the file")
	s.vars[cli.ContextVariable] = "b"
	want("https://b.example", "context b (TOOLCRIB_CONTEXT)", "context b")
	s.vars[cli.ServerVariable] = "https://env.example"
	want("https://env.example", "TOOLCRIB_SERVER", "") // No key of a context goes to another server.
	s.vars[cli.KeyVariable] = "tck_env"
	want("https://env.example", "TOOLCRIB_SERVER", "TOOLCRIB_KEY")
	want("https://a.example", "context a (--context)", "context a (--context)", "--context", "a")
	want("https://flag.example", "--server", "TOOLCRIB_KEY", "--server", "https://flag.example", "--context", "a")
	want("https://a.example", "context a", "--key", "--key", "tck_flag", "--context", "a")
	want("http://127.0.0.1:7", "data folder", "data folder", "--context", "local")
	want("http://127.0.0.1:7", "(--data)", "(--data)", "--data", filepath.Join(s.dir, ".toolcrib"))
	delete(s.vars, cli.KeyVariable)
	// No key of a data folder goes to another server, however the two are named.
	folder := filepath.Join(s.dir, ".toolcrib")
	want("https://flag.example", "--server", "", "--server", "https://flag.example", "--data", folder)
	want("http://127.0.0.1:7/", "--server", "(--data)", "--server", "http://127.0.0.1:7/", "--data", folder)
	want("https://flag.example", "--server", "", "--server", "https://flag.example", "--context", "local")
	s.vars[cli.DataVariable] = folder
	want("https://flag.example", "--server", "", "--server", "https://flag.example")
	want("https://env.example", "TOOLCRIB_SERVER", "")
	delete(s.vars, cli.DataVariable)
	// What is merely found goes nowhere else.
	want("https://flag.example", "--server", "", "--server", "https://flag.example")
	require.Equal(t, cli.ExitUsage, s.run(t, "context", "show", "--context", "a", "--data", "x").code)
}

// The reserved context approver is the stack of toolcrib dev with its other key, for single
// commands; a context of that name that was there before stays the user's.
func TestApproverContext(t *testing.T) {
	t.Parallel()
	s := &shell{dir: t.TempDir()}
	settings := s.write(t, "contexts.yaml", "")
	s.vars = map[string]string{cli.ConfigVariable: settings}
	server := func(args ...string) string {
		var shown struct {
			Server struct{ Value string }
			Key    struct{ Set bool }
		}
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, append([]string{"context", "show", "--json"}, args...)...)), &shown))
		require.True(t, shown.Key.Set)
		return shown.Server.Value
	}
	none := s.run(t, "context", "show", "--context", "approver")
	require.Equal(t, cli.ExitUsage, none.code)
	require.Contains(t, none.err, "no data folder of toolcrib dev with an approver's key")

	s.write(t, ".toolcrib/server", "http://127.0.0.1:7\n")
	s.write(t, ".toolcrib/key", "tck_dev\n")
	s.write(t, ".toolcrib/approver-key", "tck_approver\n")
	folder := filepath.Join(s.dir, ".toolcrib")
	require.NoError(t, os.Chmod(folder, 0o700))
	require.Equal(t, "http://127.0.0.1:7", server("--context", "approver"))
	require.Equal(t, "http://127.0.0.1:7", server("--context", "approver", "--data", folder), "as toolcrib dev prints it")

	used := s.run(t, "context", "use", "approver")
	require.Equal(t, cli.ExitUsage, used.code)
	require.Contains(t, used.err, "give each --context approver")
	added := s.run(t, "context", "add", "approver", "--server", "https://x", "--key", "tck_x")
	require.Contains(t, added.err, "choose another name")

	s.write(t, "own-key", "tck_own\n")
	s.write(t, "contexts.yaml", "contexts:\n  approver:\n    server: https://own.example\n    key_file: own-key\n")
	require.Equal(t, "https://own.example", server("--context", "approver"))
	require.Equal(t, "http://127.0.0.1:7", server("--context", "approver", "--data", folder))
}

// A broken file of contexts is reported with its line, and fails only commands
// that need it.
func TestBrokenContexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"yaml":    {"current: a\ncontexts:\n\ta: {}\n", "FILE:3:1: malformed YAML"},
		"field":   {"contexts:\n  a:\n    server: http://a\n    token: x\n", "FILE:4:5: unknown field \"token\""},
		"type":    {"contexts:\n  a:\n    server: [x]\n", "FILE:3:5: this is not of the type that is expected here"},
		"server":  {"contexts:\n  a:\n    server: nowhere\n", "FILE:3:5: the server \"nowhere\" is no http or https URL"},
		"current": {"current: b\n", "FILE:1:1: there is no context \"b\""},
		"name":    {"contexts:\n  ../x:\n    server: http://a\n", "FILE:2:3: \"../x\" is no name of a context"},
		"both": {
			"contexts:\n  a:\n    server: http://a\n    key_env: A\n    key_file: b\n",
			"FILE:4:5: give one of key_file and key_env",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shell{dir: t.TempDir()}
			file := s.write(t, "contexts.yaml", c.text)
			s.vars = map[string]string{cli.ConfigVariable: file}
			for _, command := range [][]string{{"tool", "list"}, {"context", "list"}, {"context", "use", "local"}} {
				got := s.run(t, command...)
				require.Equal(t, cli.ExitInvalid, got.code, got.err)
				require.Contains(t, strings.ReplaceAll(got.err, file, "FILE"), c.want)
			}
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, c.text, string(after))
			got := s.run(t, "tool", "list", "--server", "http://127.0.0.1:1", "--key", "tck_x")
			require.Equal(t, cli.ExitUnavailable, got.code, got.err)
		})
	}
}

func TestContextKeys(t *testing.T) {
	t.Parallel()
	s := &shell{dir: t.TempDir()}
	s.vars = map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.dir, "settings")}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"a"}, "needs a --server"},
		{[]string{"a", "--server", "ftp://x"}, "is no http or https URL"},
		{[]string{"a", "--server", "https://user:pass@x"}, "is no http or https URL"},
		{[]string{"../a", "--server", "https://x"}, "is no name of a context"},
		{[]string{"local", "--server", "https://x"}, "choose another name"},
		{[]string{"a", "--server", "https://x", "--key-env", "A", "--key-stdin"}, "give one of"},
		{[]string{"a", "--server", "https://x", "--key-stdin"}, "holds no key"},
	} {
		got := s.run(t, append([]string{"context", "add"}, c.args...)...)
		require.Equal(t, cli.ExitUsage, got.code, c.args)
		require.Contains(t, got.err, c.says)
	}
	s.ok(t, "context", "add", "env", "--server", "http://127.0.0.1:1", "--key-env", "NOT_SET")
	got := s.run(t, "tool", "list")
	require.Equal(t, cli.ExitUsage, got.code)
	require.Contains(t, got.err, "the variable NOT_SET, which is not set")

	s.ok(t, "context", "add", "kept", "--server", "http://127.0.0.1:1", "--key", "tck_planted", "--use")
	require.NoError(t, os.Chmod(filepath.Join(s.settings(), "keys", "kept"), 0o644))
	got = s.run(t, "tool", "list")
	require.Equal(t, cli.ExitUsage, got.code)
	require.Contains(t, got.err, "chmod 600")
	require.NotContains(t, got.err, "planted")

	s.ok(t, "context", "add", "file", "--server", "http://127.0.0.1:1", "--key-file",
		s.write(t, "mounted", "tck_mounted\n"), "--use")
	require.Equal(t, cli.ExitUnavailable, s.run(t, "tool", "list").code)
	require.NoError(t, os.Remove(filepath.Join(s.dir, "mounted")))
	require.Contains(t, s.run(t, "tool", "list").err, "cannot be read")
	s.vars = nil
	require.Contains(t, s.run(t, "context", "add", "a", "--server", "https://x").err,
		"set HOME, XDG_CONFIG_HOME or TOOLCRIB_CONFIG")
}

// Commands that change the contexts at once lose nothing.
func TestContextsAtOnce(t *testing.T) {
	t.Parallel()
	s := &shell{dir: t.TempDir()}
	s.vars = map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.dir, "settings")}
	const many = 20
	var added sync.WaitGroup
	codes := make([]ended, many)
	for i := range many {
		added.Go(func() {
			codes[i] = s.run(t, "context", "add", fmt.Sprintf("c%02d", i), "--server", "https://x.example", "--key",
				fmt.Sprintf("tck_%d", i))
		})
	}
	added.Wait()
	var listed struct {
		Items []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "context", "list", "--json")), &listed))
	require.Len(t, listed.Items, many)
	for i, got := range codes {
		require.Equal(t, cli.ExitOK, got.code, got.err)
		key, err := os.ReadFile(filepath.Join(s.settings(), "keys", fmt.Sprintf("c%02d", i)))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("tck_%d\n", i), string(key))
	}
	left, err := filepath.Glob(filepath.Join(s.settings(), ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
