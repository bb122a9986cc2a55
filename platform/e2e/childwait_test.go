package e2e_test

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/wait"
)

const (
	beforeAsk   point = "before ask" // The call is to be approved, and no request is recorded.
	afterAsk    point = "after ask"
	beforeOffer point = "before offer" // The call is admitted, and not offered to executors yet.
	afterOffer  point = "after offer"
)

// mortalApprovals are the requests of a worker that is hit when it asks.
type mortalApprovals struct {
	wait.Approvals
	cfg childConfig
}

func (m mortalApprovals) Ask(ctx context.Context, r wait.Request) (wait.Approval, error) {
	m.cfg.hitIn(r.Entry.Slug, beforeAsk)
	asked, err := m.Approvals.Ask(ctx, r)
	m.cfg.hitIn(r.Entry.Slug, afterAsk)
	return asked, err
}

// mortalCalls are the calls of a worker that is hit when it offers one.
type mortalCalls struct {
	wait.Calls
	cfg childConfig
}

func (m mortalCalls) OfferCall(ctx context.Context, o wait.Offer) (wait.Call, error) {
	m.cfg.hitIn(o.Entry.Slug, beforeOffer)
	offered, err := m.Calls.OfferCall(ctx, o)
	m.cfg.hitIn(o.Entry.Slug, afterOffer)
	return offered, err
}

// briefSlots are the slots of a worker that may lease them for a shorter time.
type briefSlots struct {
	*store.Store
	cfg childConfig
}

func (b briefSlots) TakeSlot(ctx context.Context, want ledger.SlotRequest) (ledger.Slot, bool, error) {
	if b.cfg.LeaseS > 0 {
		want.Lease = time.Duration(b.cfg.LeaseS) * time.Second
	}
	return b.Store.TakeSlot(ctx, want)
}
