package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// How much a pass does at the most.
const (
	pageRows     = 1000
	maxSuspects  = 500 // Runs whose workflows are described.
	maxHosts     = 100 // Workflows started by hosts, which no list contains.
	maxStranded  = 500
	atOnce       = 8
	rescanPeriod = time.Hour
)

// scan is how far the passes of a reconciler have come. What one pass does not
// get to, the next begins with.
type scan struct {
	runs      store.OpenRun
	hosts     store.OpenRun
	effects   time.Time // Effects admitted before have been looked at.
	rescanned time.Time
	looked    func() // Moves effects on, when a pass has gone well.
}

// PassOptions says what a pass does.
type PassOptions struct {
	// DryRun finds and changes nothing.
	DryRun bool
	// UnknownSince lists the calls whose outcome is unknown and that were
	// admitted since; none if it is zero.
	UnknownSince time.Time
}

// Pass looks at everything once, closes what has ended without saying so, and
// reports it. It needs no lease: two passes at once do each thing once. It
// fails with tool.Unavailable where the database or Temporal does not answer;
// what was done until then is in the report.
func (r *Reconciler) Pass(ctx context.Context, opts PassOptions) (Report, error) {
	began := time.Now()
	report := Report{DryRun: opts.DryRun, Findings: []Finding{}, Unknown: []UnknownCall{}}
	err := r.pass(ctx, opts, &report)
	report.Took = time.Since(began)
	r.metrics.passed(ctx, report.Took, err)
	if !opts.DryRun {
		r.record(ctx, report.Findings)
	}
	return report, err
}

func (r *Reconciler) pass(ctx context.Context, opts PassOptions, report *Report) error {
	if r.cfg.Maintenance == nil {
		return &tool.Error{
			Kind: tool.Invalid, Op: "reconcile.Pass", Msg: "a pass needs a maintenance connection to the database",
		}
	}
	open, err := r.openWorkflows(ctx)
	if err != nil {
		return err
	}
	report.Workflows = len(open)
	found := &findings{report: report}
	suspects, err := r.suspects(ctx, open, report)
	if err != nil {
		return err
	}
	err = r.each(ctx, len(suspects), func(ctx context.Context, i int) error {
		closed, err := r.closeSuspect(ctx, suspects[i], opts.DryRun)
		found.add(closed...)
		return err
	})
	if err == nil && r.scan.looked != nil && !opts.DryRun {
		r.scan.looked()
	}
	// One that fails keeps the others from nothing.
	err = errors.Join(err, r.documents(ctx, open, opts.DryRun, found), r.orphans(ctx, open, opts.DryRun, found))
	if err == nil && !opts.UnknownSince.IsZero() {
		report.Unknown, err = r.unknownCalls(ctx, opts.UnknownSince)
	}
	return err
}

// each calls fn for so many things, several at once, and joins what fails.
func (r *Reconciler) each(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			errs[i] = fn(ctx, i)
			return nil
		})
	}
	_ = group.Wait() // It has no errors of its own.
	return errors.Join(errors.Join(errs...), ctx.Err())
}

// findings gathers what several goroutines find.
type findings struct {
	mu     sync.Mutex
	report *Report
}

func (f *findings) add(found ...Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.Findings = append(f.report.Findings, found...)
}

// suspects lists the runs that may have ended without saying so: those that are
// open in the record and not in Temporal's list, which may be late, and ended
// ones with open calls.
func (r *Reconciler) suspects(
	ctx context.Context, open map[string]workflowRef, report *Report,
) ([]store.RunRef, error) {
	var out []store.RunRef
	hosts := 0
	for {
		page, err := r.cfg.Maintenance.OpenRuns(ctx, r.scan.runs, r.cfg.Grace, pageRows)
		if err != nil {
			return nil, fmt.Errorf("listing open runs: %w", err)
		}
		report.Runs += len(page)
		for _, run := range page {
			switch _, listed := open[run.WorkflowID]; {
			case listed:
			case run.Kind == agent.HostRun && (hosts >= maxHosts || !behind(run, r.scan.hosts)):
			case run.Kind == agent.HostRun:
				hosts++
				r.scan.hosts = run
				out = append(out, store.RunRef{Tenant: run.Tenant, ID: run.ID})
			case len(out)-hosts >= maxSuspects:
				report.Partial = true
				return out, nil // The next pass begins behind the last run that was taken.
			default:
				out = append(out, store.RunRef{Tenant: run.Tenant, ID: run.ID})
			}
			r.scan.runs = run
		}
		if len(page) < pageRows {
			break
		}
	}
	r.scan.runs = store.OpenRun{}
	if hosts < maxHosts {
		r.scan.hosts = store.OpenRun{} // All of them had their turn.
	}
	stranded, err := r.stranded(ctx)
	return append(out, stranded...), err
}

// behind reports whether a run comes after another in the order of pages.
func behind(run, other store.OpenRun) bool {
	return run.Tenant > other.Tenant || run.Tenant == other.Tenant && run.ID > other.ID
}

// stranded lists ended runs with open calls: an attempt that had not noticed the
// end of its workflow admitted them afterwards. Only calls of late are looked
// at, and all of them now and then.
func (r *Reconciler) stranded(ctx context.Context) ([]store.RunRef, error) {
	now := time.Now()
	since := r.scan.effects
	if now.Sub(r.scan.rescanned) >= rescanPeriod {
		since = time.Time{}
	}
	out, err := r.cfg.Maintenance.StrandedRuns(ctx, since, r.cfg.Grace, maxStranded)
	if err != nil {
		return nil, fmt.Errorf("listing ended runs with open calls: %w", err)
	}
	r.scan.looked = func() {
		if len(out) == maxStranded {
			return // There may be more.
		}
		// Calls that are open while their runs are will be looked at with those.
		r.scan.effects = now.Add(-10 * r.cfg.Grace)
		if since.IsZero() {
			r.scan.rescanned = now
		}
	}
	return out, nil
}

// closeSuspect closes a run if it is what it seems to be.
func (r *Reconciler) closeSuspect(ctx context.Context, ref store.RunRef, dry bool) ([]Finding, error) {
	run, err := r.cfg.Store.FindRun(ctx, ref.Tenant, ref.ID)
	switch {
	case tool.KindOf(err) == tool.NotFound:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading run %s: %w", ref.ID, err)
	}
	return r.closeRun(ctx, run, look{grace: r.cfg.Grace, dry: dry})
}

// Once passes until everything has been looked at, and reports it all. Before, it
// makes sure that the record belongs to this namespace, and fails with
// tool.Conflict where it does not; with [Config.Adopt] it makes it so, unless
// this is a dry run.
func (r *Reconciler) Once(ctx context.Context, opts PassOptions) (Report, error) {
	if err := r.CheckScope(ctx); err != nil {
		return Report{}, err
	}
	if r.cfg.Adopt && !opts.DryRun {
		lease, err := r.acquire(ctx)
		if err != nil {
			return Report{}, err
		}
		defer r.release(ctx, lease)
	}
	all, err := r.Pass(ctx, opts)
	for err == nil && all.Partial {
		var next Report
		next, err = r.Pass(ctx, opts)
		all.Findings, all.Unknown, all.Partial = append(all.Findings, next.Findings...), next.Unknown, next.Partial
		all.Runs, all.Took = all.Runs+next.Runs, all.Took+next.Took
	}
	return all, err
}
