package tool_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolcribtest"
)

// A call without a run's state is told so, and keys and values that are not allowed are
// refused before a store sees them.
func TestStateRefuses(t *testing.T) {
	t.Parallel()

	none := tool.State(t.Context())
	_, err := none.Get(t.Context(), "k")
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, "tool.WithState")
	_, err = none.Set(t.Context(), "k", 1)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.Equal(t, tool.Conflict, tool.KindOf(none.Delete(t.Context(), "k")))

	s := tool.State(tool.WithState(t.Context(), new(toolcribtest.State)))
	for _, key := range []string{"", "a b", "a\n", "ä", strings.Repeat("k", tool.MaxStateKey+1)} {
		_, err := s.Set(t.Context(), key, 1)
		require.Equal(t, tool.Invalid, tool.KindOf(err), key)
		_, err = s.Get(t.Context(), key)
		require.Equal(t, tool.Invalid, tool.KindOf(err), key)
	}
	_, err = s.Set(t.Context(), "k", func() {})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	set, err := s.Set(t.Context(), "shop/last.order-1", "A-17")
	require.NoError(t, err)
	var n int
	found, err := set.Decode(&n)
	require.True(t, found)
	require.Equal(t, tool.InternalError, tool.KindOf(err))
}
