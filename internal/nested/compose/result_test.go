package compose_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/nested/compose"
	"github.com/toolcrib/toolcrib/tool"
)

func TestResultTellsWhatBecameOfEachStep(t *testing.T) {
	t.Parallel()

	done := compose.StepEnd{ID: "order", Tool: "find@1.0.0", Status: tool.StatusCompleted, InvocationID: "i1"}
	no := compose.StepEnd{
		ID: "price", Tool: "quote@1.2.0", Status: tool.StatusCompleted, InvocationID: "i2", IsError: true,
		Msg: "no such article.",
	}
	down := compose.StepEnd{
		ID: "price", Tool: "quote@1.2.0", Status: tool.StatusFailed, InvocationID: "i2", IsError: true,
		Kind: tool.Unavailable, Msg: "upstream answered 503",
	}
	unknown := compose.StepEnd{
		ID: "pay", Tool: "pay@1.0.0", Status: tool.StatusUnknown, IsError: true, Kind: tool.Unknown,
		Msg: "the connection broke",
	}
	rejected := compose.StepEnd{
		ID: "pay", Tool: "pay@1.0.0", Status: tool.StatusRejected, IsError: true, Kind: tool.Denied, Msg: "a person said no",
	}
	notRun := compose.StepEnd{ID: "mail", Tool: "send@1.0.0", Status: compose.NotRun}
	why := &tool.Error{Kind: tool.Unavailable, Msg: `step "price": upstream answered 503`}
	tests := []struct {
		name    string
		steps   []compose.StepEnd
		failure error
		status  string
		text    string
	}{
		{"Completed", []compose.StepEnd{done}, nil, compose.Completed, "All steps succeeded: order (find@1.0.0)."},
		{
			"CameToItsEnd",
			[]compose.StepEnd{done, no},
			nil, compose.Partial,
			"The composition ended, but not every step succeeded.\nFailed: price (quote@1.2.0) returned an error: no " +
				"such article.\nDone, and not undone: order (find@1.0.0).",
		},
		{
			"Stopped",
			[]compose.StepEnd{done, down, notRun},
			why, compose.Partial,
			"The composition stopped.\nFailed: price (quote@1.2.0) failed (unavailable): upstream answered 503.\nDone, and " +
				"not undone: order (find@1.0.0).\nNot run: mail (send@1.0.0).",
		},
		{
			"NothingDone",
			[]compose.StepEnd{down, notRun},
			why, compose.Failed,
			"The composition stopped.\nFailed: price (quote@1.2.0) failed (unavailable): upstream answered 503.\nNo step " +
				"succeeded.\nNot run: mail (send@1.0.0).",
		},
		{
			"UnknownOutcome",
			[]compose.StepEnd{done, unknown},
			why, compose.Partial,
			"The composition stopped: step \"price\": upstream answered 503.\nFailed: pay (pay@1.0.0) has an unknown outcome, " +
				"and may have taken effect: the connection broke.\nDone, and not undone: order (find@1.0.0).",
		},
		{
			"Rejected",
			[]compose.StepEnd{rejected},
			why, compose.Failed,
			"The composition stopped: step \"price\": upstream answered 503.\nFailed: pay (pay@1.0.0) failed (denied): a " +
				"person said no.\nNo step succeeded.",
		},
		{
			"NoOutput",
			[]compose.StepEnd{done},
			&tool.Error{Kind: tool.Invalid, Msg: "the output: there is nothing at /steps/order/result"}, compose.Partial,
			"The composition stopped: the output: there is nothing at /steps/order/result.\nDone, and not undone: order " +
				"(find@1.0.0).",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := compose.Result(tt.steps, json.RawMessage(`{"n":1}`), tt.failure)
			require.Equal(t, tt.text, got.Content[0].Text)
			require.Equal(t, tt.failure != nil, got.IsError)
			var structured struct {
				Status string            `json:"status"`
				Steps  []json.RawMessage `json:"steps"`
				Output json.RawMessage   `json:"output"`
			}
			require.NoError(t, json.Unmarshal(got.Structured, &structured))
			require.Equal(t, tt.status, structured.Status)
			require.Len(t, structured.Steps, len(tt.steps))
			require.Equal(t, tt.failure == nil, len(structured.Output) > 0, "the output is of those that came to their end")
		})
	}
	got := compose.Result([]compose.StepEnd{done, down, notRun}, nil, why)
	require.JSONEq(t, `{"status":"partial","steps":[
		{"id":"order","tool":"find@1.0.0","status":"completed","invocation_id":"i1","is_error":false},
		{"id":"price","tool":"quote@1.2.0","status":"failed","invocation_id":"i2","is_error":true,"error":{"kind":"unavailable","message":"upstream answered 503"}},
		{"id":"mail","tool":"send@1.0.0","status":"not_run","is_error":false}],
		"error":{"kind":"unavailable","message":"step \"price\": upstream answered 503"}}`, string(got.Structured))
}
