package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Config configures a [Pool].
type Config struct {
	// Command starts a child: the path of a binary and its arguments, such as
	// ["/usr/local/bin/toolcrib", "sandbox"]. Required.
	Command []string
	// Max bounds what a job's limits may ask for. Zero fields take [MaxLimits].
	Max Limits
	// MaxProgram bounds programs beside what their language allows, in bytes.
	// Zero leaves that to the language.
	MaxProgram int
	// Children is how many run at once. Defaults to twice the processors, and
	// at least 2.
	Children int
	// Observer is told what happens. Defaults to nobody.
	Observer Observer
	// Logger is told once where children lack a part of their fence. Defaults to
	// discarding it.
	Logger *slog.Logger
	// MaxRuns is after how many runs a child is replaced. Defaults to 1000.
	MaxRuns int
	// MaxIdle is how long a child waits for its tenant's next run. Defaults to
	// two minutes.
	MaxIdle time.Duration
}

// Pool runs jobs in children that it keeps. It is safe for concurrent use; one
// serves a process.
type Pool struct {
	cfg Config

	mu      sync.Mutex
	idle    []*child              // The one that was used last stands last.
	live    int                   // Children there are, and those about to be.
	running map[tool.TenantID]int // Children at work.
	queue   []*waiter
	stats   Stats
	closed  bool
	reaper  *time.Timer
	warned  bool // The logger was told what fences lack.
}

// waiter is a job that waits for a child's place.
type waiter struct {
	tenant tool.TenantID
	grant  chan *child // Nil for the right to start one.
}

// Stats counts what a pool did since it was made.
type Stats struct {
	Live, Idle, Waiting   int
	Started, Runs, Killed int64
}

// Outcome is what a program made.
type Outcome struct {
	Output json.RawMessage
}

// errClosed is why a pool runs nothing any more.
var errClosed = errors.New("the pool is closed")

// New returns a pool. The caller closes it.
func New(cfg Config) (*Pool, error) {
	if len(cfg.Command) == 0 || cfg.Command[0] == "" {
		return nil, errors.New("sandbox: Config.Command is required")
	}
	cfg.Max = Limits{
		Time: cmp.Or(cfg.Max.Time, MaxLimits.Time), Memory: cmp.Or(cfg.Max.Memory, MaxLimits.Memory), Output: cmp.Or(cfg.Max.Output, MaxLimits.Output),
	}
	if cfg.Children <= 0 {
		cfg.Children = max(2, 2*runtime.GOMAXPROCS(0))
	}
	if cfg.MaxRuns <= 0 {
		cfg.MaxRuns = 1000
	}
	if cfg.MaxIdle <= 0 {
		cfg.MaxIdle = 2 * time.Minute
	}
	if cfg.Observer == nil {
		cfg.Observer = nobody{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Pool{cfg: cfg, running: make(map[tool.TenantID]int)}, nil
}

// Run runs a job.
//
// It fails with a [*ProgramError] where the program is at fault, and else with
// a [*tool.Error]: RateLimited where ctx ended before there was a child free,
// Cancelled and Timeout where it ended later, Unavailable where the sandbox
// can't be started or was killed from outside. Nothing of a job ever leaves the
// sandbox but its outcome, so that it is always safe to run it again.
func (p *Pool) Run(ctx context.Context, j Job) (*Outcome, error) {
	if err := j.check(p.cfg.MaxProgram); err != nil {
		return nil, err
	}
	asked := time.Now()
	c, err := p.acquire(ctx, j.Tenant)
	began := time.Now()
	p.cfg.Observer.Waited(began.Sub(asked))
	if err != nil {
		return nil, err
	}
	out, sound, err := c.run(ctx, &j, j.Limits.Within(p.cfg.Max))
	outcome := outcomeOf(sound, err)
	p.cfg.Observer.Ran(j.Language, outcome, time.Since(began))
	p.release(c, sound, outcome)
	return out, err
}

// Stats returns what the pool did.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Live, s.Idle, s.Waiting = p.live, len(p.idle), len(p.queue)
	return s
}

// Close ends the children that are idle, and those at work when they are done.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle, p.live = nil, p.live-len(p.idle)
	for _, w := range p.queue {
		close(w.grant)
	}
	p.queue = nil
	if p.reaper != nil {
		p.reaper.Stop()
	}
	p.mu.Unlock()
	for _, c := range idle {
		p.bury(c, EndClosed)
	}
	return nil
}

// bury ends a child, and says why.
func (p *Pool) bury(c *child, why string) {
	c.end()
	p.cfg.Observer.Ended(why)
}

// acquire returns a child for a tenant: one of its own that is idle, a new one,
// or the place of another tenant's that is idle. Where all are at work, it
// waits: whoever's tenant has the fewest at work is served next.
func (p *Pool) acquire(ctx context.Context, tenant tool.TenantID) (*child, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, unavailable(errClosed)
	}
	p.running[tenant]++
	if i := p.ofTenant(tenant); i >= 0 {
		c := p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		p.mu.Unlock()
		return c, nil
	}
	if p.live < p.cfg.Children {
		p.live++
		p.mu.Unlock()
		return p.start(ctx, tenant)
	}
	if len(p.idle) > 0 { // Another tenant's: it makes way.
		old := p.idle[0]
		p.idle = p.idle[1:]
		p.mu.Unlock()
		p.bury(old, EndEvicted)
		return p.start(ctx, tenant)
	}
	p.running[tenant]-- // It does not work yet.
	w := &waiter{tenant: tenant, grant: make(chan *child, 1)}
	p.queue = append(p.queue, w)
	p.mu.Unlock()
	select {
	case c, ok := <-w.grant:
		return p.granted(ctx, c, ok, tenant)
	case <-ctx.Done():
		return nil, p.leave(ctx, w)
	}
}

// granted takes up what a waiter was given.
func (p *Pool) granted(ctx context.Context, c *child, ok bool, tenant tool.TenantID) (*child, error) {
	switch {
	case !ok:
		return nil, unavailable(errClosed)
	case c != nil && c.tenant == tenant:
		return c, nil
	case c != nil:
		p.bury(c, EndEvicted)
	}
	return p.start(ctx, tenant)
}

// leave takes a waiter out of the queue whose time is over. What it was given
// meanwhile goes to the next.
func (p *Pool) leave(ctx context.Context, w *waiter) error {
	p.mu.Lock()
	i := slices.Index(p.queue, w)
	if i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 {
		if c, ok := <-w.grant; ok {
			p.give(c, w.tenant)
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &tool.Error{
			Kind: tool.RateLimited, Op: "sandbox.Run", Msg: "all sandboxes were busy for as long as the call may take", RetryAfter: time.Second, Err: ctx.Err(),
		}
	}
	return cancelled(ctx)
}

// start starts a child in a place that is counted already.
func (p *Pool) start(ctx context.Context, tenant tool.TenantID) (*child, error) {
	c, err := start(ctx, p.cfg.Command)
	if err != nil {
		p.give(nil, tenant)
		if ctx.Err() != nil {
			return nil, cancelled(ctx)
		}
		return nil, unavailable(err)
	}
	c.tenant = tenant
	p.mu.Lock()
	p.stats.Started++
	warn := c.lacks != "" && !p.warned
	p.warned = p.warned || warn
	p.mu.Unlock()
	if warn {
		p.cfg.Logger.WarnContext(ctx, "programs run without a filter of system calls", slog.String("reason", c.lacks))
	}
	p.cfg.Observer.Started()
	return c, nil
}

// release takes a child back; why is how its last run ended.
func (p *Pool) release(c *child, sound bool, why string) {
	p.mu.Lock()
	p.stats.Runs++
	if !sound {
		p.stats.Killed++
	}
	p.mu.Unlock()
	tenant := c.tenant
	switch {
	case !sound:
		p.bury(c, why)
		c = nil
	case c.runs >= p.cfg.MaxRuns:
		p.bury(c, EndReplaced)
		c = nil
	}
	p.give(c, tenant)
}

// give hands a tenant's place, with a child or without, to whoever waits, or
// keeps the child.
func (p *Pool) give(c *child, tenant tool.TenantID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[tenant]--; p.running[tenant] <= 0 {
		delete(p.running, tenant)
	}
	if w := p.next(); w != nil {
		p.running[w.tenant]++
		w.grant <- c
		return
	}
	if c == nil || p.closed {
		p.live--
		if c != nil {
			go p.bury(c, EndClosed) // It takes no lock of the pool's.
		}
		return
	}
	c.since = time.Now()
	p.idle = append(p.idle, c)
	p.reapLater()
}

// next takes the waiter out of the queue whose tenant has the fewest children
// at work; among those, the one that came first.
func (p *Pool) next() *waiter {
	if len(p.queue) == 0 {
		return nil
	}
	best := 0
	for i, w := range p.queue {
		if p.running[w.tenant] < p.running[p.queue[best].tenant] {
			best = i
		}
	}
	w := p.queue[best]
	p.queue = slices.Delete(p.queue, best, best+1)
	return w
}

func (p *Pool) ofTenant(tenant tool.TenantID) int {
	for i, c := range slices.Backward(p.idle) {
		if c.tenant == tenant {
			return i
		}
	}
	return -1
}

// reapLater sees to it that children which nobody uses end.
func (p *Pool) reapLater() {
	if p.reaper == nil {
		p.reaper = time.AfterFunc(p.cfg.MaxIdle, p.reap)
	}
}

func (p *Pool) reap() {
	p.mu.Lock()
	var old []*child
	p.idle = slices.DeleteFunc(p.idle, func(c *child) bool {
		over := time.Since(c.since) >= p.cfg.MaxIdle
		if over {
			old = append(old, c)
		}
		return over
	})
	p.live -= len(old)
	p.reaper = nil
	if len(p.idle) > 0 && !p.closed {
		p.reaper = time.AfterFunc(p.cfg.MaxIdle-time.Since(p.idle[0].since), p.reap)
	}
	p.mu.Unlock()
	for _, c := range old {
		p.bury(c, EndIdle)
	}
}

func unavailable(err error) error {
	return &tool.Error{Kind: tool.Unavailable, Op: "sandbox.Run", Msg: "the sandbox does not start; the worker's operator finds the reason in its log", Err: err}
}
