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
	if err := a.complete(ctx, &in.Invoke); err != nil && mayPass(ctx, err) {
		return wire.InvokeOutput{}, encode(ctx, err)
	}
	s := ledger.Settlement{
		Status: in.Status, Kind: in.Kind, Msg: in.Msg,
		UnknownIfSent: !in.Invoke.Pin.Execution.Repeatable() && in.Kind != tool.Cancelled,
	}
	calls, err := a.gather(ctx, &in, &s)
	if err != nil {
		return wire.InvokeOutput{}, encode(ctx, err)
	}
	s.Entry = in.Invoke.Entry()
	outcome, err := a.Ledger.Settle(ctx, s)
	if err != nil {
		logFailure(ctx, "settling failed", err, callAttrs(&in.Invoke)...)
		return wire.InvokeOutput{}, encode(ctx, fmt.Errorf("settling %s: %w", in.Invoke.Pin, err))
	}
	if in.Child == nil {
		if err := a.unopen(ctx, &in.Invoke, outcome); err != nil {
			return wire.InvokeOutput{}, encode(ctx, err)
		}
	}
	out := output(outcome, &in.Invoke)
	out.Calls = calls
	return out, nil
}

// maxFaults is how often a settlement fails with what may pass, but not because
// something is away. It is repeated without an end, which its call must have.
const maxFaults = 10

// mayPass reports whether a settlement should be repeated after err.
func mayPass(ctx context.Context, err error) bool {
	kind := tool.KindOf(err)
	return kind == tool.Unavailable || kind.Retryable() && activity.GetInfo(ctx).Attempt < maxFaults
}

// gather completes the settlement of a nested call with what its runs or calls
// came to, and returns how many calls a run made. An error is one that may pass.
func (a *Activities) gather(ctx context.Context, in *wire.SettleInput, s *ledger.Settlement) (calls int, err error) {
	s.UnknownIfSent = s.UnknownIfSent && in.Child == nil && in.Steps == nil // Nothing was sent but by those.
	s.Acted = in.Child != nil || in.Steps != nil && in.Steps.Begun > 0
	var result *tool.Result
	switch {
	case in.Child != nil:
		var run agent.Run
		if run, err = a.childEnd(ctx, in); err == nil {
			result, calls = childResult(in, &run), run.Calls
		}
	case in.Steps != nil:
		result, err = a.composed(ctx, in)
	default:
		return 0, nil
	}
	if err == nil && in.Kind == "" {
		s.Result, err = a.answer(ctx, in, result)
	}
	switch {
	case err != nil && (mayPass(ctx, err) || ctx.Err() != nil):
		return calls, err
	case err != nil:
		logFailure(ctx, "gathering the result failed", err, callAttrs(&in.Invoke)...)
		e := tool.AsError(err)
		s.Status, s.Kind, s.Msg, s.Result = tool.EndStatus(e.Kind), e.Kind, e.Msg, nil
	case in.Kind != "" && in.Steps != nil: // It got no answer: what was done of it stays done.
		s.Msg = in.Msg + "; " + tool.Clip(preview(result.Content), maxPartial)
	}
	return calls, nil
}

// answer holds what a nested call came to to what its tool promises, as an
// executor's answer is.
func (a *Activities) answer(ctx context.Context, in *wire.SettleInput, result *tool.Result) (*tool.Result, error) {
	if a.NestedResultMiddleware == nil {
		return result, nil
	}
	call := &in.Invoke
	version, err := a.Resolver.Version(ctx, call.Principal.Tenant, call.Pin.ToolID, call.Pin.Digest)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", call.Pin, err)
	}
	give := tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) { return result, nil })
	return a.NestedResultMiddleware(give).Execute(ctx, &tool.Call{
		CallIdentity: call.CallIdentity, Version: version,
	})
}

// maxPartial bounds what the failure of a composition says of its steps.
const maxPartial = 2000

// FinishRun records how a run ended. A run ends once.
func (a *Activities) FinishRun(ctx context.Context, in wire.FinishRunInput) error {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return failure.Encode(err)
	}
	err := a.Runs.FinishRun(ctx, agent.RunEnd{
		Tenant: in.Principal.Tenant, RunID: in.RunID, Status: in.Status,
		HeadMessageID: in.Head, Turns: in.Turns, Calls: in.Calls, Kind: in.Kind, Msg: in.Msg,
		Execution: activity.GetInfo(ctx).WorkflowExecution.RunID,
	})
	if err != nil {
		logFailure(ctx, "finishing the run failed", err, "tenant_id", in.Principal.Tenant, "run_id", in.RunID)
		return encode(ctx, fmt.Errorf("finishing run %s: %w", in.RunID, err))
	}
	return nil
}

// output makes what histories carry of an outcome.
func output(o ledger.Outcome, in *wire.InvokeInput) wire.InvokeOutput {
	out := wire.InvokeOutput{
		InvocationID: o.InvocationID, Status: o.Status, IsError: o.IsError(), Kind: o.Kind, Msg: o.Msg,
	}
	if o.Result == nil {
		out.Acted = acted(o, in)
		return out
	}
	if in.Full {
		out.Result = fitting(o)
	} else {
		out.Preview = preview(o.Result.Content)
	}
	return out
}

// acted reports whether a call that got no answer may have had an effect that
// must not happen twice.
func acted(o ledger.Outcome, in *wire.InvokeInput) bool {
	return o.Result == nil && o.Sent && !in.Pin.Execution.Repeatable()
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
		IsError: o.Result.IsError, Mismatch: o.Result.Mismatch,
		Content: []tool.Content{
			tool.Text(preview(o.Result.Content)),
			{Type: tool.ResourceContent, URI: "toolcrib://invocations/" + o.InvocationID, MIMEType: "application/json"},
		},
		Warnings: []string{
			fmt.Sprintf(
				"the result has %d bytes, too many for a workflow's history; the invocation holds all of it",
				len(raw),
			),
		},
	}
}
