// Package statetest holds implementations of tool.StateStore to what tool.RunState promises.
package statetest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// Run tests stores, each of a new run.
func Run(t *testing.T, newStore func(t *testing.T) tool.StateStore) {
	t.Helper()
	for name, try := range map[string]func(t *testing.T, s *tool.RunState){
		"Values": values, "Revisions": revisions, "TooLarge": tooLarge, "TooMany": tooMany,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(t, tool.State(tool.WithState(t.Context(), newStore(t))))
		})
	}
}

func values(t *testing.T, s *tool.RunState) {
	t.Helper()
	got, err := s.Get(t.Context(), "bookmark")
	require.NoError(t, err)
	require.Equal(t, tool.StateValue{}, got)
	require.NoError(t, s.Delete(t.Context(), "other"), "there is none")

	set, err := s.Set(t.Context(), "bookmark", map[string]int64{"n": 9007199254740993})
	require.NoError(t, err)
	got, err = s.Get(t.Context(), "bookmark")
	require.NoError(t, err)
	require.Equal(t, set, got)
	var v map[string]int64
	found, err := got.Decode(&v)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, map[string]int64{"n": 9007199254740993}, v)

	require.NoError(t, s.Delete(t.Context(), "bookmark"))
	got, err = s.Get(t.Context(), "bookmark")
	require.NoError(t, err)
	require.Nil(t, got.Value)
	require.Equal(t, set.Revision+1, got.Revision, "who knew the value is told that it is gone")
	_, err = s.Set(t.Context(), "bookmark", nil)
	require.NoError(t, err)
	got, err = s.Get(t.Context(), "bookmark")
	require.NoError(t, err)
	require.Equal(t, "null", string(got.Value))
}

func revisions(t *testing.T, s *tool.RunState) {
	t.Helper()
	first, err := s.CompareAndSet(t.Context(), "count", 0, 1)
	require.NoError(t, err)
	require.Equal(t, int64(1), first.Revision)
	_, err = s.CompareAndSet(t.Context(), "count", 0, 2)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	_, err = s.CompareAndSet(t.Context(), "count", first.Revision+1, 2)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	second, err := s.CompareAndSet(t.Context(), "count", first.Revision, 2)
	require.NoError(t, err)
	third, err := s.Set(t.Context(), "count", 3)
	require.NoError(t, err)
	require.Equal(t, second.Revision+1, third.Revision)
}

func tooLarge(t *testing.T, s *tool.RunState) {
	t.Helper()
	large := strings.Repeat("x", tool.MaxStateValue-len(`""`))
	_, err := s.Set(t.Context(), "larger", large+"x")
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	for i := range tool.MaxState / tool.MaxStateValue {
		_, err := s.Set(t.Context(), strconv.Itoa(i), large)
		require.NoError(t, err)
	}
	_, err = s.Set(t.Context(), "more", 1)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	_, err = s.Set(t.Context(), "0", 1)
	require.NoError(t, err)
	_, err = s.Set(t.Context(), "more", 1)
	require.NoError(t, err)
}

func tooMany(t *testing.T, s *tool.RunState) {
	t.Helper()
	for i := range tool.MaxStateKeys {
		require.NoError(t, s.Delete(t.Context(), strconv.Itoa(i)))
	}
	_, err := s.Set(t.Context(), "more", 1)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	_, err = s.Set(t.Context(), "0", 1)
	require.NoError(t, err)
}
