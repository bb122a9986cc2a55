package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a Node process that does a peer's work, with the processes that it
// starts. Its methods must not be called concurrently.
type Process struct {
	peer    Peer
	cmd     *exec.Cmd
	in      io.WriteCloser
	pipe    *os.File // That replies are read from.
	replies *bufio.Reader
	said    *tail
	cancel  context.CancelFunc
	closed  sync.Once
	err     error
}

// startTimeout bounds the start of a peer, workTimeout a round of its work. An
// engine that retries a failing step goes on forever.
const (
	startTimeout = 2 * time.Minute
	workTimeout  = 5 * time.Minute
)

// Start starts a peer on an empty database, and a folder for what else it
// stores. It fails with an [*UnavailableError] where the peer does not start. The
// process is killed when ctx ends.
func (i *Installation) Start(ctx context.Context, p Peer, databaseURL, data string) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, i.node, i.module(p)) //nolint:gosec // The module is ours.
	cmd.Dir = i.dir
	// Nothing of the environment's: it may hold keys that a library takes as its own.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + data, "TMPDIR=" + data, "NODE_ENV=production",
		"DATABASE_URL=" + databaseURL, "DATA_DIR=" + filepath.Join(data, "engine"),
		"MASTRA_TELEMETRY_DISABLED=1", "LANGSMITH_TRACING=false", "RESTATE_LOGGING=ERROR",
	}
	started := &Process{peer: p, cmd: cmd, said: &tail{}, cancel: cancel}
	cmd.Stdout, cmd.Stderr = started.said, started.said
	inOwnGroup(cmd)
	if err := started.start(); err != nil {
		cancel()
		return nil, fmt.Errorf("starting %s: %w", p.Title, err)
	}
	if r, err := started.read(ctx, startTimeout); err != nil || !r.Ready {
		err = errors.Join(err, started.Close())
		return nil, &UnavailableError{fmt.Sprintf("%s does not start: %v: %s", p.Title, err, started.said)}
	}
	return started, nil
}

func (p *Process) start() error {
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.pipe, p.replies = r, bufio.NewReader(r)
	p.cmd.ExtraFiles = []*os.File{w} // File descriptor 3.
	if err := errors.Join(p.cmd.Start(), w.Close()); err != nil {
		return errors.Join(err, r.Close())
	}
	return nil
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Do does a round of work and checks that it was done.
func (p *Process) Do(ctx context.Context, c Command) (Result, error) {
	line, err := json.Marshal(c)
	if err != nil {
		return Result{}, fmt.Errorf("writing a command: %w", err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return Result{}, fmt.Errorf("writing a command: %w: %s", err, p.said)
	}
	r, err := p.read(ctx, workTimeout)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %s", err, p.said)
	}
	return p.peer.check(c, r)
}

// read reads a reply, and kills the process if there is none in time.
func (p *Process) read(ctx context.Context, timeout time.Duration) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, p.cancel)
	defer stop()
	line, err := p.replies.ReadBytes('\n')
	if cause := context.Cause(ctx); cause != nil {
		return reply{}, fmt.Errorf("waiting for a reply: %w", cause)
	}
	if err != nil {
		return reply{}, fmt.Errorf("the process ended: %w", err)
	}
	return parseReply(line)
}

// closeTimeout is how long a process may take to stop its engine.
const closeTimeout = 20 * time.Second

// Close stops the process and the processes that it started. Only the first call
// does anything; the others return its outcome.
func (p *Process) Close() error {
	p.closed.Do(func() { p.err = p.close() })
	return p.err
}

func (p *Process) close() error {
	timer := time.AfterFunc(closeTimeout, p.cancel)
	defer timer.Stop()
	defer p.cancel()
	_ = p.in.Close() // Which ends the process, if it has not ended.
	_, _ = io.Copy(io.Discard, p.replies)
	_ = p.pipe.Close()
	// The process has ended and is not waited for yet, so its group is still its
	// own: what is left of it goes too.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("stopping %s: %w", p.peer.Title, err)
	}
	return nil
}

// tail keeps the end of what a process writes, for messages of failures.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 2000

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.text), ""))
}
