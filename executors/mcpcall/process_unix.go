//go:build unix

package mcpcall

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/secret"
)

// process is a running command.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	done   chan struct{}
	killed sync.Once

	messages *messages // Of stdout.
}

func startProcess(c Command, logger *slog.Logger) (*process, error) {
	//nolint:gosec,noctx // The program is the operator's, and outlives the call that started it.
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append([]string{}, c.Env...)
	cmd.Dir = c.Dir
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = closeTimeout
	cmd.Stderr = &complaints{logger: logger, known: secret.NewRedactor(c.secrets()...)}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("opening its input: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("opening its output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting it: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, stdout: stdout, done: make(chan struct{}), messages: newMessages(stdout)}
	return p, nil
}

func (p *process) transport(limit int) mcp.Transport {
	return &mcp.IOTransport{
		Reader: &output{ReadCloser: p.stdout, process: p}, Writer: p.stdin, MaxLineLength: limit + maxListBytes,
	}
}

// output is the process's output; it marks the process as ended when reading
// fails.
type output struct {
	io.ReadCloser

	process *process
	once    sync.Once
}

// Read implements [io.Reader].
func (o *output) Read(b []byte) (int, error) {
	n, err := o.process.messages.Read(b)
	if err != nil {
		o.once.Do(func() { close(o.process.done) })
	}
	return n, err
}

// ended reports whether the process has closed its output.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill kills the process group.
func (p *process) kill() {
	p.killed.Do(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		_ = p.stdin.Close()
	})
}

// wait waits for a killed process.
func (p *process) wait() {
	p.kill()
	_ = p.cmd.Wait()
}

// complaints logs a process's standard error, up to maxLogLines.
type complaints struct {
	logger *slog.Logger
	known  *secret.Redactor // Hides the values of the command's environment.
	lines  int
	rest   []byte
}

// Write implements [io.Writer].
func (c *complaints) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if c.lines >= maxLogLines {
			break
		}
		if room := maxLogBytes - len(c.rest); room > 0 {
			c.rest = append(c.rest, line[:min(room, len(line))]...)
		}
		if bytes.HasSuffix(line, []byte("\n")) {
			c.logger.Debug("standard error of an MCP command", slog.String("line", redact(c.known, string(c.rest), maxLogBytes)))
			c.rest, c.lines = nil, c.lines+1
		}
	}
	return len(b), nil
}
