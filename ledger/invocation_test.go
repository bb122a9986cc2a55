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

func TestRunID(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)
	invocation := ledger.InvocationID(at, "effect")
	id := ledger.RunID(invocation)
	require.Equal(t, id, ledger.RunID(invocation), "another attempt names the same")
	require.NotEqual(t, invocation, id)
	require.NotEqual(t, id, ledger.RunID(ledger.InvocationID(at, "another")))
	parsed, err := uuid.Parse(id)
	require.NoError(t, err)
	require.Equal(t, uuid.Version(7), parsed.Version())
	sec, nsec := parsed.Time().UnixTime()
	require.Equal(t, at, time.Unix(sec, nsec).UTC())
	require.Empty(t, ledger.RunID("no id"))
}

func TestStepEffect(t *testing.T) {
	t.Parallel()

	id := ledger.StepEffect("parent", "one")
	require.Len(t, id, 64)
	require.Equal(t, id, ledger.StepEffect("parent", "one"))
	require.NotEqual(t, id, ledger.StepEffect("parent", "two"))
	require.NotEqual(t, id, ledger.StepEffect("paren", "tone"))
}

// Steps stand behind their composition, in their order.
func TestStepInvocationID(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)
	last := ledger.InvocationID(at, "whole")
	for i := range 50 {
		id := ledger.StepInvocationID(ledger.InvocationID(at, "whole"), i, ledger.StepEffect("whole", string(rune('a'+i))),
			at.Add(-time.Hour))
		require.Greater(t, id, last)
		last = id
	}
	require.Equal(t, ledger.InvocationID(at, "e"), ledger.StepInvocationID("no id", 3, "e", at))
}
