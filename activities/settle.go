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

// Settle closes a call that ended outside its Invoke: refused, cancelled before it started, or abandoned
// by its worker. If Invoke settled it after all, that outcome is returned.
func (a *Activities) Settle(ctx context.Context, in wire.SettleInput) (wire.InvokeOutput, error) {
	if err := checkTenant(ctx, in.Invoke.Principal.Tenant); err != nil {
		return wire.InvokeOutput{}, failure.Encode(err)
	}
	out, err := a.settleCall(ctx, in)
	if err != nil {
		return wire.InvokeOutput{}, encode(ctx, err)
	}
	return out, nil
}

func (a *Activities) settleCall(ctx context.Context, in wire.SettleInput) (wire.InvokeOutput, error) {
	// The effect id includes the prepared arguments; a call whose arguments cannot be
	// prepared has no effect.
	if err := a.complete(ctx, &in.Invoke); err != nil && mayPass(ctx, err) {
		return wire.InvokeOutput{}, err
	}
	s := ledger.Settlement{
		Status: in.Status, Kind: in.Kind, Msg: in.Msg,
		UnknownIfSent: !in.Invoke.Pin.Execution.Repeatable() && in.Kind != tool.Cancelled,
	}
	if in.Graph == nil {
		end, err := a.closeSteps(ctx, &in)
		if err != nil {
			return wire.InvokeOutput{}, err
		}
		in.Graph = end
	}
	calls, err := a.gather(ctx, &in, &s, nil)
	if err != nil {
		return wire.InvokeOutput{}, err
	}
	s.Entry = in.Invoke.Entry()
	outcome, err := a.Ledger.Settle(ctx, s)
	if err != nil {
		logFailure(ctx, "settling failed", err, callAttrs(&in.Invoke)...)
		return wire.InvokeOutput{}, fmt.Errorf("settling %s: %w", in.Invoke.Pin, err)
	}
	if in.Child == nil {
		if err := a.unopen(ctx, &in.Invoke, outcome); err != nil {
			return wire.InvokeOutput{}, err
		}
	}
	out := output(outcome, &in.Invoke)
	out.Calls = calls
	return out, nil
}

// maxFaults bounds the retries of a settlement for errors other than outages, since it is otherwise
// retried without limit.
const maxFaults = 10

// mayPass reports whether a settlement should be retried after err.
func mayPass(ctx context.Context, err error) bool {
	kind := tool.KindOf(err)
	return kind == tool.Unavailable || kind.Retryable() && activity.GetInfo(ctx).Attempt < maxFaults
}

// gather completes the settlement of a nested call with the results of its runs or calls, and returns the
// number of tool calls made by nested runs. Memory has how the steps of a composition ended; nil to
// read it. Its error is retryable.
func (a *Activities) gather(
	ctx context.Context, in *wire.SettleInput, s *ledger.Settlement, memory *graphMemory,
) (calls int, err error) {
	sequence := in.Graph != nil && in.Invoke.Pin.Sequence()
	s.UnknownIfSent = s.UnknownIfSent && !in.Invoke.Pin.Nested() // Only others may have sent requests.
	s.Acted = in.Child != nil || in.Graph != nil && in.Graph.Calls > 0
	var result *tool.Result
	switch {
	case in.Child != nil:
		var run agent.Run
		if run, err = a.childEnd(ctx, in); err == nil {
			result, calls = childResult(in, &run), run.Calls
		}
	case sequence:
		calls = in.Graph.Calls
		result, s.Acted, err = a.composed(ctx, in, memory)
	case in.Graph != nil:
		calls = in.Graph.Calls
		if f := in.Graph.Failure; f != nil && in.Kind == "" { // It is no failure of the settlement, to be tried again.
			in.Status, in.Kind, in.Msg = tool.EndStatus(f.Kind), f.Kind, failedAt(f)
			s.Status, s.Kind, s.Msg = in.Status, in.Kind, in.Msg
		}
		if in.Kind == "" {
			result, err = a.graphResult(ctx, in)
		}
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
		logFailure(ctx, "collecting the nested result failed", err, callAttrs(&in.Invoke)...)
		e := tool.AsError(err)
		s.Status, s.Kind, s.Msg, s.Result = tool.EndStatus(e.Kind), e.Kind, e.Msg, nil
	case in.Kind != "" && sequence: // It failed: report the steps that ran.
		s.Msg = in.Msg + "; " + tool.Clip(preview(result.Content), maxPartial)
	}
	return calls, nil
}

// answer validates a nested call's result against its tool's output schema, like an executor's result.
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

// maxPartial bounds the description of steps in the failure of a composition.
const maxPartial = 2000

// FinishRun records the end of a run. It is idempotent.
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

// output returns the part of an outcome that is in histories.
func output(o ledger.Outcome, in *wire.InvokeInput) wire.InvokeOutput {
	out := wire.InvokeOutput{
		InvocationID: o.InvocationID, Status: o.Status, IsError: o.IsError(), Kind: o.Kind,
		Msg: tool.Clip(o.Msg, tool.MaxMessage),
	}
	if o.Result == nil {
		out.Acted = acted(o, in)
		return out
	}
	if in.Full {
		out.Result = wire.Fitting(o.Result, o.InvocationID)
	} else {
		out.Preview = preview(o.Result.Content)
	}
	return out
}

// acted reports whether a failed call may have had an effect that must not be repeated.
func acted(o ledger.Outcome, in *wire.InvokeInput) bool {
	return o.Result == nil && o.Sent && !in.Pin.Execution.Repeatable()
}

// maxMarkerResult bounds the result, as JSON, of a call in the fast lane. The markers of all calls of a
// workflow task are sent to the server in one message, which it may refuse above 4 MB, and again for each
// retry of the task; a regular activity's result is sent alone.
const maxMarkerResult = 32 << 10

// size returns the size of a result in a history, in bytes.
func size(r *tool.Result) int {
	if r == nil {
		return 0
	}
	raw, _ := json.Marshal(r) // It was stored as JSON.
	return len(raw)
}
