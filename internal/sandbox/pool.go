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
	// Max bounds what a job's limits may ask for. Zero fields take [MaxLimits].
	Max Limits
	// MaxProgram bounds programs beside what their language allows, in bytes.
	// Zero leaves that to the language.
	MaxProgram int
	// Children is how many run calls at once. Defaults to twice the processors,
	// and at least 2. Of these, a tenant that has one at work never takes the
	// last quarter, and at least one, so that others find a place.
	Children int
	// Compilers is how many more children compile programs for jobs with
	// [Job.Check], which take no place from calls. Defaults to 2.
	Compilers int
	// CompileTime is the processor time that such a job may use, and half of
	// the time on the clock. Defaults to 10 seconds.
	CompileTime time.Duration
	// MaxWaiting is how many jobs of one tenant may wait for a child, calls and
	// checks apart. Those beyond it are refused at once. Defaults to 64.
	MaxWaiting int
	// Observer receives events for metrics. Defaults to none.
	Observer Observer
	// Logger receives one warning if children lack a part of their fence.
	// Defaults to discarding it.
	Logger *slog.Logger
	// MaxRuns is after how many runs a child is replaced. Defaults to 1000.
	MaxRuns int
	// MaxIdle is how long a child waits for its tenant's next run. Defaults to
	// two minutes.
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

// Pool runs jobs in children that it keeps. It is safe for concurrent use; one
// serves a process.
type Pool struct {
	cfg     Config
	calls   *lane
	compile *lane
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
	cfg = cfg.withDefaults()
	notice := &fenceNotice{log: cfg.Logger}
	p := &Pool{cfg: cfg, calls: newLane(cfg, cfg.Children, notice), compile: newLane(cfg, cfg.Compilers, notice)}
	p.compile.low = true // Calls come first.
	return p, nil
}

// Run runs a job.
//
// It fails with a [*ProgramError] where the program is at fault, and else with
// a [*tool.Error]: RateLimited with RetryAfter where too many jobs of the tenant
// wait already or ctx ended before there was a child free, Cancelled and Timeout
// where it ended later, Unavailable where the sandbox can't be started or was
// killed from outside. Nothing of a job ever leaves the sandbox but its outcome,
// so that it is always safe to run it again.
//
// Jobs wait for children by tenant: the one that used the least processor time
// lately is served next. A job that uses more of it than [heavyUse] goes on at
// a lower priority.
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

// Stats returns what the pool did.
func (p *Pool) Stats() Stats {
	a, b := p.calls.statistics(), p.compile.statistics()
	return Stats{
		Live: a.Live + b.Live, Idle: a.Idle + b.Idle, Waiting: a.Waiting + b.Waiting,
		Started: a.Started + b.Started, Runs: a.Runs + b.Runs, Killed: a.Killed + b.Killed,
	}
}

// Close ends the children that are idle, and those at work when they are done.
func (p *Pool) Close() error {
	p.calls.close()
	p.compile.close()
	return nil
}

func unavailable(err error) error {
	return &tool.Error{
		Kind: tool.Unavailable, Op: "sandbox.Run", Err: err,
		Msg: "the sandbox does not start; the worker's operator finds the reason in its log",
	}
}
