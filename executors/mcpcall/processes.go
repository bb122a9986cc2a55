package mcpcall

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Command is a program that an operator lets tools run as an MCP server over its
// pipes. Definitions refer to it by its name. It runs in its own process group,
// without the worker's environment.
type Command struct {
	Path string   // Of the program, absolute.
	Args []string // Without the program's name.
	Env  []string // All of its environment, as "NAME=value".
	Dir  string   // Working directory. Defaults to the root directory.
	// Tenants may run the command; for others it does not exist. Empty for all.
	Tenants []tool.TenantID
}

// Limits of processes.
const (
	maxProcesses = 64
	maxPerTenant = 16              // So that one tenant cannot use all.
	idleProcess  = 5 * time.Minute // Before an idle process is killed.
	maxLogLines  = 200             // Of a process's standard error.
	maxLogBytes  = 1 << 10         // Of one such line.
)

// processes keeps one process for each run and server. Calls of a run use it
// one after the other.
type processes struct {
	commands map[string]Command
	logger   *slog.Logger

	mu       sync.Mutex
	closed   bool
	stateful map[string]bool // Commands that are sent initialize without server/discover.
	kept     map[SessionKey]*running
	all      map[*running]bool
	after    sync.WaitGroup
}

// running is a process, running or about to be started.
type running struct {
	key     SessionKey
	turn    chan struct{} // A lock with one token, held by the current call.
	users   int           // Calls that use it or wait for it.
	conn    *conn         // Nil before the start.
	process *process
	idle    *time.Timer
}

// connect returns a connection to the process of a run, once earlier calls are done.
func (p *processes) connect(ctx context.Context, t *target) (*conn, error) {
	command, ok := p.commands[t.server.Command]
	if !ok || len(command.Tenants) > 0 && !slices.Contains(command.Tenants, t.key.Tenant) {
		return nil, &tool.Error{
			Kind: tool.Denied, Op: "mcpcall.Execute",
			Msg: fmt.Sprintf("the operator has not configured a command %q", t.server.Command),
		}
	}
	secret.Note(ctx, command.secrets()...)
	r, err := p.take(t)
	if err != nil {
		return nil, err
	}
	select {
	case <-r.turn:
	case <-ctx.Done():
		p.leave(r, false)
		return nil, endedBy(ctx)
	}
	if p.gone(r) { // Removed by the previous call.
		r.turn <- struct{}{}
		return p.connect(ctx, t)
	}
	if r.conn != nil && !r.process.ended() {
		r.conn.target = t
		r.conn.resumed = true
		return r.conn, nil
	}
	if err := p.start(ctx, r, t, command); err != nil {
		p.leave(r, true)
		r.turn <- struct{}{}
		return nil, err
	}
	return r.conn, nil
}

// take registers a call with the process of its run.
func (p *processes) take(t *target) (*running, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "mcpcall.Execute", Msg: "this worker is stopping"}
	}
	if r := p.kept[t.key]; r != nil && t.shared() {
		r.users++
		r.idle.Stop()
		return r, nil
	}
	if p.of(t.key.Tenant) >= maxPerTenant && !p.evict(t.key.Tenant) || len(p.all) >= maxProcesses && !p.evict("") {
		return nil, &tool.Error{Kind: tool.RateLimited, Op: "mcpcall.Execute", Msg: "too many commands are running"}
	}
	r := &running{key: t.key, turn: make(chan struct{}, 1), users: 1}
	r.turn <- struct{}{}
	r.idle = time.AfterFunc(idleProcess, func() { p.expire(r) })
	r.idle.Stop()
	if p.all == nil {
		p.all, p.kept = make(map[*running]bool), make(map[SessionKey]*running)
	}
	p.all[r] = true
	if t.shared() {
		p.kept[t.key] = r
	}
	return r, nil
}

// gone reports whether a process was removed while a call waited for its turn.
func (p *processes) gone(r *running) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.all[r]
}

// of counts the processes of a tenant. The lock is held.
func (p *processes) of(tenant tool.TenantID) int {
	n := 0
	for r := range p.all {
		if r.key.Tenant == tenant {
			n++
		}
	}
	return n
}

// evict kills an idle process of a tenant or, if empty, of any. The lock is held.
func (p *processes) evict(tenant tool.TenantID) bool {
	for r := range p.all {
		if r.users == 0 && (tenant == "" || r.key.Tenant == tenant) {
			p.remove(r)
			return true
		}
	}
	return false
}

func (p *processes) expire(r *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.users == 0 {
		p.remove(r)
	}
}

// remove removes and kills a process. The lock is held.
func (p *processes) remove(r *running) {
	if !p.all[r] {
		return
	}
	delete(p.all, r)
	if p.kept[r.key] == r {
		delete(p.kept, r.key)
	}
	r.idle.Stop()
	if r.process == nil {
		return
	}
	conn, proc := r.conn, r.process
	p.after.Go(func() {
		proc.kill()
		if conn != nil {
			conn.hangUp()
		}
		proc.wait()
	})
}

// leave unregisters a call from a process, and kills the process if it must not be
// reused.
func (p *processes) leave(r *running, broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.users--
	switch {
	case broken, p.closed, p.kept[r.key] != r:
		p.remove(r)
	case r.users == 0:
		r.idle.Reset(idleProcess)
	}
}

func (p *processes) start(ctx context.Context, r *running, t *target, command Command) error {
	logger := p.logger.With(slog.String("tenant_id", string(t.key.Tenant)), slog.String("run_id", t.key.RunID),
		slog.String("command", t.server.Command))
	conn, proc, err := p.spawn(ctx, t, command, logger)
	if err != nil {
		return err
	}
	conn.running = r
	p.mu.Lock()
	defer p.mu.Unlock()
	old := r.process
	r.conn, r.process = conn, proc
	if old != nil {
		p.after.Go(old.wait)
	}
	if !p.all[r] { // Removed meanwhile.
		p.all[r] = true
		p.remove(r)
		return &tool.Error{Kind: tool.Unavailable, Op: "mcpcall.Execute", Msg: "this worker is stopping"}
	}
	return nil
}

// release ends a call's turn. If the call stopped before its answer was read, the
// process is killed: its next output would belong to the wrong call.
func (p *processes) release(c *conn, stopped bool) {
	r := c.running
	seen := c.peer.of(methodCall)
	p.leave(r, stopped || r.process.ended() || seen.broke || seen.fault != nil || !c.target.shared())
	r.turn <- struct{}{}
}

// close ends all processes and waits for them.
func (p *processes) close() {
	p.mu.Lock()
	p.closed = true
	for r := range p.all {
		p.remove(r)
	}
	p.mu.Unlock()
	p.after.Wait()
}
