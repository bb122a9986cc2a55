package chaos_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process keeps one command of the platform running, as an init system does:
// whenever it ends, for whatever reason, it is started again.
type process struct {
	name    string
	args    []string
	environ []string
	log     *tail

	mu      sync.Mutex
	running *os.Process
	stopped bool
	starts  int
	done    chan struct{}
}

// restartPause is what an init system waits before it starts a command again.
const restartPause = 200 * time.Millisecond

// keep starts a command and keeps it running until the test ends.
func keep(t *testing.T, name string, environ []string, args ...string) *process {
	t.Helper()
	p := &process{name: name, args: args, environ: environ, log: &tail{}, done: make(chan struct{})}
	self, err := os.Executable()
	require.NoError(t, err)
	go p.supervise(self)
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("the last that %s logged:\n%s", name, p.log)
		}
	})
	return p
}

func (p *process) supervise(self string) {
	defer close(p.done)
	for {
		cmd := exec.Command(self, p.args...)
		cmd.Env = slices.Concat(os.Environ(), p.environ, []string{commandVariable + "=1"})
		cmd.Stdout, cmd.Stderr = p.log, p.log
		p.mu.Lock()
		if p.stopped {
			p.mu.Unlock()
			return
		}
		err := cmd.Start()
		if err == nil {
			p.running = cmd.Process
			p.starts++
		}
		p.mu.Unlock()
		if err == nil {
			_ = cmd.Wait() // How it ended does not matter: it is started again.
		}
		p.mu.Lock()
		p.running = nil
		p.mu.Unlock()
		time.Sleep(restartPause)
	}
}

// signal sends a signal if the process is running at the moment.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil {
		_ = p.running.Signal(s) // It may have ended this moment.
	}
}

func (p *process) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGKILL)
	<-p.done
}

// tailBytes is how much of a log is kept.
const tailBytes = 64 << 10

// tail keeps the end of a log.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if len(l.buf) > 2*tailBytes {
		l.buf = bytes.Clone(l.buf[len(l.buf)-tailBytes:])
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.buf[max(0, len(l.buf)-tailBytes):])
}
