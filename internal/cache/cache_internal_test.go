package cache

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type place struct{ tenant, name string }

func TestCache(t *testing.T) {
	t.Parallel()

	c := New[place, []int](Options{Entries: 100})
	_, ok := c.Get(place{"a", "b"})
	require.False(t, ok)
	c.Set(place{"a", "b"}, []int{1})
	c.Set(place{"ab", ""}, []int{2})
	c.Set(place{"a", "b"}, []int{3})
	got, ok := c.Get(place{"a", "b"})
	require.True(t, ok)
	require.Equal(t, []int{3}, got)
	got, _ = c.Get(place{"ab", ""})
	require.Equal(t, []int{2}, got)
}

// Keys whose hashes are equal are never taken for one another.
func TestEqualHashes(t *testing.T) {
	t.Parallel()

	c := New[string, string](Options{Entries: 100})
	c.hash = func(string) uint64 { return 7 }
	c.Set("a", "of a")
	_, ok := c.Get("b")
	require.False(t, ok)
	c.Set("b", "of b")
	got, ok := c.Get("b")
	require.True(t, ok)
	require.Equal(t, "of b", got)
	_, ok = c.Get("a")
	require.False(t, ok)
}

func TestBounds(t *testing.T) {
	t.Parallel()

	for name, o := range map[string]Options{"entries": {Entries: 10}, "weight": {Weight: 100}} {
		c := New[int, string](o)
		kept := func() (n int) {
			for i := range 1000 {
				if _, ok := c.Get(i); ok {
					n++
				}
			}
			return n
		}
		for i := range 1000 {
			c.SetWeighing(i, strconv.Itoa(i), 10)
		}
		require.Eventually(t, func() bool { return kept() <= 10 }, time.Minute, time.Millisecond, name)
		require.Positive(t, kept(), name)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()

	for name, o := range map[string]Options{
		"life": {Entries: 10, Life: time.Millisecond}, "idle": {Entries: 10, Idle: time.Millisecond},
	} {
		c := New[int, string](o)
		c.Set(1, "x")
		require.Eventually(t, func() bool { _, ok := c.Get(1); return !ok }, time.Minute, 5*time.Millisecond, name)
	}
	c := New[int, string](Options{Entries: 10, Life: time.Hour})
	c.Set(1, "x")
	_, ok := c.Get(1)
	require.True(t, ok)
}

//nolint:paralleltest // It counts allocations.
func TestGetDoesNotAllocate(t *testing.T) {
	c := New[place, *int](Options{Entries: 10})
	one := 1
	c.Set(place{"a", "b"}, &one)
	require.Zero(t, testing.AllocsPerRun(1000, func() { c.Get(place{"a", "b"}) }))
}
