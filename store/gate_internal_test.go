package store

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// An operation whose callers all wait leaves connections to the others, whatever
// the number of its callers, and gets its share back when it no longer stalls.
func TestGateKeepsRoomForOthers(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		g := newGate(4)
		release := make(chan bool)
		for range 40 {
			go func() {
				leave, err := g.enter(t.Context(), "locked")
				if err != nil {
					return
				}
				leave(<-release)
			}()
		}
		synctest.Wait()
		require.Equal(t, 3, g.lanes["locked"].busy, "a quarter stays free")
		leave, err := g.enter(t.Context(), "other")
		require.NoError(t, err)
		leave(false)

		for range 3 {
			release <- true
		}
		synctest.Wait()
		require.Equal(t, 1, g.lanes["locked"].busy, "what stalls holds one")
		for range 2 {
			release <- false
			synctest.Wait()
		}
		require.Equal(t, 3, g.lanes["locked"].busy)
		for range 35 {
			release <- false
		}
		synctest.Wait()
		require.Zero(t, g.busy)
		require.Empty(t, g.turns)
	})
}

// Operations take turns, so that one caller does not stand behind all of another's.
func TestGateTakesTurns(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		leave, err := g.enter(t.Context(), "first")
		require.NoError(t, err)
		var order []string
		wait := func(op string) {
			go func() {
				leave, err := g.enter(t.Context(), op)
				if err == nil {
					order = append(order, op)
					leave(false)
				}
			}()
			synctest.Wait()
		}
		for range 3 {
			wait("many")
		}
		wait("one")
		leave(false)
		synctest.Wait()
		require.Equal(t, []string{"many", "one", "many", "many"}, order)
	})
}

// A caller who leaves gives back what it would have been given, and too many who
// wait are refused.
func TestGateIsLeft(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		leave, err := g.enter(t.Context(), "op")
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		refused := make(chan error, maxWaiting)
		for range maxWaiting {
			go func() {
				_, err := g.enter(ctx, "op")
				refused <- err
			}()
		}
		synctest.Wait()
		_, err = g.enter(ctx, "op")
		require.ErrorIs(t, err, errCrowded)
		cancel()
		for range maxWaiting {
			require.ErrorIs(t, <-refused, context.Canceled)
		}
		leave(false)
		leave, err = g.enter(t.Context(), "op")
		require.NoError(t, err)
		leave(false)
		require.Zero(t, g.busy)
		require.Empty(t, g.turns)
	})
}
