package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
)

func TestInvocationID(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)
	id := ledger.InvocationID(at, "effect")
	require.Equal(t, id, ledger.InvocationID(at, "effect"), "a replay makes the same")
	require.NotEqual(t, id, ledger.InvocationID(at, "another"))
	require.NotEqual(t, id, ledger.InvocationID(at.Add(time.Millisecond), "effect"))

	parsed, err := uuid.Parse(id)
	require.NoError(t, err)
	require.Equal(t, uuid.Version(7), parsed.Version())
	require.Equal(t, uuid.RFC4122, parsed.Variant())
	sec, nsec := parsed.Time().UnixTime()
	require.Equal(t, at, time.Unix(sec, nsec).UTC())
}
