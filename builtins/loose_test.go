package builtins_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/field"
)

// intentionallyOpen are the built-ins whose point is to take any JSON: another
// tool's arguments, or what a filter is applied to. They declare it.
var intentionallyOpen = []string{"function_call", "json_transform", "manageTools", "mcp_call", "retrieval_pipeline"}

// intentionallyInputLess are the built-ins that take nothing, and say so.
var intentionallyInputLess = []string{"get_plans", "leave_space", "skip"}

// Every client can show what our own tools take.
func TestEveryClientCanShowTheInputs(t *testing.T) {
	t.Parallel()

	gate, err := egress.New(egress.Config{})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	cfg := means()
	cfg.Gate = gate
	var open, inputLess []string
	for _, s := range builtins.New(cfg).Specs() {
		places := schema.LoosePlaces(s.Definition.InputSchema)
		for _, l := range places {
			require.False(t, l.Hidden, "%s hides its properties: %s", s.Key, l.Msg)
		}
		if s.Definition.Interaction.OpenInput {
			require.NotEmpty(t, places, "%s declares what it is not", s.Key)
			open = append(open, s.Key)
		} else {
			require.Empty(t, places, s.Key)
		}
		if takesNothing(t, s.Definition.InputSchema) {
			inputLess = append(inputLess, s.Key)
		}
	}
	require.Equal(t, intentionallyOpen, open)
	require.ElementsMatch(t, intentionallyInputLess, inputLess)
}

// takesNothing reports whether an input schema has no properties.
func takesNothing(t *testing.T, raw []byte) bool {
	t.Helper()
	form, err := field.Read(raw)
	require.NoError(t, err)
	return len(form.Fields) == 0
}
