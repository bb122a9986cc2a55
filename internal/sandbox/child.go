package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	// grace is how long a child may take to report its timeout before it is killed.
	grace = 100 * time.Millisecond
	// startTime bounds the start of a child.
	startTime = 20 * time.Second
	// lastWords bounds the kept error output of a dying child.
	lastWords = 16 << 10
	// knownPrograms is the number of programs that a child caches, see [Order.Digest].
	knownPrograms = 16
)

// child is a process that runs programs of one tenant.
type child struct {
	tenant tool.TenantID // Empty until its first job.
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	said   *words // Its error stream.
	known  []string
	runs   int
	since  time.Time // When it was last used.
	lacks  string    // Missing parts of its syscall filter, as it reports; empty for none.
	data   int64     // Mapped memory when it was ready, in bytes; zero if unknown.

	base atomic.Int64 // Processor time before the current run, in nanoseconds.
	last atomic.Int64 // Processor time at the last reading.

	mu      sync.Mutex
	gone    bool // It was waited for: its pid may have been reused.
	demoted bool // It has a lower priority.
}

// budget bounds a run.
type budget struct {
	limits Limits
	cpu    time.Duration // Processor time; zero for no limit but the time.
}

// start starts a new, unused child. It gives up when ctx ends.
func start(ctx context.Context, command []string) (*child, error) {
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // An operator's command, which outlives the call it is started for.
	cmd.Env, cmd.Dir = []string{}, "/"
	detach(cmd)
	c := &child{cmd: cmd, said: &words{}}
	cmd.Stderr, cmd.WaitDelay = c.said, 2*time.Second
	var err error
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting sandbox: %w", err)
	}
	if c.stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("starting sandbox: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting sandbox: %w", err)
	}
	if err := c.awaitReady(ctx); err != nil {
		c.end()
		return nil, fmt.Errorf("starting sandbox: %w: %s", err, c.said)
	}
	return c, nil
}

// awaitReady waits until the child can take a job, so that its start does not count as the
// program's time.
func (c *child) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(ctx, c.shoot)
	defer stop()
	f, err := ReadFrame(c.stdout)
	if err == nil && f.Type != ReadyFrame {
		err = fmt.Errorf("unexpected frame %q", f.Type)
	}
	c.data, _ = mappedData(c.cmd.Process.Pid)
	c.lacks = strings.ToValidUTF8(string(f.Data[:min(len(f.Data), lastWords)]), "\uFFFD")
	return err
}

// shoot kills the process, which ends reading from it.
func (c *child) shoot() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		kill(c.cmd)
	}
}

// end kills the process and waits for it. No reader of its output may be left.
func (c *child) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	c.used()
	kill(c.cmd)
	_ = c.stdin.Close()
	_ = c.cmd.Wait() // That it was killed is known.
	c.gone = true
}

// begin starts the accounting of a run. The first run of a child includes its start.
func (c *child) begin() {
	if c.runs > 0 {
		c.used()
		c.base.Store(c.last.Load())
	}
}

// used returns the processor time of the current run, or of the last.
func (c *child) used() time.Duration {
	if now, ok := processorTime(c.cmd.Process.Pid); ok && int64(now) > c.last.Load() {
		c.last.Store(int64(now))
	}
	return time.Duration(c.last.Load() - c.base.Load())
}

// grown reports whether earlier programs have left more than the reserve mapped: the next
// program would have less memory than its limit.
func (c *child) grown() bool {
	now, ok := mappedData(c.cmd.Process.Pid)
	return ok && c.data > 0 && now > c.data+Reserve
}

// demote lowers the priority of the process, where the system allows it.
func (c *child) demote() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone && !c.demoted {
		c.demoted = setPriority(c.cmd, true) == nil
	}
}

// restore undoes demote. Where the system refuses that, as it does without privileges, the
// child keeps its lower priority while it lives.
func (c *child) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone && c.demoted {
		c.demoted = setPriority(c.cmd, false) != nil
	}
}

// run runs a job. It reports whether the child may be reused (sound).
func (c *child) run(ctx context.Context, j *Job, b budget) (out *Outcome, sound bool, err error) {
	c.runs++
	l := b.limits
	var late, left atomic.Bool
	timer := time.AfterFunc(l.Time+grace, func() { late.Store(true); c.shoot() })
	defer timer.Stop()
	stop := context.AfterFunc(ctx, func() { left.Store(true); c.shoot() })
	defer stop()
	if b.cpu > 0 {
		defer c.ration(b.cpu, func() { late.Store(true); c.shoot() })()
	}

	out, err = c.converse(j, l)
	var broken *brokenError
	switch {
	case errors.Is(err, errFlood):
		return nil, false, &ProgramError{
			Class: OverSize, Msg: fmt.Sprintf("the program printed more than %d bytes", l.flood()),
		}
	case !errors.As(err, &broken):
		// A child that was shot when it had answered is of no more use.
		return out, timer.Stop() && stop(), err
	case left.Load():
		return nil, false, cancelled(ctx)
	case late.Load():
		return nil, false, overTime(l)
	default:
		c.end()
		return nil, false, c.autopsy(broken)
	}
}

// ration calls over when the current run has used this much processor time, unless it is
// stopped before.
func (c *child) ration(most time.Duration, over func()) (stop func()) {
	tick, done := time.NewTicker(watchInterval), make(chan struct{})
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if c.used() > most {
					over()
					return
				}
			}
		}
	}()
	return func() { close(done) }
}

// errFlood ends a run that prints too much.
var errFlood = errors.New("the program prints too much")

// brokenError means that a child died or violated the protocol.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }

func (e *brokenError) Unwrap() error { return e.err }

// converse sends a job and reads the result.
func (c *child) converse(j *Job, l Limits) (*Outcome, error) {
	digest := j.digest()
	if err := c.send(j, l, digest, !c.knows(digest)); err != nil {
		return nil, &brokenError{err}
	}
	printed := int64(0)
	for {
		f, err := ReadFrame(c.stdout)
		if err != nil {
			return nil, &brokenError{err}
		}
		switch f.Type {
		case PrintFrame:
			if j.Print != nil && printed < l.Output {
				text := f.Data[:min(int64(len(f.Data)), l.Output-printed)]
				j.Print(strings.ToValidUTF8(string(text), "\uFFFD"))
			}
			if printed += int64(len(f.Data)); printed > l.flood() {
				return nil, errFlood
			}
		case WantFrame:
			if err := c.send(j, l, digest, true); err != nil {
				return nil, &brokenError{err}
			}
		case ResultFrame:
			return result(f.Data, j, l)
		case ErrorFrame:
			var e ProgramError
			if err := json.Unmarshal(f.Data, &e); err != nil {
				return nil, &brokenError{fmt.Errorf("reading error: %w", err)}
			}
			return nil, e.cleaned()
		case OrderFrame, ProgramFrame, InputFrame, ReadyFrame:
			return nil, &brokenError{fmt.Errorf("unexpected frame %q", f.Type)}
		default:
			return nil, &brokenError{fmt.Errorf("unknown frame %q", f.Type)}
		}
	}
}

// result validates the result of a child, which may be compromised.
func result(raw []byte, j *Job, l Limits) (*Outcome, error) {
	switch {
	case j.Check:
		return &Outcome{}, nil
	case int64(len(raw)) > l.Output:
		return nil, &ProgramError{Class: OverSize, Msg: fmt.Sprintf("the result has more than %d bytes", l.Output)}
	case !withinDepth(raw):
		return nil, &ProgramError{
			Class: OverDepth, Msg: fmt.Sprintf("the result is nested more than %d levels deep", MaxDepth),
		}
	case !json.Valid(raw):
		return nil, &ProgramError{Class: BadOutput, Msg: "the result is not JSON"}
	}
	if err := checkText(raw); err != nil {
		return nil, err
	}
	return &Outcome{Output: raw}, nil
}

func (c *child) send(j *Job, l Limits, digest string, program bool) error {
	order, err := jsonFrame(OrderFrame, Order{
		Language: j.Language, Digest: digest, Program: program, Check: j.Check, Limits: l,
	})
	if err != nil {
		return err
	}
	frames := []Frame{order}
	if program {
		frames = append(frames, Frame{ProgramFrame, j.Program})
	}
	for _, f := range append(frames, Frame{InputFrame, j.Input}) {
		if err := WriteFrame(c.stdin, f); err != nil {
			return err
		}
	}
	return nil
}

// knows reports whether the child has a program cached, and records it as cached.
func (c *child) knows(digest string) bool {
	for i, d := range c.known {
		if d == digest {
			c.known = append(append(c.known[:i:i], c.known[i+1:]...), digest)
			return true
		}
	}
	c.known = append(c.known, digest)
	if len(c.known) > knownPrograms {
		c.known = c.known[1:]
	}
	return false
}

func overTime(l Limits) error {
	return &ProgramError{Class: OverTime, Msg: fmt.Sprintf("the program took longer than %s", l.Time)}
}

func cancelled(ctx context.Context) error {
	kind, msg := tool.Cancelled, "the call was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind, msg = tool.Timeout, "the call's deadline passed before the program's"
	}
	return &tool.Error{Kind: kind, Op: "sandbox.Run", Msg: msg, Err: ctx.Err()}
}
