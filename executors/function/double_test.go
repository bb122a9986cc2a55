package function_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// Doubles answer in place of functions that act, take the same arguments, and record them.
func TestDoubles(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	acted := false
	require.NoError(t, function.Define(reg, "add", "Adds.", func(_ context.Context, _ addInput) (addOutput, error) {
		acted = true
		return addOutput{}, nil
	}, function.Egress(tool.EgressWrite), function.Publish("1.2.0"), function.Lifecycle(function.Hooks{
		Open: func(context.Context) error { acted = true; return nil },
	})))
	double, answers, err := reg.Double()
	require.NoError(t, err)
	require.Equal(t, reg.Summaries(), double.Summaries())
	require.Equal(t, []function.Summary{
		{Name: "add", Description: "Adds.", Version: "1.2.0", Egress: tool.EgressWrite},
	}, double.Summaries())
	original, _ := reg.Tool("add")
	copied, _ := double.Tool("add")
	require.JSONEq(t, string(original.Definition.InputSchema), string(copied.Definition.InputSchema))

	_, err = double.Run(t.Context(), "add", []byte(`{"a":1}`))
	require.Equal(t, tool.NotFound, tool.KindOf(err), "it has no answer yet")
	require.NoError(t, answers.Answer("add", addOutput{Sum: 41}))
	result, err := double.Run(t.Context(), "add", []byte(`{"a":"40","b":1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"sum":41}`, string(result.Structured))
	_, err = double.Run(t.Context(), "add", []byte(`{"a":true}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))

	require.Equal(t, []json.RawMessage{[]byte(`{"a":1}`), []byte(`{"a":40,"b":1}`)}, answers.Calls("add"))
	require.Equal(t, tool.Invalid, tool.KindOf(answers.Answer("add", map[string]string{"sum": "many"})))
	require.Equal(t, tool.NotFound, tool.KindOf(answers.Answer("subtract", 1)))
	require.NoError(t, answers.Answer("add", tool.ErrorResult("it is full")))
	result, err = double.Run(t.Context(), "add", []byte(`{"a":1}`))
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.False(t, acted)
}
