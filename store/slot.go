package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// TakeSlot implements [ledger.Slots].
func (s *Store) TakeSlot(ctx context.Context, want ledger.SlotRequest) (ledger.Slot, bool, error) {
	const op = "store.TakeSlot"
	if want.Limit < 1 || want.Scope == "" || want.Holder == "" || want.Lease <= 0 {
		return ledger.Slot{}, false, &tool.Error{
			Kind: tool.Invalid, Op: op, Msg: "a slot needs a scope, a limit, a holder and a lease",
		}
	}
	take := db.TakeSlotParams{
		TenantID: string(want.Tenant), Scope: text(want.Scope), Most: number(want.Limit), Holder: text(want.Holder),
		LeaseS: want.Lease.Seconds(),
	}
	var row db.TakeSlotRow
	taken := false
	err := s.do(ctx, op, want.Tenant, func(q *db.Queries) (err error) {
		row, err = q.TakeSlot(ctx, take)
		if errors.Is(err, pgx.ErrNoRows) {
			var added int64
			added, err = q.AddSlots(ctx, db.AddSlotsParams{
				TenantID: take.TenantID, Scope: take.Scope, Places: places(take.Most),
			})
			if err != nil || added == 0 {
				return err
			}
			if row, err = q.TakeSlot(ctx, take); errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
		}
		taken = err == nil
		return err
	})
	if err != nil || !taken {
		return ledger.Slot{}, false, err
	}
	return ledger.Slot{
		Tenant: want.Tenant, Scope: take.Scope, Number: int(row.Slot), Fence: row.Fence, Holder: want.Holder,
	}, true, nil
}

// places returns the numbers of so many slots.
func places(n int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// FreeSlot implements [ledger.Slots].
func (s *Store) FreeSlot(ctx context.Context, held ledger.Slot) error {
	return s.do(ctx, "store.FreeSlot", held.Tenant, func(q *db.Queries) error {
		return q.FreeSlot(ctx, db.FreeSlotParams{
			TenantID: string(held.Tenant), Scope: text(held.Scope), Slot: number(held.Number), Fence: held.Fence,
			Holder: text(held.Holder),
		})
	})
}
