package storetest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// EventTypes returns the types of a run's events, after checking that they are
// numbered without gaps.
func (f *Fixture) EventTypes(tb testing.TB, runID string) []tool.EventType {
	tb.Helper()
	events, err := f.Store.ListEvents(tb.Context(), f.Tenant, runID, 0, 0)
	require.NoError(tb, err)
	types := make([]tool.EventType, len(events))
	for i, e := range events {
		require.Equal(tb, int64(i+1), e.Seq)
		RequireTyped(tb, e)
		types[i] = e.Type
	}
	return types
}

// RequireTyped fails where the payload of an event is not of its type.
func RequireTyped(tb testing.TB, e tool.Event) {
	tb.Helper()
	payload, known := agent.EventPayloads()[e.Type]
	require.True(tb, known, "no payload for %s", e.Type)
	into := reflect.New(reflect.TypeOf(payload))
	dec := json.NewDecoder(bytes.NewReader(e.Data))
	dec.DisallowUnknownFields()
	require.NoError(tb, dec.Decode(into.Interface()), "%s: %s", e.Type, e.Data)
	require.NotContains(tb, string(e.Data), ":null", "%s: %s", e.Type, e.Data)
}

// eventCases are the foreign cases of events.
var eventCases = map[string]func(t *testing.T, f foreign){
	"ListEvents": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.ListEvents(t.Context(), f.stranger, f.Run.ID, 0, 0)
		RequireKind(t, tool.NotFound, err)
	},
	"CallEvents": func(t *testing.T, f foreign) {
		t.Helper()
		call := f.Lone(t)
		f.Fixture.Admit(t, call, true, true)
		found, err := f.Store.CallEvents(t.Context(), f.stranger, f.Run.ID, call.InvocationID)
		require.NoError(t, err)
		require.Empty(t, found)
	},
}
