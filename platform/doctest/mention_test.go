package doctest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/cli/sandboxcmd"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
)

// What a mention of a command is made of.
var (
	mentionPattern = regexp.MustCompile("`toolcrib ([^`]+)`")
	commandWord    = regexp.MustCompile(`^[a-z][a-z-]*$`)
	flagWord       = regexp.MustCompile(`^--[a-z][a-z-]*`)
)

// Commands and flags that a sentence mentions exist, on every page except the
// one about what is not built yet.
func TestMentionedCommandsAreThere(t *testing.T) {
	t.Parallel()

	pages := slices.DeleteFunc(findPages(t), func(page string) bool { return page == "features.md" })
	pages = append(pages, "../README.md")
	found := 0
	for _, page := range pages {
		raw, err := os.ReadFile(filepath.Join(repository, "docs", filepath.FromSlash(page)))
		require.NoError(t, err)
		for _, m := range mentionPattern.FindAllStringSubmatch(string(raw), -1) {
			found++
			require.Empty(t, mistakenMention(t, m[1]), "%s mentions toolcrib %s", page, m[1])
		}
	}
	require.NotZero(t, found)

	require.Empty(t, mistakenMention(t, "tool call getOrder --arg a=b"))
	require.Contains(t, mistakenMention(t, "tool ring getOrder"), "no command")
	require.Contains(t, mistakenMention(t, "tool call getOrder --loudly"), "no flag --loudly")
}

// mistakenMention returns what is wrong with a command that is mentioned.
func mistakenMention(t *testing.T, text string) string {
	t.Helper()
	words := strings.Fields(text)
	end := slices.IndexFunc(words, func(word string) bool { return !commandWord.MatchString(word) })
	if end < 0 {
		end = len(words)
	}
	path := words[:end]
	var out, errs bytes.Buffer
	env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs}
	args := append(slices.Clone(path), "--help")
	if path[0] == "help" {
		args = path
	}
	code := cli.Run(t.Context(), env, args, commands.New, operator.New, devcmd.New, sandboxcmd.New)
	if code != cli.ExitOK {
		return "no command " + strings.Join(path, " ") + ": " + errs.String()
	}
	if path[0] != "help" && !strings.Contains(out.String(), "toolcrib "+strings.Join(path, " ")) {
		return "no command " + strings.Join(path, " ") // The help is that of another.
	}
	for _, word := range words[end:] {
		if name := flagWord.FindString(word); name != "" && !strings.Contains(out.String(), name+" ") {
			return "no flag " + name
		}
	}
	return ""
}
