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

// discoverGrace is how long a command may leave server/discover unanswered before it
// is sent initialize instead. Commands of 2025-11-25 and before ignore unknown
// methods.
const discoverGrace = 2 * time.Second

// plainVariables are variables whose values are not secret.
var plainVariables = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "SHELL": true, "LANG": true, "LANGUAGE": true, "TZ": true, "TERM": true,
	"TMPDIR": true, "NODE_ENV": true, "LOG_LEVEL": true,
}

// secrets returns the values of a command's environment to redact: all except those
// of plainVariables.
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

// spawn starts a command and performs the handshake. A command that exits on
// server/discover is restarted once with initialize, as are all of its later
// processes.
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

// errExited is the cause of a failure when the command exited before it answered.
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
	stop := context.AfterFunc(ctx, proc.kill) // Also during a slow start.
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

// unconnected returns why a started command cannot be used.
func (p *process) unconnected(ctx context.Context, name string, exited bool, cause error) error {
	failed := *tool.AsError(cause)
	switch {
	case ctx.Err() != nil: // The call's deadline.
		return cause
	case p.messages.exceeded.Load():
		failed.Msg = fmt.Sprintf(
			"the command %q prints more than %d lines that are not messages: it must write logs to its standard error", name,
			maxNoiseLines,
		)
	case exited:
		failed.Msg = fmt.Sprintf(
			"the command %q ended (%s) before it answered the handshake: see its standard error in the worker's log", name,
			p.cmd.ProcessState,
		)
		failed.Err = errExited
	default:
		return cause
	}
	return &failed
}

// initializes reports whether a command is sent initialize without server/discover.
func (p *processes) initializes(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stateful[name]
}

// remember records that a command exits on server/discover.
func (p *processes) remember(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stateful == nil {
		p.stateful = make(map[string]bool)
	}
	p.stateful[name] = true
}
