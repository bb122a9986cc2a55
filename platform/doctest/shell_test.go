package doctest_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long something that must happen may take on a busy machine.
const patience = 3 * time.Minute

// shell is the terminal of a page: what a command exports, the next one finds.
type shell struct {
	stdin io.Writer
	ends  chan int // Exit codes, one for each command.
	dir   string   // Of texts and outputs.
}

// newShell starts a shell in a folder, which ends with the test.
func newShell(t *testing.T, dir string, environ []string) *shell {
	t.Helper()
	status, statusIn, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-s")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, environ, []*os.File{statusIn}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, statusIn.Close())
	s := &shell{stdin: stdin, ends: make(chan int), dir: t.TempDir()}
	go func() {
		defer close(s.ends)
		for lines := bufio.NewScanner(status); lines.Scan(); {
			code, _ := strconv.Atoi(lines.Text())
			s.ends <- code
		}
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		for range s.ends { // Until the reader has left.
		}
		_ = cmd.Wait()
		_ = status.Close()
	})
	return s
}

// run runs a command to its end. Nothing is typed into it.
func (s *shell) run(t *testing.T, text string) (code int, output string) {
	t.Helper()
	script, out := filepath.Join(s.dir, "text"), filepath.Join(s.dir, "output")
	require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
	_, err := fmt.Fprintf(s.stdin, "source %q </dev/null >%q 2>&1 3>&-; echo $? >&3\n", script, out)
	require.NoError(t, err)
	ended := false
	select {
	case code, ended = <-s.ends:
	case <-time.After(patience):
	}
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	require.True(t, ended, "it does not end: %s\n%s", text, raw)
	return code, string(raw)
}

// terminal is a command that goes on, in a terminal of its own.
type terminal struct {
	cmd   *exec.Cmd
	ended chan struct{} // Closed when it has.

	mu  sync.Mutex
	buf strings.Builder
}

// Write takes what the command says.
func (c *terminal) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Write(p)
}

func (c *terminal) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.String()
}

// openTerminal starts commands, which are interrupted when the test ends.
func openTerminal(t *testing.T, dir string, environ []string, text string) *terminal {
	t.Helper()
	c := &terminal{cmd: exec.Command("bash", "--norc", "--noprofile", "-c", text), ended: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = dir, environ, c, c
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // What is typed at a terminal goes to all of them.
	require.NoError(t, c.cmd.Start())
	go func() {
		_ = c.cmd.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT)
		select {
		case <-c.ended:
		case <-time.After(patience):
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
			t.Errorf("it does not stop: %s\n%s", text, c.said())
		}
	})
	return c
}

// await waits until the command has said all that, and reports whether it did
// before it ended.
func (c *terminal) await(t *testing.T, says []string) bool {
	t.Helper()
	over := false
	require.Eventually(t, func() bool {
		select {
		case <-c.ended:
			over = true
		default:
		}
		_, missing := missingIn(c.said(), says)
		return over || !missing
	}, patience, 10*time.Millisecond, "%s\n%s", says, c.said())
	_, missing := missingIn(c.said(), says)
	return !missing
}
