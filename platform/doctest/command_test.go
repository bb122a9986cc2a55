package doctest_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is one command of a block, with what the page says of its end.
type command struct {
	text string
	code int
	says []string // What its output holds, in this order.
}

const (
	saysMark = "#>"
	codeMark = "exit code "
)

// parseCommands reads the commands of a block. A line that begins with "#>"
// gives the output of the command above it, or its exit code.
func parseCommands(b block) ([]command, error) {
	var out []command
	begun := ""
	for line := range strings.Lines(b.text) {
		said, isSaid := strings.CutPrefix(strings.TrimSpace(line), saysMark)
		switch said = strings.TrimSpace(said); {
		case isSaid && (len(out) == 0 || begun != ""):
			return nil, fmt.Errorf("%s: %q stands behind no command", b, said)
		case isSaid:
			last := &out[len(out)-1]
			code, isCode := strings.CutPrefix(said, codeMark)
			if n, err := strconv.Atoi(code); isCode && err == nil {
				last.code = n
			} else {
				last.says = append(last.says, said)
			}
		case begun == "" && strings.TrimSpace(line) == "":
		default:
			if begun += line; complete(begun) {
				out, begun = append(out, command{text: begun}), ""
			}
		}
	}
	if begun != "" {
		return nil, fmt.Errorf("%s: %q is not complete", b, begun)
	}
	return out, nil
}

// complete reports whether a text is whole commands for the shell.
func complete(text string) bool {
	return !strings.HasSuffix(strings.TrimRight(text, "\n"), "\\") && exec.Command("bash", "-n", "-c", text).Run() == nil
}

// check returns what is wrong with how the command ended.
func (c command) check(code int, output string) error {
	var faults []error
	if code != c.code {
		faults = append(faults, fmt.Errorf("exit code %d, want %d", code, c.code))
	}
	if missing, ok := missingIn(output, c.says); ok {
		faults = append(faults, fmt.Errorf("its output lacks, in this order: %s", missing))
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s%w\n%s", c.text, errors.Join(faults...), output)
}

// missingIn returns the first of the lines that an output lacks, after those
// before it. Three dots stand for anything within a line, and one space for any
// number.
func missingIn(output string, says []string) (line string, missing bool) {
	lines := strings.Split(output, "\n")
	for _, want := range says {
		for len(lines) > 0 && !matches(lines[0], want) {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			return want, true
		}
	}
	return "", false
}

func matches(line, want string) bool {
	line = strings.Join(strings.Fields(line), " ")
	for part := range strings.SplitSeq(strings.Join(strings.Fields(want), " "), "…") {
		_, rest, found := strings.Cut(line, strings.TrimSpace(part))
		if !found {
			return false
		}
		line = rest
	}
	return true
}

// What pages say of commands is read as they mean it, and held to.
func TestWhatPagesSayOfCommands(t *testing.T) {
	t.Parallel()

	commands, err := parseCommands(block{
		page: "p", text: "export A=1\n\necho \"one\ntwo\" \\\n  three\n#> one\n#> two … ee\nfalse\n#> exit code 1\n",
	})
	require.NoError(t, err)
	require.Equal(t, []command{
		{text: "export A=1\n"},
		{text: "echo \"one\ntwo\" \\\n  three\n", says: []string{"one", "two … ee"}},
		{text: "false\n", code: 1},
	}, commands)
	echo := commands[1]
	require.NoError(t, echo.check(0, "one\ntwo   three\n"))
	require.ErrorContains(t, echo.check(1, "one\ntwo three\n"), "exit code 1, want 0")
	require.ErrorContains(t, echo.check(0, "two three\none\n"), "lacks, in this order: two … ee")
	require.ErrorContains(t, echo.check(0, "one\ntwo\nthree\n"), "lacks")
	_, err = parseCommands(block{page: "p", text: "#> one\n"})
	require.ErrorContains(t, err, "behind no command")
	_, err = parseCommands(block{page: "p", text: "echo 'one\n"})
	require.ErrorContains(t, err, "not complete")
}
