package schedule

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// StartStatus is the state of a start.
type StartStatus string

// States of starts.
const (
	Starting StartStatus = "starting" // It is being decided.
	Started  StartStatus = "started"  // The run exists.
	Refused  StartStatus = "refused"  // There is no run; Reason says why.
)

// StartStatuses lists the states of starts.
func StartStatuses() []StartStatus { return []StartStatus{Starting, Started, Refused} }

// Start is a time of a schedule, and what became of it.
type Start struct {
	ID         string
	Tenant     tool.TenantID
	ScheduleID string
	At         time.Time // The time that was meant, to the second.
	RunID      string    // Of the run, if Status is [Started].
	Status     StartStatus
	Kind       tool.Kind // Of the refusal, as Reason.
	Reason     string
	CreatedAt  time.Time
	// Fresh says that the start was made by this reservation, and not by an earlier one.
	Fresh bool
}

// StartQuery selects starts of a schedule, newest first.
type StartQuery struct {
	Tenant     tool.TenantID
	ScheduleID string
	Status     StartStatus // Empty for all.
	Before     string      // Id; only those before.
	Limit      int
}

// Store stores schedules and their starts. Package store implements it.
//
// Every method acts within one tenant: records of others are NotFound, like those that do not
// exist.
type Store interface {
	// CreateSchedule fails with Conflict where the tenant has [MaxSchedules], or one of the name.
	CreateSchedule(ctx context.Context, s Schedule) (Schedule, error)
	FindSchedule(ctx context.Context, tenant tool.TenantID, nameOrID string) (Schedule, error)
	// ListSchedules returns the schedules before an id, newest first.
	ListSchedules(ctx context.Context, tenant tool.TenantID, before string, limit int) ([]Schedule, error)
	// ChangeSchedule replaces all but the name, if the revision is still s.Revision; else it fails
	// with [ErrChanged]. It replaces StartsLeft only where starts is true: starts use that up, and
	// leave the revision as it is.
	ChangeSchedule(ctx context.Context, s Schedule, starts bool) (Schedule, error)
	// DeleteSchedule marks a schedule as deleted: no method but ClaimSchedules finds it from then
	// on. A revision that is not zero is the expected one: another fails with [ErrChanged].
	DeleteSchedule(ctx context.Context, tenant tool.TenantID, id string, revision int64) (Schedule, error)
	ListScheduleStarts(ctx context.Context, q StartQuery) ([]Start, error)
}

// Starts records the starts of schedules. Package store implements it.
type Starts interface {
	FindSchedule(ctx context.Context, tenant tool.TenantID, nameOrID string) (Schedule, error)
	// ReserveScheduleStart takes a time of a schedule for a start, or returns the start that has
	// it. A fresh one uses up one of Schedule.StartsLeft, and is [Refused] where there is none; the
	// last pauses the schedule. It fails with NotFound for a schedule that was deleted.
	ReserveScheduleStart(ctx context.Context, tenant tool.TenantID, schedule string, at time.Time) (Start, error)
	// EndScheduleStart records the Status, RunID, Kind and Reason of a start.
	EndScheduleStart(ctx context.Context, s Start) error
	// ScheduleAuthority returns the principal that a subject is now. It fails with Denied where the
	// subject may do nothing any more, and with NotFound where the tenant is suspended.
	ScheduleAuthority(ctx context.Context, tenant tool.TenantID, subject string) (tool.Principal, error)
}

// Claimed is a schedule that a server compares with Temporal's.
type Claimed struct {
	Schedule
	Deleted  bool
	Resting  bool // Its tenant is suspended.
	Failures int  // Attempts in a row that failed.
	Fence    int64
	Due      time.Time
}

// Sync is the outcome of a comparison.
type Sync struct {
	Claimed
	Error string        // Why Temporal does not have the revision; empty if it does.
	Next  time.Duration // Until the next comparison.
}

// Outbox is what a server that keeps Temporal's schedules needs of the store. Any number of
// servers may use it concurrently.
type Outbox interface {
	// ScheduleTenants returns up to limit tenants with schedules that are due to be compared.
	ScheduleTenants(ctx context.Context, limit int) ([]tool.TenantID, error)
	// ClaimSchedules leases schedules of a tenant that are due, or the one of an id, due or not.
	// Those that another server has leased are left out.
	ClaimSchedules(ctx context.Context, tenant tool.TenantID, id string, most int, lease time.Duration) ([]Claimed, error)
	// EndScheduleSync ends a lease. A schedule that was changed meanwhile is due at once. It fails
	// with Conflict where the lease has been lost, as RemoveSchedule does.
	EndScheduleSync(ctx context.Context, s Sync) error
	// RemoveSchedule removes a deleted schedule with its starts, once Temporal's is gone.
	RemoveSchedule(ctx context.Context, c Claimed) error
	// SweepScheduleStarts deletes starts of all tenants that are older than 30 days.
	SweepScheduleStarts(ctx context.Context) (int, error)
}
