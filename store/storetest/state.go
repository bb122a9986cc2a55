package storetest

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/statetest"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// begun admits an attempt of a call and returns it as an owner of state.
func (f *Fixture) begun(tb testing.TB, e ledger.Entry) ledger.StateOwner {
	tb.Helper()
	ticket := f.Admit(tb, e, true, false)
	return ledger.StateOwner{Tenant: f.Tenant, RunID: f.Run.ID, EffectID: e.EffectID, Fence: ticket.Fence}
}

// another returns a further call of the fixture's run.
func (f *Fixture) another(tb testing.TB, n int) ledger.Entry {
	tb.Helper()
	e := f.Lone(tb)
	e.EffectID = "effect-of-state-" + strconv.Itoa(n)
	return e
}

func (f *Fixture) keep(tb testing.TB, by ledger.StateOwner, key, value string) tool.StateValue {
	tb.Helper()
	change := tool.StateChange{Key: key}
	if value != "" {
		change.Value = json.RawMessage(value)
	}
	got, err := f.Store.WriteState(tb.Context(), by, change)
	require.NoError(tb, err)
	return got
}

func (f *Fixture) requireState(tb testing.TB, by ledger.StateOwner, key, value string, revision int64) {
	tb.Helper()
	got, err := f.Store.ReadState(tb.Context(), by, key)
	require.NoError(tb, err)
	require.Equal(tb, value, string(got.Value))
	require.Equal(tb, revision, got.Revision)
}

func testState(t *testing.T, d *Database) {
	t.Helper()

	t.Run("Kept", func(t *testing.T) {
		statetest.Run(t, func(t *testing.T) tool.StateStore {
			t.Helper()
			f := NewFixture(t, d)
			return f.begun(t, f.another(t, 1)).In(f.Store)
		})
	})

	t.Run("SharedByTheCallsOfARun", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		one, two := f.begun(t, f.another(t, 1)), f.begun(t, f.another(t, 2))
		f.requireState(t, one, "last", "", 0)
		require.Equal(t, int64(1), f.keep(t, one, "last", `{"n": 9007199254740993}`).Revision)
		f.requireState(t, two, "last", `{"n": 9007199254740993}`, 1)
		f.keep(t, two, "last", "")
		f.requireState(t, one, "last", "", 2)
		f.keep(t, one, "last", "null")
		f.requireState(t, two, "last", "null", 3)

		other := two
		other.RunID = f.NewRun(t).ID
		f.requireState(t, other, "last", "", 0)
	})

	t.Run("RepeatedCallsChangeItOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		call := f.another(t, 1)
		f.keep(t, f.begun(t, f.another(t, 2)), "count", "5")
		for range 3 { // Each attempt reads, adds one, and dies.
			by := f.begun(t, call)
			f.requireState(t, by, "count", "5", 1)
			expected := int64(1)
			got, err := f.Store.WriteState(t.Context(), by, tool.StateChange{
				Key: "count", Value: json.RawMessage("6"), If: &expected,
			})
			require.NoError(t, err)
			f.requireState(t, by, "count", "6", got.Revision)
			f.keep(t, by, "new", "1")
		}
		by := f.begun(t, call)
		f.requireState(t, by, "new", "", 0)
		f.keep(t, by, "new", "")
		f.keep(t, by, "count", "7")
		f.keep(t, by, "count", "8")
		after := f.begun(t, f.another(t, 3))
		f.requireState(t, after, "count", "8", 6)
		f.requireState(t, after, "new", "", 4)
	})

	t.Run("ComparesAndSets", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		const callers = 8
		var group sync.WaitGroup
		for n := range callers {
			by := f.begun(t, f.another(t, n))
			group.Go(func() {
				for {
					seen, err := f.Store.ReadState(t.Context(), by, "count")
					if err != nil {
						t.Error(err)
						return
					}
					count, _ := strconv.Atoi(string(seen.Value))
					_, err = f.Store.WriteState(t.Context(), by, tool.StateChange{
						Key: "count", Value: json.RawMessage(strconv.Itoa(count + 1)), If: &seen.Revision,
					})
					if err == nil {
						return
					}
					if tool.KindOf(err) != tool.Conflict {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		f.requireState(t, f.begun(t, f.another(t, callers)), "count", strconv.Itoa(callers), callers)
	})

	t.Run("OnlyTheLatestAttemptOfAnOpenCall", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.another(t, 1)
		zombie := f.begun(t, e)
		f.keep(t, zombie, "k", "1")
		latest := f.begun(t, e)
		_, err := f.Store.WriteState(t.Context(), zombie, tool.StateChange{Key: "k", Value: json.RawMessage("2")})
		RequireKind(t, tool.Conflict, err)
		f.keep(t, latest, "k", "3")
		_, err = f.Store.Settle(t.Context(), Completed(e, latest.Fence))
		require.NoError(t, err)
		_, err = f.Store.WriteState(t.Context(), latest, tool.StateChange{Key: "k", Value: json.RawMessage("4")})
		RequireKind(t, tool.Conflict, err)
		f.requireState(t, f.begun(t, f.another(t, 2)), "k", "3", 2)
	})
}

// stateCases are the foreign cases of the state of runs.
var stateCases = map[string]func(t *testing.T, f foreign){
	"ReadState": func(t *testing.T, f foreign) {
		t.Helper()
		by := f.begun(t, f.another(t, 1))
		f.keep(t, by, "k", "1")
		by.Tenant = f.stranger
		f.requireState(t, by, "k", "", 0)
	},
	"WriteState": func(t *testing.T, f foreign) {
		t.Helper()
		by := f.begun(t, f.another(t, 1))
		f.keep(t, by, "k", "1")
		stolen := by
		stolen.Tenant = f.stranger
		_, err := f.Store.WriteState(t.Context(), stolen, tool.StateChange{Key: "k", Value: json.RawMessage("2")})
		RequireKind(t, tool.Conflict, err)
		f.requireState(t, by, "k", "1", 1)
	},
}
