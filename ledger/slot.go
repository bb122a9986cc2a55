package ledger

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Slots limits how many calls of a scope run at once, across the runs and workers of a tenant,
// by leases (checklist Z13). Implementations are safe for concurrent use.
type Slots interface {
	// TakeSlot leases a slot to a call, and reports whether one was free. A call that has one
	// from an attempt before takes that over; the earlier lease ends then. A slot whose lease
	// is over is free.
	TakeSlot(ctx context.Context, want SlotRequest) (Slot, bool, error)

	// FreeSlot ends a lease. One that is over already, because another call or a later attempt
	// has the slot, changes nothing.
	FreeSlot(ctx context.Context, held Slot) error
}

// SlotRequest asks for a slot.
type SlotRequest struct {
	Tenant tool.TenantID
	Scope  string // What is limited: see [tool.Execution.SlotScope].
	Limit  int    // How many calls of the scope may run at once, as far as this call is concerned.
	Holder string // Effect id of the call.
	Lease  time.Duration
}

// Slot is a leased slot.
type Slot struct {
	Tenant tool.TenantID
	Scope  string
	Number int // Counted from 0, below the limit.
	Fence  int64
	Holder string
}
