package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Settle closes a call that ended outside its Invoke: one that was refused
// admission, cancelled before it began, or whose worker never came back. If
// its Invoke settled it after all, that outcome stands and is returned.
func (a *Activities) Settle(ctx context.Context, in wire.SettleInput) (wire.InvokeOutput, error) {
	if err := checkTenant(ctx, in.Invoke.Principal.Tenant); err != nil {
		return wire.InvokeOutput{}, failure.Encode(err)
	}
	// An effect is of the prepared arguments; a call whose arguments cannot be
	// prepared had none.
	if err := a.complete(ctx, &in.Invoke); err != nil && tool.KindOf(err).Retryable() {
		return wire.InvokeOutput{}, encode(ctx, err)
	}
	outcome, err := a.Ledger.Settle(ctx, ledger.Settlement{
		Entry: in.Invoke.Entry(), Status: in.Status, Kind: in.Kind, Msg: in.Msg,
		UnknownIfSent: !in.Invoke.Pin.Execution.Repeatable() && in.Kind != tool.Cancelled,
	})
	if err != nil {
		logFailure(ctx, "settling failed", err, callAttrs(&in.Invoke)...)
		return wire.InvokeOutput{}, encode(ctx, fmt.Errorf("settling %s: %w", in.Invoke.Pin, err))
	}
	return output(outcome, in.Invoke.Full), nil
}

// FinishRun records how a run ended. A run ends once.
func (a *Activities) FinishRun(ctx context.Context, in wire.FinishRunInput) error {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return failure.Encode(err)
	}
	err := a.Runs.FinishRun(ctx, agent.RunEnd{
		Tenant: in.Principal.Tenant, RunID: in.RunID, Status: in.Status,
		HeadMessageID: in.Head, Turns: in.Turns, Kind: in.Kind, Msg: in.Msg,
		Execution: activity.GetInfo(ctx).WorkflowExecution.RunID,
	})
	if err != nil {
		logFailure(ctx, "finishing the run failed", err, "tenant_id", in.Principal.Tenant, "run_id", in.RunID)
		return encode(ctx, fmt.Errorf("finishing run %s: %w", in.RunID, err))
	}
	return nil
}

// output makes what histories carry of an outcome.
func output(o ledger.Outcome, full bool) wire.InvokeOutput {
	out := wire.InvokeOutput{
		InvocationID: o.InvocationID, Status: o.Status, IsError: o.IsError(), Kind: o.Kind, Msg: o.Msg,
	}
	if o.Result == nil {
		return out
	}
	if full {
		out.Result = fitting(o)
	} else {
		out.Preview = preview(o.Result.Content)
	}
	return out
}

// maxHistoryResult bounds the result that goes through a history, as JSON.
// Temporal refuses 2 MB.
const maxHistoryResult = 512 << 10

// maxMarkerResult bounds the result, as JSON, that a call in the fast lane brings
// along itself. The markers of all calls of a workflow's task go to the server
// in one message, which it may refuse above 4 MB, and again each time the task
// is repeated; a regular activity's result goes alone.
const maxMarkerResult = 32 << 10

// size returns how many bytes of a history a result takes.
func size(r *tool.Result) int {
	if r == nil {
		return 0
	}
	raw, _ := json.Marshal(r) // It was stored as JSON.
	return len(raw)
}

// fitting returns the result, or where it is too large for a history, its
// beginning and a reference to the invocation that holds all of it.
func fitting(o ledger.Outcome) *tool.Result {
	raw, err := json.Marshal(o.Result)
	if err == nil && len(raw) <= maxHistoryResult {
		return o.Result
	}
	return &tool.Result{
		IsError: o.Result.IsError,
		Content: []tool.Content{
			tool.Text(preview(o.Result.Content)),
			{Type: tool.ResourceContent, URI: "toolcrib://invocations/" + o.InvocationID, MIMEType: "application/json"},
		},
		Warnings: []string{fmt.Sprintf("the result has %d bytes, too many for a workflow's history; the invocation holds all of it", len(raw))},
	}
}
