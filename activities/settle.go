package activities

import (
	"context"
	"fmt"

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
	outcome, err := a.Ledger.Settle(ctx, ledger.Settlement{
		Entry: in.Invoke.Entry(), Status: in.Status, Kind: in.Kind, Msg: in.Msg,
		UnknownIfSent: !in.Invoke.Pin.Execution.Repeatable() && in.Kind != tool.Cancelled,
	})
	if err != nil {
		logFailure(ctx, "settling failed", err, callAttrs(&in.Invoke)...)
		return wire.InvokeOutput{}, failure.Encode(fmt.Errorf("settling %s: %w", in.Invoke.Pin, err))
	}
	return output(outcome, in.Invoke.Full), nil
}

// FinishRun records how a run ended. A run ends once.
func (a *Activities) FinishRun(ctx context.Context, in wire.FinishRunInput) error {
	err := a.Runs.FinishRun(ctx, agent.RunEnd{
		Tenant: in.Principal.Tenant, RunID: in.RunID, Status: in.Status,
		HeadMessageID: in.Head, Turns: in.Turns, Kind: in.Kind, Msg: in.Msg,
	})
	if err != nil {
		logFailure(ctx, "finishing the run failed", err, "tenant_id", in.Principal.Tenant, "run_id", in.RunID)
		return failure.Encode(fmt.Errorf("finishing run %s: %w", in.RunID, err))
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
		out.Result = o.Result
	} else {
		out.Preview = preview(o.Result.Content)
	}
	return out
}
