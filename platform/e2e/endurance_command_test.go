package e2e_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/devcmd"
)

// commandVariable makes this test's binary the command toolcrib, which is
// linked into it anyway: a second binary would hold Temporal's server once more.
const commandVariable = "TOOLCRIB_E2E_COMMAND"

// commandMain is the main function of the command, as cmd/toolcrib has it.
func commandMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, cli.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: "dev"}, os.Args[1:], devcmd.New)
}

// process is a command that runs until it is told to stop, or killed.
type process struct {
	cmd   *exec.Cmd
	log   *transcript
	ended chan error
}

// transcript is what a process writes.
type transcript struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// patience is how long something that must happen may take on a busy machine.
const patience = 3 * time.Minute

// startCommand starts the command and returns when its log matches ready, with
// what the pattern's group matched.
func startCommand(t *testing.T, environ []string, ready *regexp.Regexp, args ...string) (p *process, found string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p = &process{cmd: exec.Command(self, args...), log: &transcript{}, ended: make(chan error, 1)}
	p.cmd.Env = append(append(os.Environ(), environ...), commandVariable+"=1")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(t, p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	require.Eventually(t, func() bool {
		m := ready.FindStringSubmatch(p.log.String())
		if m != nil {
			found = m[len(m)-1]
		}
		return m != nil
	}, patience, 5*time.Millisecond, "%s does not get ready:\n%s", args, p.log)
	return p, found
}

// end ends the process with a signal. One that is asked to stop ends well.
func (p *process) end(t *testing.T, with syscall.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(with), p.log)
	select {
	case err := <-p.ended:
		if with != syscall.SIGKILL {
			require.NoError(t, err, "it did not end well:\n%s", p.log)
		}
	case <-time.After(patience):
		require.Fail(t, "it does not end", p.log)
	}
}
