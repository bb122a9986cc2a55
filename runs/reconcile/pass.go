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

// Bounds of one pass.
const (
	pageRows     = 1000
	maxSuspects  = 500 // Runs whose workflows are described.
	maxHosts     = 100 // Workflows started by hosts, which no list contains.
	maxStranded  = 500
	atOnce       = 8
	rescanPeriod = time.Hour
)

// scan is the progress of a reconciler's passes. The next pass continues where one stopped.
type scan struct {
	runs      store.OpenRun
	hosts     store.OpenRun
	effects   time.Time // Effects admitted before were checked.
	rescanned time.Time
	looked    func() // Advances effects after a successful pass.
}

// PassOptions configures a pass.
type PassOptions struct {
	// DryRun reports findings without changes.
	DryRun bool
	// UnknownSince requests the calls of unknown outcome that were admitted since; none if
	// it is zero.
	UnknownSince time.Time
}

// Pass checks everything once, closes what has ended without being recorded, and reports it. It needs no
// lease: concurrent passes are safe. It fails with tool.Unavailable if the database or Temporal does not
// answer; the report has the closures until then.
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
	// A failure of one does not stop the others.
	err = errors.Join(err, r.documents(ctx, open, opts.DryRun, found), r.orphans(ctx, open, opts.DryRun, found))
	if err == nil && !opts.UnknownSince.IsZero() {
		report.Unknown, err = r.unknownCalls(ctx, opts.UnknownSince)
	}
	return err
}

// each calls fn for 0 to n-1, several concurrently, and joins the errors.
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

// findings collects the findings of several goroutines.
type findings struct {
	mu     sync.Mutex
	report *Report
}

func (f *findings) add(found ...Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.Findings = append(f.report.Findings, found...)
}

// suspects lists the runs that may have ended without recording it: those that are open in the database and
// not in Temporal's list, which may be stale, and ended ones with open calls.
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
			case run.Kind == agent.RunKindHost && (hosts >= maxHosts || !behind(run, r.scan.hosts)):
			case run.Kind == agent.RunKindHost:
				hosts++
				r.scan.hosts = run
				out = append(out, store.RunRef{Tenant: run.Tenant, ID: run.ID})
			case len(out)-hosts >= maxSuspects:
				report.Partial = true
				return out, nil // The next pass continues after this run.
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
		r.scan.hosts = store.OpenRun{} // Start again.
	}
	stranded, err := r.stranded(ctx)
	return append(out, stranded...), err
}

// behind reports whether a run is after another in the order of pages.
func behind(run, other store.OpenRun) bool {
	return run.Tenant > other.Tenant || run.Tenant == other.Tenant && run.ID > other.ID
}

// stranded lists ended runs with open calls, which an attempt admitted after the end of its workflow. It
// checks recent calls, and all of them from time to time.
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
		// Open calls of open runs will be checked with those.
		r.scan.effects = now.Add(-10 * r.cfg.Grace)
		if since.IsZero() {
			r.scan.rescanned = now
		}
	}
	return out, nil
}

// closeSuspect closes a run if its workflow has ended.
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

// Once runs passes until everything was checked, and reports it all. It first checks that the record belongs to
// this namespace, and fails with tool.Conflict if it does not; with [Config.Adopt] it adopts the record,
// except in a dry run.
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
