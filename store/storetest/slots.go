package storetest

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// slot asks for one of three slots.
func (f *Fixture) slot(holder string, lease time.Duration) ledger.SlotRequest {
	return ledger.SlotRequest{Tenant: f.Tenant, Scope: "group/mail", Limit: 3, Holder: holder, Lease: lease}
}

// lease takes a slot that is free.
func (f *Fixture) lease(tb testing.TB, want ledger.SlotRequest) ledger.Slot {
	tb.Helper()
	held, ok, err := f.Store.TakeSlot(tb.Context(), want)
	require.NoError(tb, err)
	require.True(tb, ok)
	return held
}

func (f *Fixture) requireNoSlot(tb testing.TB, want ledger.SlotRequest) {
	tb.Helper()
	_, ok, err := f.Store.TakeSlot(tb.Context(), want)
	require.NoError(tb, err)
	require.False(tb, ok)
}

func testSlots(t *testing.T, d *Database) {
	t.Helper()

	t.Run("AsManyAsTheLimit", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		const callers = 24
		taken := make(chan ledger.Slot, callers)
		var group sync.WaitGroup
		for i := range callers {
			group.Go(func() {
				held, ok, err := f.Store.TakeSlot(t.Context(), f.slot(strconv.Itoa(i), time.Minute))
				if err == nil && ok {
					taken <- held
				}
			})
		}
		group.Wait()
		close(taken)
		numbers := map[int]bool{}
		for held := range taken {
			require.Less(t, held.Number, 3)
			require.False(t, numbers[held.Number], "slot %d was leased twice", held.Number)
			numbers[held.Number] = true
		}
		require.NotEmpty(t, numbers, "a slot that another caller looks at is passed over: some get one")
		for len(numbers) < 3 {
			numbers[f.lease(t, f.slot("more"+strconv.Itoa(len(numbers)), time.Minute)).Number] = true
		}
		f.requireNoSlot(t, f.slot("late", time.Minute))
		other := f.slot("late", time.Minute)
		other.Scope = "group/other"
		f.lease(t, other)
	})

	t.Run("FreedAndExpired", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		one, two := f.slot("one", time.Minute), f.slot("two", time.Minute)
		one.Limit, two.Limit = 1, 1
		held := f.lease(t, one)
		f.requireNoSlot(t, two)
		require.NoError(t, f.Store.FreeSlot(t.Context(), held))
		two.Lease = time.Millisecond
		f.lease(t, two)
		require.Eventually(t, func() bool {
			_, ok, err := f.Store.TakeSlot(t.Context(), one)
			return err == nil && ok
		}, 10*time.Second, 5*time.Millisecond, "a lease that is over frees its slot")
	})

	t.Run("AStaleHolderFreesNothing", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		one, two := f.slot("one", time.Minute), f.slot("two", time.Minute)
		one.Limit, two.Limit = 1, 1
		first := f.lease(t, one)
		second := f.lease(t, one)
		require.Equal(t, first.Number, second.Number, "a later attempt takes its call's slot over")
		require.Greater(t, second.Fence, first.Fence)
		require.NoError(t, f.Store.FreeSlot(t.Context(), first))
		f.requireNoSlot(t, two)
		require.NoError(t, f.Store.FreeSlot(t.Context(), second))
		f.lease(t, two)
	})

	t.Run("ALowerLimit", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.lease(t, f.slot("one", time.Minute))
		low := f.slot("two", time.Minute)
		low.Limit = 1
		f.requireNoSlot(t, low)
		f.lease(t, f.slot("three", time.Minute))
	})

	t.Run("WhatItNeeds", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, change := range []func(*ledger.SlotRequest){
			func(r *ledger.SlotRequest) { r.Limit = 0 }, func(r *ledger.SlotRequest) { r.Scope = "" },
			func(r *ledger.SlotRequest) { r.Holder = "" }, func(r *ledger.SlotRequest) { r.Lease = 0 },
		} {
			want := f.slot("one", time.Minute)
			change(&want)
			_, _, err := f.Store.TakeSlot(t.Context(), want)
			RequireKind(t, tool.Invalid, err)
		}
	})
}

// slotCases are the foreign cases of slots.
var slotCases = map[string]func(t *testing.T, f foreign){
	"TakeSlot": func(t *testing.T, f foreign) {
		t.Helper()
		want := f.slot("one", time.Minute)
		want.Limit = 1
		f.lease(t, want)
		want.Tenant = f.stranger
		f.lease(t, want)
	},
	"FreeSlot": func(t *testing.T, f foreign) {
		t.Helper()
		want := f.slot("one", time.Minute)
		want.Limit = 1
		held := f.lease(t, want)
		held.Tenant = f.stranger
		require.NoError(t, f.Store.FreeSlot(t.Context(), held))
		want.Holder = "two"
		f.requireNoSlot(t, want)
	},
}
