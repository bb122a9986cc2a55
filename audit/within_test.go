package audit_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
)

// A page ends behind the row with which it reaches its bytes, and has one row at least.
func TestWithin(t *testing.T) {
	t.Parallel()
	row := func(before, after int) audit.Entry {
		return audit.Entry{Before: bytes.Repeat([]byte("b"), before), After: bytes.Repeat([]byte("a"), after)}
	}
	rows := []audit.Entry{row(0, 10), row(5, 5), row(0, 0), row(100, 0), row(1, 1)}
	for bound, want := range map[int64]int{1: 1, 10: 1, 11: 2, 20: 2, 21: 4, 120: 4, 121: 5, 1000: 5} {
		require.Len(t, audit.Within(rows, bound), want, bound)
	}
	require.Empty(t, audit.Within(nil, 5))
}
