package artifact

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tenant with many programs makes no other's be read again.
func TestProgramsOfOthersAreKept(t *testing.T) {
	t.Parallel()
	var s shelf
	mine := &program{}
	s.put("quiet", "a", mine, 1<<20)
	for i := range 1000 {
		s.put("noisy", strconv.Itoa(i), &program{}, 4<<20)
		require.LessOrEqual(t, s.kept, maxKept)
	}
	require.Same(t, mine, s.get("quiet", "a"))
	require.NotNil(t, s.get("noisy", "999"), "the newest is there")
	require.Nil(t, s.get("noisy", "a"), "none is another tenant's")
}
