package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Lead runs passes while this process holds the lease, and waits for it while another does, until ctx ends.
// Errors of the database or Temporal are logged, and retried.
func (r *Reconciler) Lead(ctx context.Context) {
	var lease *store.Lease
	var said string
	r.metrics.expose(ctx)
	for {
		held, err := r.turn(ctx)
		switch {
		case err == nil:
			lease, said = &held, ""
		case ctx.Err() == nil && tool.KindOf(err) != tool.Conflict && err.Error() != said:
			said = err.Error() // Log it once, not every few seconds.
			r.log.WarnContext(ctx, "reconciling failed", slog.Any("error", err))
		}
		if errors.Is(err, errScope) && err.Error() != said {
			said = err.Error()
			r.log.ErrorContext(ctx, "reconciling failed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			r.metrics.leading.Store(false)
			if lease != nil {
				r.release(ctx, *lease)
			}
			return
		case <-time.After(r.cfg.Interval +
			time.Duration(rand.Int64N(int64(r.cfg.Interval/10)+1))): //nolint:gosec // Jitter.
		}
	}
}

// turn takes the lease, if it can, and runs one pass under it.
func (r *Reconciler) turn(ctx context.Context) (store.Lease, error) {
	lease, err := r.acquire(ctx)
	r.metrics.leading.Store(err == nil)
	if err != nil {
		return lease, err
	}
	passing, stop := context.WithCancel(ctx)
	defer stop()
	renewed := make(chan struct{})
	go func() { // Renew the lease during a long pass, and stop the pass if it is lost.
		defer close(renewed)
		r.keep(passing, stop, lease)
	}()
	report, err := r.Pass(passing, PassOptions{})
	stop()
	<-renewed
	if err != nil {
		return lease, err
	}
	if n := report.Closed(); n > 0 {
		r.log.InfoContext(ctx, "reconciled", slog.Int("closed", n), slog.Duration("took", report.Took))
	}
	return r.cfg.Maintenance.RenewLease(ctx, lease, r.cfg.Lease, true)
}

// keep renews a lease until ctx ends, and calls stop if another process has taken it.
func (r *Reconciler) keep(ctx context.Context, stop func(), lease store.Lease) {
	tick := time.NewTicker(r.cfg.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := r.cfg.Maintenance.RenewLease(ctx, lease, r.cfg.Lease, false); tool.KindOf(err) == tool.Conflict {
				stop()
				return
			}
		}
	}
}

// release releases the lease, so that the next process can lead at once.
func (r *Reconciler) release(ctx context.Context, lease store.Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := r.cfg.Maintenance.ReleaseLease(ctx, lease); err != nil {
		r.log.WarnContext(ctx, "releasing the reconciler's lease failed: it will expire", slog.Any("error", err))
	}
}

// errScope means that the record belongs to another namespace.
var errScope = errors.New("another namespace")

// acquire takes the lease for this namespace.
func (r *Reconciler) acquire(ctx context.Context) (store.Lease, error) {
	if r.cfg.Maintenance == nil {
		return store.Lease{}, &tool.Error{
			Kind: tool.Invalid, Op: "reconcile.Lead", Msg: "leading needs a maintenance connection to the database",
		}
	}
	scope, err := r.namespaceID(ctx)
	if err != nil {
		return store.Lease{}, err
	}
	lease, err := r.cfg.Maintenance.TakeLease(ctx, store.ReconcilerLease, r.holder, scope, r.cfg.Lease, r.cfg.Adopt)
	if err != nil && lease.Scope != "" && lease.Scope != scope {
		return lease, r.otherScope(scope, lease.Scope)
	}
	return lease, err
}

// CheckScope fails with tool.Conflict if the record belongs to another namespace of Temporal than this
// reconciler's, in which its runs would all seem lost. With [Config.Adopt] it does not fail.
func (r *Reconciler) CheckScope(ctx context.Context) error {
	if r.cfg.Maintenance == nil || r.cfg.Adopt {
		return nil
	}
	scope, err := r.namespaceID(ctx)
	if err != nil {
		return err
	}
	lease, err := r.cfg.Maintenance.ReadLease(ctx, store.ReconcilerLease)
	switch {
	case tool.KindOf(err) == tool.NotFound:
		return nil
	case err != nil:
		return err
	case lease.Scope != scope:
		return r.otherScope(scope, lease.Scope)
	}
	return nil
}

func (r *Reconciler) otherScope(scope, bound string) error {
	return &tool.Error{Kind: tool.Conflict, Op: "reconcile", Err: errScope, Msg: fmt.Sprintf(
		"the database was reconciled with the Temporal namespace of id %s, but %q has the id %s: correct TEMPORAL_ADDRESS "+
			"and TEMPORAL_NAMESPACE, "+
			"or, if Temporal was set up again and its workflows are lost, run: toolcrib reconcile --adopt-namespace", bound,
		r.cfg.Namespace, scope)}
}

// namespaceID returns the id of the namespace, which differs from that of a namespace of the same name in
// another cluster.
func (r *Reconciler) namespaceID(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	found, err := r.cfg.Temporal.WorkflowService().DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: r.cfg.Namespace})
	if err != nil {
		return "", unavailable("describing the namespace "+r.cfg.Namespace, err)
	}
	return found.GetNamespaceInfo().GetId(), nil
}
