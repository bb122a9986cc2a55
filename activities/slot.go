package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// slotPatience is how long an attempt waits for a slot. It is a part of the grace that
	// Temporal gives an attempt beside its tool's timeout.
	slotPatience = 2 * time.Minute
	// slotPatienceInPlace is how long an attempt in place waits for a slot of a profile.
	slotPatienceInPlace = time.Second
	// slotMargin is how much longer than the tool's timeout a slot is leased: for admission,
	// marking and settlement.
	slotMargin = time.Minute
	// slotReserve is how much of the margin is left when the last slot is taken.
	slotReserve = 5 * time.Second
	// How often a slot is asked for, at first and at last.
	minSlotInterval = 20 * time.Millisecond
	maxSlotInterval = 500 * time.Millisecond
)

// takeSlot waits for a slot, if the calls of the tool are limited across the runs of its
// tenant, and returns the function that ends the lease. It fails with tool.RateLimited when none
// is free in time: the attempt has sent nothing, so another may follow.
func (t *attempt) takeSlot(ctx context.Context) (free func(), err error) {
	limit := t.in.Pin.Execution.TenantMaxConcurrency
	if limit <= 0 {
		return func() {}, nil
	}
	return t.lease(ctx, tool.Slots{
		Scope: t.in.Pin.Execution.SlotScope(t.in.Pin.ToolID), Limit: limit, By: "its tenant_max_concurrency",
	}, slotPatience)
}

// profileSlots returns the limits that profiles set to calls of a tool that run at once, in an order
// that is the same for all: no two calls wait for one another.
func profileSlots(toolID string, uses []tool.ProfileUse) (out []tool.Slots) {
	for i := range uses {
		if slots, ok := uses[i].Slots(toolID); ok {
			out = append(out, slots)
		}
	}
	slices.SortFunc(out, func(a, b tool.Slots) int { return strings.Compare(a.Scope, b.Scope) })
	return out
}

// takeProfileSlots waits for the slots that profiles limit the admitted call to, and returns how long
// it waited. In place it waits only as long as a step may: a regular activity waits longer.
func (t *attempt) takeProfileSlots(ctx context.Context) (free func(), waited time.Duration, err error) {
	free = func() {}
	if len(t.slots) == 0 {
		return free, 0, nil
	}
	patience := slotPatience
	if local := activity.GetInfo(ctx).IsLocalActivity; (local || t.inPlace) && !t.last(ctx) {
		patience = slotPatienceInPlace
	}
	began := time.Now()
	for _, slots := range t.slots {
		if !t.leased.IsZero() { // A slot that comes when the first one's lease is half over is of no use.
			patience = min(patience, slotMargin-time.Since(t.leased)-slotReserve)
		}
		one, err := t.lease(ctx, slots, patience)
		if err != nil {
			free()
			return nil, 0, err
		}
		before := free
		free = func() { one(); before() }
	}
	return free, time.Since(began), nil
}

// lease waits for a slot, and returns the function that ends its lease.
func (t *attempt) lease(ctx context.Context, limit tool.Slots, patience time.Duration) (free func(), err error) {
	if t.a.Slots == nil {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "activities.Invoke", Msg: "this worker cannot limit calls across runs",
		}
	}
	want := ledger.SlotRequest{
		Tenant: t.in.Principal.Tenant, Scope: limit.Scope, Limit: limit.Limit, Holder: t.in.EffectID,
		Lease: t.in.Pin.Execution.Timeout() + slotMargin,
	}
	began, interval := time.Now(), minSlotInterval
	for {
		asked := time.Now() // Before the lease begins.
		held, ok, err := t.a.Slots.TakeSlot(ctx, want)
		if err != nil {
			return nil, fmt.Errorf("taking a slot: %w", err)
		}
		if ok {
			if t.leased.IsZero() {
				t.leased = asked
			}
			return func() { t.freeSlot(ctx, held) }, nil
		}
		if time.Since(began) > patience {
			return nil, &tool.Error{
				Kind: tool.RateLimited, Op: "activities.Invoke", RetryAfter: maxSlotInterval, Msg: fmt.Sprintf(
					"%d calls of %s ran at once all the time: %s allows no more", limit.Limit, t.in.Pin.Slug, limit.By),
			}
		}
		jitter := time.Duration(time.Now().UnixNano()) % interval
		pause := time.NewTimer(interval/2 + jitter)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, context.Cause(ctx)
		}
		interval = min(interval*3/2, maxSlotInterval)
	}
}

// keepsSlot fails where so much time has passed since the slot was taken that its lease could
// end during the call: another call may take it over then.
func (t *attempt) keepsSlot() error {
	if t.leased.IsZero() || time.Since(t.leased) < slotMargin {
		return nil
	}
	return &tool.Error{
		Kind: tool.Unavailable, Op: "activities.Invoke", Msg: "its slot was held for too long before the call could begin",
	}
}

// freeSlot ends a lease. Where that fails, the lease ends by itself.
func (t *attempt) freeSlot(ctx context.Context, held ledger.Slot) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), admitPatience)
	defer cancel()
	if err := t.a.Slots.FreeSlot(ctx, held); err != nil {
		logFailure(ctx, "freeing a slot failed; its lease ends by itself", err, callAttrs(t.in)...)
	}
}
