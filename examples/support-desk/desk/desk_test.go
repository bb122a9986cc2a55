package desk_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/support-desk/desk"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// caller runs the desk's functions as the platform does.
type caller struct {
	executor *function.Executor
	registry *function.Registry
	book     *desk.Notebook
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	c := &caller{registry: function.NewRegistry(), book: &desk.Notebook{}}
	require.NoError(t, desk.Define(c.registry, c.book))
	c.executor = function.New(c.registry)
	return c
}

func (c *caller) call(t *testing.T, name, effect, arguments string) *tool.Result {
	t.Helper()
	described, ok := c.registry.Tool(name)
	require.True(t, ok)
	result, err := c.executor.Execute(context.Background(), &tool.Call{
		CallIdentity: tool.CallIdentity{EffectID: effect}, Arguments: json.RawMessage(arguments),
		Version: &tool.Version{Slug: name, Number: "1.0.0", Snapshot: tool.Snapshot{Definition: described.Definition}},
	})
	require.NoError(t, err)
	return result
}

func TestCheckRefund(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		arguments string
		no        bool
		contains  string
	}{
		"Damaged": {
			`{"delivered_on":"2026-03-02","asked_on":"2026-03-12","reason":"damaged","price_cents":4900}`, false,
			`"allowed":true,"refund_cents":4900,"needs_person":true,"days_since_delivery":10`,
		},
		"Unwanted": {
			`{"delivered_on":"2026-03-02","asked_on":"2026-04-01","reason":"unwanted","price_cents":1000}`, false,
			`"allowed":true,"refund_cents":800,"needs_person":false`,
		},
		"TooLate": {
			`{"delivered_on":"2026-03-02","asked_on":"2026-04-02","reason":"unwanted","price_cents":1000}`, false,
			`"allowed":false,"refund_cents":0`,
		},
		"NotYet": {
			`{"delivered_on":"","asked_on":"2026-04-02","reason":"unwanted","price_cents":1000}`, true, "on its way",
		},
		"Backwards": {
			`{"delivered_on":"2026-03-02","asked_on":"2026-03-01","reason":"unwanted","price_cents":1}`, true, "before",
		},
		"OtherReason": {
			`{"delivered_on":"2026-03-02","asked_on":"2026-03-03","reason":"bored","price_cents":1}`, true, "bored",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			result := newCaller(t).call(t, desk.CheckRefund, "e", tt.arguments)
			require.Equal(t, tt.no, result.IsError)
			require.Contains(t, result.Content[0].Text+string(result.Structured), tt.contains)
		})
	}
}

func TestQuoteReplacement(t *testing.T) {
	t.Parallel()

	c := newCaller(t)
	result := c.call(
		t, desk.QuoteReplacement, "e", `{"price_cents":4900,"quantity":2,"shipping_cents":590,"goodwill_percent":10}`,
	)
	require.JSONEq(
		t,
		`{"goods_cents":9800,"discount_cents":980,"shipping_cents":590,"total_cents":9410,"currency":"EUR"}`,
		string(result.Structured),
	)
	require.True(t, c.call(t, desk.QuoteReplacement, "e", `{"price_cents":1,"quantity":0,"shipping_cents":0}`).IsError)
	require.True(
		t,
		c.call(
			t, desk.QuoteReplacement, "e", `{"price_cents":1,"quantity":1,"shipping_cents":0,"goodwill_percent":101}`,
		).IsError,
	)
}

// A call that is tried twice writes one note.
func TestWriteNoteOnce(t *testing.T) {
	t.Parallel()

	c := newCaller(t)
	const note = `{"order_id":"SO-1007","queue":"refunds","text":"Please pay 49 EUR back."}`
	first := c.call(t, desk.WriteNote, "effect-1", note)
	require.JSONEq(t, `{"note_id":"N-1","order_id":"SO-1007","queue":"refunds"}`, string(first.Structured))
	require.Equal(t, first.Structured, c.call(t, desk.WriteNote, "effect-1", note).Structured)
	require.Len(t, c.book.Notes(), 1)
	c.call(t, desk.WriteNote, "effect-2", note)
	require.Len(t, c.book.Notes(), 2)
	require.True(t, c.call(t, desk.WriteNote, "effect-3", `{"order_id":"","queue":"","text":" "}`).IsError)
}

// Pure functions may be repeated and run beside others; writing a note is not one.
func TestPurity(t *testing.T) {
	t.Parallel()

	c := newCaller(t)
	for name, pure := range map[string]bool{desk.CheckRefund: true, desk.QuoteReplacement: true, desk.WriteNote: false} {
		described, ok := c.registry.Tool(name)
		require.True(t, ok)
		require.Equal(t, pure, described.Definition.Execution.Pure, name)
		require.Equal(t, tool.EgressNone, described.Policy.EgressClass)
	}
	require.ErrorContains(t, desk.Define(c.registry, c.book), "taken")
}
