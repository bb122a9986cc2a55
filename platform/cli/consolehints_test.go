package cli_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// Commands that pages of the console show exist, with their flags.
func TestTheConsoleShowsCommandsThatExist(t *testing.T) {
	t.Parallel()

	line := regexp.MustCompile(`(?:command|text)=(?:"|\{` + "`" + `)(toolcrib [^"` + "`" + `]+)`)
	part := regexp.MustCompile(`words\("toolcrib"((?:, "[^"]+")+)`)
	pages, found := os.DirFS("../console/web/src"), 0
	require.NoError(t, fs.WalkDir(pages, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".tsx") {
			return err
		}
		raw, err := fs.ReadFile(pages, path)
		if err != nil {
			return err
		}
		var shown [][]string
		for _, m := range line.FindAllStringSubmatch(string(raw), -1) {
			shown = append(shown, strings.Fields(m[1])[1:])
		}
		for _, m := range part.FindAllStringSubmatch(string(raw), -1) {
			shown = append(shown, strings.Split(strings.ReplaceAll(strings.TrimPrefix(m[1], ", "), `"`, ""), ", "))
		}
		for _, args := range shown {
			found++
			command, rest, err := root(cli.Env{}).Find(args)
			require.NoError(t, err, "%s: %v", path, args)
			if len(args) > 1 { // Where what follows is chosen by the page, the group alone is written out.
				require.False(t, command.HasSubCommands(), "%s: %v ends at %q", path, args, command.CommandPath())
			}
			names := map[string]bool{}
			add := func(f *pflag.Flag) { names["--"+f.Name], names["-"+f.Shorthand] = true, true }
			command.Flags().VisitAll(add)
			command.InheritedFlags().VisitAll(add)
			for _, arg := range rest {
				if strings.HasPrefix(arg, "-") {
					require.True(t, names[strings.Split(arg, "=")[0]], "%s: %v has no flag %s", path, args, arg)
				}
			}
			if strings.HasPrefix(command.Use, "apply ") {
				require.Contains(t, rest, "-f", "%s: %v", path, args)
			}
		}
		return nil
	}))
	require.Greater(t, found, 40)
}
