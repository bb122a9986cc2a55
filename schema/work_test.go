package schema_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// A value is looked up in an enum, however many members that has.
func TestEnumCostsItsValueOnly(t *testing.T) {
	t.Parallel()

	members := make([]string, 8000)
	for i := range members {
		members[i] = strconv.Itoa(i)
	}
	raw := `{"type":"object","properties":{"a":{"type":"array","items":{"enum":[` + strings.Join(members, ",") + `]}}}}`
	s, err := schema.New(0).Compile(json.RawMessage(raw))
	require.NoError(t, err)
	require.NoError(t, s.Validate(t.Context(), json.RawMessage(`{"a":[1,2,3]}`)))
	many := strings.TrimSuffix(strings.Repeat("7999.0,", 100_000), ",")
	require.NoError(t, s.Validate(t.Context(), json.RawMessage(`{"a":[`+many+`]}`)))
	err = s.Validate(t.Context(), json.RawMessage(`{"a":[`+many+`,8000]}`))
	require.Equal(t, "/a/100000", tool.AsError(err).Path)
}

// Work that a payload of the size may not cause is refused, as invalid and
// never to be retried, with what to do about it.
func TestWorkOverBudget(t *testing.T) {
	t.Parallel()

	for name, c := range adversaries() {
		if !c.costly {
			continue
		}
		s, err := schema.New(0).Compile(json.RawMessage(c.schema))
		require.NoError(t, err, name)
		_, _, err = s.Prepare(t.Context(), json.RawMessage(c.payload))
		require.Equal(t, tool.Invalid, tool.KindOf(err), name)
		require.False(t, tool.AsError(err).MayRetry(tool.Execution{}), name)
		require.ErrorContains(t, err, "send fewer, smaller or less deeply nested values", name)
	}
}

// What is decided does not depend on when, or in which order, maps are walked.
func TestWorkIsTheSameEachTime(t *testing.T) {
	t.Parallel()

	for name, c := range adversaries() {
		var first string
		for range 3 {
			s, err := schema.New(0).Compile(json.RawMessage(c.schema))
			require.NoError(t, err, name)
			got, receipt, err := s.Prepare(t.Context(), json.RawMessage(c.payload))
			outcome := string(got) + string(receipt.JSON())
			if err != nil {
				outcome = err.Error()
			}
			if first == "" {
				first = outcome
			}
			require.Equal(t, first, outcome, name)
		}
	}
}

// A caller who has left is not worked for.
func TestWorkEndsWithItsContext(t *testing.T) {
	t.Parallel()

	c := adversaries()["recursive anyOf, 115 KB"]
	s, err := schema.New(0).Compile(json.RawMessage(c.schema))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = s.Prepare(ctx, json.RawMessage(c.payload))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Validate(ctx, json.RawMessage(c.payload)), context.Canceled)
}
