package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Config configures a [Pool].
type Config struct {
	// Command starts a child: the path of a binary and its arguments, such as
	// ["/usr/local/bin/toolcrib", "sandbox"]. Required.
	Command []string
	// Max bounds the limits of jobs. Zero fields default to [MaxLimits].
	Max Limits
	// MaxProgram bounds programs in addition to their language's limit, in bytes.
	// Zero for that alone.
	MaxProgram int
	// Children is the number of concurrent runs. Defaults to twice the processors,
	// and at least 2. A tenant with a running child never takes the last quarter, at
	// least one, which is reserved for others.
	Children int
	// Compilers is the number of additional children for jobs with [Job.Check], so
	// that these do not delay calls. Defaults to 2.
	Compilers int
	// CompileTime bounds the processor time of such a job; half of it bounds its
	// wall-clock time. Defaults to 10 seconds.
	CompileTime time.Duration
	// MaxWaiting bounds the waiting jobs of one tenant, separately for calls and
	// checks. Further ones are refused. Defaults to 64.
	MaxWaiting int
	// Observer receives events for metrics. Defaults to none.
	Observer Observer
	// Logger receives one warning if the syscall filter of children is incomplete.
	// Defaults to discarding it.
	Logger *slog.Logger
	// MaxRuns is the number of runs after which a child is replaced. Defaults to 1000.
	MaxRuns int
	// MaxIdle is the idle time after which a child is ended. Defaults to two
	// minutes.
	MaxIdle time.Duration
}

func (c Config) withDefaults() Config {
	c.Max = Limits{
		Time:   cmp.Or(c.Max.Time, MaxLimits.Time),
		Memory: cmp.Or(c.Max.Memory, MaxLimits.Memory),
		Output: cmp.Or(c.Max.Output, MaxLimits.Output),
	}
	positive := func(v *int, otherwise int) {
		if *v <= 0 {
			*v = otherwise
		}
	}
	positive(&c.Children, max(2, 2*runtime.GOMAXPROCS(0)))
	positive(&c.Compilers, 2)
	positive(&c.MaxWaiting, 64)
	positive(&c.MaxRuns, 1000)
	if c.CompileTime <= 0 {
		c.CompileTime = 10 * time.Second
	}
	if c.MaxIdle <= 0 {
		c.MaxIdle = 2 * time.Minute
	}
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Pool runs jobs in reusable children, one pool per process. It is safe for concurrent use.
type Pool struct {
	cfg     Config
	calls   *lane
	compile *lane
}

// Stats are the counters of a pool.
type Stats struct {
	Live, Idle, Waiting   int
	Started, Runs, Killed int64
}

// Outcome is the result of a program.
type Outcome struct {
	Output json.RawMessage
}

// errClosed is the error of a closed pool.
var errClosed = errors.New("the pool is closed")

// New returns a pool. The caller closes it.
func New(cfg Config) (*Pool, error) {
	if len(cfg.Command) == 0 || cfg.Command[0] == "" {
		return nil, errors.New("sandbox: Config.Command is required")
	}
	cfg = cfg.withDefaults()
	notice := &fenceNotice{log: cfg.Logger}
	p := &Pool{cfg: cfg, calls: newLane(cfg, cfg.Children, notice), compile: newLane(cfg, cfg.Compilers, notice)}
	p.compile.low = true // Calls come first.
	return p, nil
}

// Run runs a job.
//
// It fails with a [*ProgramError] where the program is at fault, and else with a
// [*tool.Error]: RateLimited with RetryAfter where too many jobs of the tenant are waiting
// or ctx ended before a child was free, Cancelled and Timeout where it ended later,
// Unavailable where the sandbox cannot be started or was killed by another process. A job
// has no effects other than its outcome, so it is always safe to retry.
//
// Jobs wait for children by tenant: the one with the least recent processor time is next. A
// job of a tenant that uses more than [heavyUse] continues at a lower priority.
func (p *Pool) Run(ctx context.Context, j Job) (*Outcome, error) {
	if err := j.check(p.cfg.MaxProgram); err != nil {
		return nil, err
	}
	l, b := p.calls, budget{limits: j.Limits.Within(p.cfg.Max)}
	if j.Check {
		l, b.cpu = p.compile, p.cfg.CompileTime
		b.limits.Time = min(2*p.cfg.CompileTime, MaxLimits.Time)
	}
	asked := time.Now()
	c, err := l.acquire(ctx, j.Tenant)
	began := time.Now()
	p.cfg.Observer.Waited(began.Sub(asked))
	if err != nil {
		return nil, err
	}
	stop := l.watch(c)
	out, sound, err := c.run(ctx, &j, b)
	stop()
	outcome := outcomeOf(sound, err)
	p.cfg.Observer.Ran(j.Language, outcome, time.Since(began))
	l.release(c, sound, outcome)
	return out, err
}

// Stats returns the pool's counters.
func (p *Pool) Stats() Stats {
	a, b := p.calls.statistics(), p.compile.statistics()
	return Stats{
		Live: a.Live + b.Live, Idle: a.Idle + b.Idle, Waiting: a.Waiting + b.Waiting,
		Started: a.Started + b.Started, Runs: a.Runs + b.Runs, Killed: a.Killed + b.Killed,
	}
}

// Close ends idle children, and running ones after their run.
func (p *Pool) Close() error {
	p.calls.close()
	p.compile.close()
	return nil
}

func unavailable(err error) error {
	return &tool.Error{
		Kind: tool.Unavailable, Op: "sandbox.Run", Err: err,
		Msg: "the sandbox does not start: see the worker's log",
	}
}
