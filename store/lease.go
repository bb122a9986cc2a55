package store

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ReconcilerLease is the name of the reconciler's lease.
const ReconcilerLease = "reconciler"

// MaxLease is the longest lease. A lease that ends later was taken while the
// database's clock was ahead, and is ignored.
const MaxLease = 5 * time.Minute

func checkLease(op string, d time.Duration) error {
	if d > MaxLease {
		return &tool.Error{Kind: tool.Invalid, Op: op, Msg: fmt.Sprintf("a lease of %s is longer than %s", d, MaxLease)}
	}
	return nil
}

// Lease is the exclusive right of one process to do periodic work. All times are the
// database's.
type Lease struct {
	Name     string
	Holder   string        // Names the process.
	Scope    string        // The scope of the work, such as a namespace.
	Fence    int64         // Incremented for each holder: an earlier one cannot renew the lease.
	Left     time.Duration // Until it ends; not positive when it has ended.
	PassedAt *time.Time    // When the work was last done.
	Since    time.Duration // Since PassedAt; zero where it was never done.
}

// TakeLease takes or renews a lease that is free or the holder's own. It fails with
// tool.Conflict while another process holds it, and, unless adopt is set, where it is
// bound to another scope; it then returns the current lease.
func (m *Maintenance) TakeLease(
	ctx context.Context, name, holder, scope string, ttl time.Duration, adopt bool,
) (Lease, error) {
	const op = "store.TakeLease"
	if err := checkLease(op, ttl); err != nil {
		return Lease{}, err
	}
	var taken db.TakeLeaseRow
	err := m.store.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		taken, err = q.TakeLease(ctx, db.TakeLeaseParams{
			Name: name, Holder: text(holder), Scope: text(scope), Seconds: ttl.Seconds(), Adopt: adopt,
		})
		return err
	})
	if err == nil {
		return leaseOf(db.ReadLeaseRow(taken)), nil
	}
	if !noLease(err) {
		return Lease{}, err
	}
	held, err := m.ReadLease(ctx, name)
	if err != nil {
		return Lease{}, err
	}
	msg := fmt.Sprintf("the lease %s is held by %s", name, held.Holder)
	if held.Scope != scope {
		msg = fmt.Sprintf("the lease %s is bound to %s, not to %s", name, held.Scope, scope)
	}
	return held, &tool.Error{Kind: tool.Conflict, Op: op, Msg: msg}
}

// RenewLease renews a lease, and records a completed pass if passed is set. It fails
// with tool.Conflict when another process has taken it.
func (m *Maintenance) RenewLease(ctx context.Context, l Lease, ttl time.Duration, passed bool) (Lease, error) {
	const op = "store.RenewLease"
	if err := checkLease(op, ttl); err != nil {
		return Lease{}, err
	}
	var row db.RenewLeaseRow
	err := m.store.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		row, err = q.RenewLease(ctx, db.RenewLeaseParams{
			Name: l.Name, Holder: l.Holder, Fence: l.Fence, Seconds: ttl.Seconds(), Passed: passed,
		})
		return err
	})
	if noLease(err) {
		return Lease{}, &tool.Error{Kind: tool.Conflict, Op: op, Msg: "another process has taken the lease " + l.Name}
	}
	return leaseOf(db.ReadLeaseRow(row)), err
}

// ReleaseLease ends a lease if the holder still has it, so that another process can
// take it at once.
func (m *Maintenance) ReleaseLease(ctx context.Context, l Lease) error {
	return m.store.doGlobal(ctx, "store.ReleaseLease", func(q *db.Queries) error {
		return q.ReleaseLease(ctx, db.ReleaseLeaseParams{Name: l.Name, Holder: l.Holder, Fence: l.Fence})
	})
}

// ReadLease returns a lease. It fails with tool.NotFound where it was never taken.
func (m *Maintenance) ReadLease(ctx context.Context, name string) (Lease, error) {
	var row db.ReadLeaseRow
	err := m.store.doGlobal(ctx, "store.ReadLease", func(q *db.Queries) (err error) {
		row, err = q.ReadLease(ctx, name)
		return err
	})
	return leaseOf(row), explain(err, tool.NotFound, "the lease was never taken")
}

func leaseOf(row db.ReadLeaseRow) Lease {
	l := Lease{
		Name: row.Name, Holder: row.Holder, Scope: row.Scope, Fence: row.Fence, Left: row.ExpiresAt.Sub(row.ReadAt),
		PassedAt: row.PassedAt,
	}
	if row.PassedAt != nil {
		l.Since = max(row.ReadAt.Sub(*row.PassedAt), 0)
	}
	return l
}
