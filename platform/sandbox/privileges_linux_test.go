package sandbox_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// startChild starts a child as a pool does, with further open files.
func startChild(t *testing.T, files ...*os.File) (cmd *exec.Cmd, ready sandbox.Frame) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd = exec.CommandContext(t.Context(), exe, "sandbox")
	cmd.Env, cmd.ExtraFiles = []string{}, files
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	ready, err = sandbox.ReadFrame(out)
	require.NoError(t, err)
	return cmd, ready
}

// What the process that starts a child has open is closed in the child, even if
// it was opened to be inherited.
func TestInheritedDescriptorsAreClosed(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	startChild(t, null, w, null)
	require.NoError(t, null.Close())
	require.NoError(t, w.Close())
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the child would hold the other end")
	require.NoError(t, r.Close())
}

// A child is neither root nor has it capabilities, in any thread.
func TestChildrenHaveNoPrivileges(t *testing.T) {
	t.Parallel()
	cmd, ready := startChild(t)
	require.NotContains(t, string(ready.Data), "capabilities")
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task/*/status")
	require.NoError(t, err)
	looked := 0
	for _, task := range tasks {
		raw, err := os.ReadFile(task)
		if err != nil {
			continue // It ended meanwhile.
		}
		status := map[string][]string{}
		for line := range strings.Lines(string(raw)) {
			name, value, _ := strings.Cut(line, ":")
			status[name] = strings.Fields(value)
		}
		for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
			require.Equal(t, []string{"0000000000000000"}, status[set], "%s: %s", task, set)
		}
		if !strings.Contains(string(ready.Data), "root") {
			require.NotContains(t, status["Uid"], "0", task)
			require.NotContains(t, status["Gid"], "0", task)
			require.NotContains(t, status["Groups"], "0", task)
		}
		looked++
	}
	require.NotZero(t, looked)
	if os.Geteuid() == 0 {
		require.NotContains(t, string(ready.Data), "root", "a user \"nobody\" is there")
	}
}
