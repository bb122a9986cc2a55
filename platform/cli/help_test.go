package cli_test

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
)

// tree lists a command with all below it.
func tree(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, child := range cmd.Commands() {
		all = append(all, tree(child)...)
	}
	return all
}

// root returns the tree of commands that need no Temporal server of their own.
func root(env cli.Env) *cobra.Command { return cli.Root(env, commands.New, operator.New) }

func quiet() *cobra.Command {
	return root(cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Version: "test"})
}

// Help lists every command under a heading.
func TestEveryCommandHasAHeading(t *testing.T) {
	t.Parallel()
	for _, cmd := range quiet().Commands() {
		if cmd.IsAvailableCommand() {
			require.NotEmpty(t, cmd.GroupID, cmd.Name())
		}
	}
	s := setup(t)
	help := s.ok(t)
	require.Less(t, strings.Index(help, "\nBegin:\n"), strings.Index(help, "\nOperate servers:\n"), help)
	require.NotContains(t, help, "Additional Commands", "with that for help")
	wrong := s.run(t, "toool", "list")
	require.Equal(t, cli.ExitUsage, wrong.code)
	require.Equal(t, "toolcrib: there is no command \"toool\": did you mean tool?\n", wrong.err)
}

// What is not found is listed by a command, which the error names.
func TestNotFoundNamesTheList(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, args := range [][]string{
		{"run", "show", "01987a3c-0000-7000-8000-000000000001"},
		{"space", "read", "nowhere"},
		{"webhook", "show", "none"},
		{"profile", "delete", "none"},
		{"toolset", "show", "none"},
		{"approvals", "show", "01987a3c-0000-7000-8000-000000000001"},
		{"view", "show", "01987a3c-0000-7000-8000-000000000001"},
		{"schedule", "show", "none"},
	} {
		ended := s.run(t, args...)
		require.Equal(t, cli.ExitNotFound, ended.code, args)
		require.Contains(t, ended.err, "\ntoolcrib "+args[0]+" list shows those there are.\n")
		found, _, err := quiet().Find([]string{args[0], "list"})
		require.NoError(t, err)
		require.Equal(t, "toolcrib "+args[0]+" list", found.CommandPath())
	}
}

// Every command says what it is for, at length, and with examples that parse.
func TestEveryCommandHelps(t *testing.T) {
	t.Parallel()
	seen, examples := 0, 0
	for _, cmd := range tree(quiet()) {
		path := cmd.CommandPath()
		seen++
		require.NotEmpty(t, cmd.Short, path)
		require.NotEqual(t, ".", cmd.Short[len(cmd.Short)-1:], path)
		require.Greater(t, len(cmd.Long), 20, path)
		if !cmd.Runnable() { // A topic.
			continue
		}
		require.NotEmpty(t, cmd.Example, path)
		for line := range strings.Lines(cmd.Example) {
			require.True(t, strings.HasPrefix(line, "  ") && len(line) < 120, "%s: %q", path, line)
			args := exampleArgs(t, line)
			root := quiet()
			found, rest, err := root.Find(cli.SeparateQuery(root, args))
			require.NoError(t, err, line)
			require.NoError(t, found.ParseFlags(rest), line)
			require.NoError(t, found.ValidateArgs(found.Flags().Args()), line)
			if !cmd.HasSubCommands() {
				require.Equal(t, path, found.CommandPath(), line)
			}
			examples++
		}
	}
	require.Greater(t, seen, 40)
	require.Greater(t, examples, 60)
}

// exampleArgs returns the arguments of toolcrib in a line for a shell.
func exampleArgs(t *testing.T, line string) []string {
	t.Helper()
	_, rest, found := strings.Cut(line, "toolcrib ")
	require.True(t, found, line)
	var args []string
	var word strings.Builder
	var quote rune
	inWord := false
	flush := func() {
		if inWord {
			args = append(args, word.String())
		}
		word.Reset()
		inWord = false
	}
	for _, r := range strings.TrimSpace(rest) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ':
			flush()
		case strings.ContainsRune("|>)", r):
			flush()
			return args
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	require.Zero(t, quote, line)
	flush()
	return args
}

// A mistake in an example is noticed: the test above can fail.
func TestExampleArgs(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"run", "start", "desk", "--input", "Where is it?"},
		exampleArgs(t, `  x | toolcrib run start desk --input "Where is it?" | y`))
	root := quiet()
	found, rest, err := root.Find(exampleArgs(t, "  toolcrib tool list --colour red"))
	require.NoError(t, err)
	require.Error(t, found.ParseFlags(rest))
}
