package activities

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
)

// Requests is the record of requests to runs that are in progress. Package store
// implements it.
type Requests interface {
	// ListenControl calls woken with each run that has a request, until ctx ends or the
	// connection fails, and first with an empty id: there may be requests from before.
	ListenControl(ctx context.Context, woken func(tenant tool.TenantID, runID string)) error
	// Requests returns what was asked of those of the runs of which something was.
	Requests(ctx context.Context, tenant tool.TenantID, runIDs []string) (map[string]agent.Requests, error)
}

// Control delivers recorded requests to the activities of runs in this process, sooner
// than heartbeats do. All of them share one listener. It is safe for concurrent use.
type Control struct {
	requests Requests
	log      *slog.Logger
	kick     chan struct{} // Has one token while runs are due.

	mu      sync.Mutex
	watches map[runKey]map[*watch]struct{} // Attempts may overlap.
	due     map[runKey]struct{}            // Runs whose requests are to be read.
	// recent are runs with requests that no activity here watched when they came, and when
	// that was: the activity may be on its way.
	recent map[runKey]time.Time
}

type runKey struct {
	tenant tool.TenantID
	runID  string
}

// watch is an activity that advances a run, or makes one of its calls.
type watch struct {
	execution string
	cancel    func()
	round     atomic.Int64 // The highest [agent.PauseRound] that was seen.
}

// pause returns the round that was seen last. It is safe for concurrent use, and zero for
// what watches nothing.
func (w *watch) pause() agent.PauseRound {
	if w == nil {
		return 0
	}
	return agent.PauseRound(w.round.Load())
}

// saw takes note of a round, and reports whether it is news.
func (w *watch) saw(round agent.PauseRound) bool {
	for {
		known := w.round.Load()
		if int64(round) <= known {
			return false
		}
		if w.round.CompareAndSwap(known, int64(round)) {
			return true
		}
	}
}

// NewControl returns a control, which does nothing before [Control.Run].
func NewControl(requests Requests, log *slog.Logger) *Control {
	return &Control{
		requests: requests, log: log, kick: make(chan struct{}, 1),
		watches: map[runKey]map[*watch]struct{}{}, due: map[runKey]struct{}{}, recent: map[runKey]time.Time{},
	}
}

const (
	minListenPause = 250 * time.Millisecond
	maxListenPause = 15 * time.Second
	// requestPause is the time before requests that could not be read are read again.
	requestPause = 250 * time.Millisecond
	// requestTimeout bounds a read of requests.
	requestTimeout = 2 * time.Second
	// recently is for how long a request is kept for an activity that is not here yet, and
	// maxRecent is of how many runs.
	recently  = 10 * time.Minute
	maxRecent = 10_000
)

// Run delivers requests until ctx ends. Call it once.
func (c *Control) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { c.listen(ctx) })
	wg.Go(func() { c.deliver(ctx) })
	wg.Wait()
}

// listen listens for requests, and again after failures. Meanwhile heartbeats bring
// cancellations, and rows of runs say what is paused.
func (c *Control) listen(ctx context.Context) {
	pause := minListenPause
	for {
		began := time.Now()
		err := c.requests.ListenControl(ctx, c.woken)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxListenPause {
			pause = minListenPause
		}
		c.log.WarnContext(ctx, "not listening for requests to runs; cancellations come with heartbeats",
			slog.Any("error", err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxListenPause)
	}
}

// woken makes a run due if it is watched, or all runs for an empty id.
func (c *Control) woken(tenant tool.TenantID, runID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if runID == "" {
		for key := range c.watches {
			c.due[key] = struct{}{}
		}
	} else if key := (runKey{tenant, runID}); len(c.watches[key]) > 0 {
		c.due[key] = struct{}{}
	} else {
		c.remember(key)
	}
	c.again()
}

// remember keeps a run for an activity that is not here yet. It is called with the lock
// held.
func (c *Control) remember(key runKey) {
	now := time.Now()
	if len(c.recent) >= maxRecent {
		maps.DeleteFunc(c.recent, func(_ runKey, at time.Time) bool { return now.Sub(at) > recently })
	}
	if len(c.recent) < maxRecent {
		c.recent[key] = now
	}
}

// again has due runs read. It is called with the lock held.
func (c *Control) again() {
	if len(c.due) == 0 {
		return
	}
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// deliver reads the requests of runs that are due, one tenant after the other.
func (c *Control) deliver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.kick:
		}
		var failed bool
		for tenant, runs := range c.take() {
			if err := c.read(ctx, tenant, runs); err != nil && ctx.Err() == nil {
				c.log.WarnContext(ctx, "reading requests to runs failed", slog.String("tenant_id", string(tenant)),
					slog.Any("error", err))
				failed = true
				for _, run := range runs {
					c.woken(tenant, run)
				}
			}
		}
		if !failed {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(requestPause):
		}
	}
}

// take returns the runs that are due.
func (c *Control) take() map[tool.TenantID][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := map[tool.TenantID][]string{}
	for key := range c.due {
		due[key.tenant] = append(due[key.tenant], key.runID)
	}
	clear(c.due)
	return due
}

// read delivers the requests of a tenant's runs.
func (c *Control) read(ctx context.Context, tenant tool.TenantID, runIDs []string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	requests, err := c.requests.Requests(ctx, tenant, runIDs)
	for id, r := range requests {
		key := runKey{tenant, id}
		c.cancel(key, r.CancelExecution)
		c.pause(ctx, key, r.Pause)
	}
	return err
}

// pause gives the activities that advance a run its round. That one of them did not have it is
// logged: from then on it begins nothing, or goes on.
func (c *Control) pause(ctx context.Context, key runKey, round agent.PauseRound) {
	if c.given(key, round) {
		c.log.InfoContext(ctx, "an activity learned of a pause", slog.String("tenant_id", string(key.tenant)),
			slog.String("run_id", key.runID), slog.Int("round", int(round)), slog.Bool("paused", round.Paused()))
	}
}

// given gives the activities that advance a run its round, and reports whether it was news to
// one of them.
func (c *Control) given(key runKey, round agent.PauseRound) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watches[key] {
		news = w.saw(round) || news
	}
	return news
}

// cancel cancels the activities that advance a run for an execution. One for another
// execution, such as the one after a reset, goes on.
func (c *Control) cancel(key runKey, execution string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watches[key] {
		if execution != "" && w.execution == execution {
			w.cancel()
		}
	}
}

// watch calls cancel when the run's cancellation is requested of an execution, and keeps the
// run's round, until stop is called.
func (c *Control) watch(key runKey, execution string, cancel func()) (w *watch, stop func()) {
	w = &watch{execution: execution, cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.recent[key]; ok && time.Since(at) < recently {
		c.due[key] = struct{}{}
		c.again()
	}
	delete(c.recent, key)
	if c.watches[key] == nil {
		c.watches[key] = map[*watch]struct{}{}
	}
	c.watches[key][w] = struct{}{}
	return w, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.watches[key], w); len(c.watches[key]) == 0 {
			delete(c.watches, key)
		}
	}
}

// catchUp delivers what was asked of a run before it was watched. Where that cannot be read, it
// is read again, and comes later.
func (c *Control) catchUp(ctx context.Context, key runKey) {
	if c.read(ctx, key.tenant, []string{key.runID}) == nil || ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due[key] = struct{}{}
	c.again()
}

// controlled returns a context that a recorded request to cancel the run ends as
// Temporal's does, and what knows whether the run is paused. An attempt after one that was lost
// has the requests from before when it begins: the run may have been paused meanwhile.
func (a *Activities) controlled(
	ctx context.Context, tenant tool.TenantID, runID string,
) (_ context.Context, w *watch, release func()) {
	if a.Control == nil {
		return ctx, nil, func() {}
	}
	info := activity.GetInfo(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	key := runKey{tenant, runID}
	w, stop := a.Control.watch(key, info.WorkflowExecution.RunID, func() { cancel(temporal.NewCanceledError()) })
	if info.Attempt > 1 {
		a.Control.catchUp(ctx, key)
	}
	return ctx, w, func() {
		stop()
		cancel(nil)
	}
}

// controlled returns a context that a request to cancel the run ends. An activity that is
// to end the run is not cancelled, nor paused.
func (d *driver) controlled(ctx context.Context) (_ context.Context, release func()) {
	if d.in.Stop != nil {
		return ctx, func() {}
	}
	ctx, d.watch, release = d.a.controlled(ctx, d.in.Principal.Tenant, d.in.RunID)
	return ctx, release
}

// watchedRuns are runs whose rows deliver their requests wherever they are read, so that
// a request from before a watch is seen without a query of its own.
type watchedRuns struct {
	agent.Runs

	control *Control
}

func (r watchedRuns) FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error) {
	run, err := r.Runs.FindRun(ctx, tenant, id)
	r.saw(ctx, &run, err)
	return run, err
}

func (r watchedRuns) OpenTurn(
	ctx context.Context, tenant tool.TenantID, runID, head, key string,
) (agent.OpenTurn, error) {
	open, err := r.Runs.OpenTurn(ctx, tenant, runID, head, key)
	r.saw(ctx, &open.Run, err)
	return open, err
}

func (r watchedRuns) saw(ctx context.Context, run *agent.Run, err error) {
	if err == nil && run.CancelExecution != "" {
		r.control.cancel(runKey{run.Tenant, run.ID}, run.CancelExecution)
	}
	if err == nil && run.PauseRound > 0 {
		r.control.pause(ctx, runKey{run.Tenant, run.ID}, run.PauseRound)
	}
}

// watchedJournal is a journal whose runs deliver their requests like those of watchedRuns.
type watchedJournal struct {
	loop.Journal

	runs watchedRuns
}

func (j watchedJournal) Begin(
	ctx context.Context, run agent.Run, key string,
) (begun agent.Run, open *agent.OpenTurn, err error) {
	begun, open, err = j.Journal.Begin(ctx, run, key)
	j.runs.saw(ctx, &begun, err)
	return begun, open, err
}

func (j watchedJournal) Record(ctx context.Context, r loop.Record) (loop.Recorded, error) {
	done, err := j.Journal.Record(ctx, r)
	if done.Open != nil {
		j.runs.saw(ctx, &done.Open.Run, err)
	}
	return done, err
}
