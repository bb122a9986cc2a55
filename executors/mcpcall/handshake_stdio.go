package mcpcall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// discoverGrace is how long a command may leave server/discover, which those of
// 2025-11-25 and before do not know, without an answer before it is asked to
// initialize instead.
const discoverGrace = 2 * time.Second

// plainVariables are the variables whose values are no secrets.
var plainVariables = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "SHELL": true, "LANG": true, "LANGUAGE": true, "TZ": true, "TERM": true,
	"TMPDIR": true, "NODE_ENV": true, "LOG_LEVEL": true,
}

// secrets returns the values of a command's environment that are hidden like
// credentials: all but those of variables that hold none by their meaning.
func (c *Command) secrets() []secret.Value {
	var out []secret.Value
	for _, variable := range c.Env {
		name, value, _ := strings.Cut(variable, "=")
		if !plainVariables[name] && !strings.HasPrefix(name, "LC_") {
			out = append(out, secret.NewValue(value))
		}
	}
	return out
}

// spawn starts a command and shakes hands with it. A command that exits when it
// is asked what it does not know is started once more and asked to initialize at
// once, as all of its processes are from then on.
func (p *processes) spawn(
	ctx context.Context, t *target, command Command, logger *slog.Logger,
) (*conn, *process, error) {
	t.initialize = p.initializes(t.server.Command)
	conn, proc, err := p.handshake(ctx, t, command, logger)
	if err == nil || t.initialize || !errors.Is(err, errExited) || ctx.Err() != nil {
		return conn, proc, err
	}
	t.initialize = true
	if conn, proc, err = p.handshake(ctx, t, command, logger); err == nil {
		p.remember(t.server.Command)
	}
	return conn, proc, err
}

// errExited is the cause of a failure whose command ended before it answered.
var errExited = errors.New("the command has exited")

func (p *processes) handshake(
	ctx context.Context, t *target, command Command, logger *slog.Logger,
) (*conn, *process, error) {
	proc, err := startProcess(command, logger)
	if err != nil {
		return nil, nil, &tool.Error{
			Kind: tool.Unavailable, Op: "mcpcall.Execute",
			Msg: fmt.Sprintf("the command %q can't be started", t.server.Command), Err: err,
		}
	}
	stop := context.AfterFunc(ctx, proc.kill) // However slowly it begins.
	conn, err := open(ctx, t, proc.transport(int(t.limit)), nil, nil)
	stop()
	if err == nil {
		return conn, proc, nil
	}
	exited := proc.ended()
	proc.kill()
	proc.wait()
	return nil, nil, proc.unconnected(ctx, t.server.Command, exited, err)
}

// unconnected says why a command that was started cannot be talked to.
func (p *process) unconnected(ctx context.Context, name string, exited bool, cause error) error {
	failed := *tool.AsError(cause)
	switch {
	case ctx.Err() != nil: // It was given no more time.
		return cause
	case p.messages.exceeded.Load():
		failed.Msg = fmt.Sprintf(
			"the command %q prints more than %d lines that are no messages: it must write logs to its standard error", name,
			maxNoiseLines,
		)
	case exited:
		failed.Msg = fmt.Sprintf(
			"the command %q ended (%s) before it had answered the handshake: the worker's log has what it complained of", name,
			p.cmd.ProcessState,
		)
		failed.Err = errExited
	default:
		return cause
	}
	return &failed
}

// initializes reports whether a command is asked to initialize at once.
func (p *processes) initializes(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stateful[name]
}

// remember keeps that a command exits on server/discover.
func (p *processes) remember(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stateful == nil {
		p.stateful = make(map[string]bool)
	}
	p.stateful[name] = true
}
