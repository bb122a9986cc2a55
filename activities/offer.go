package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// offer records an admitted call as pending for an external executor. A call that does not
// block on its result is settled here; otherwise the workflow waits. It is idempotent, and
// sends nothing.
func (t *attempt) offer(ctx context.Context, ticket ledger.Ticket, version *tool.Version) (ledger.Outcome, error) {
	if t.a.Calls == nil {
		return t.fail(ctx, &tool.Error{
			Kind: tool.InternalError, Op: "activities.Offer", Msg: "this worker cannot offer calls to be answered from outside",
		})
	}
	if t.a.Targets != nil {
		if err := t.a.Targets.CheckArguments(t.in.Pin.Implementation, ticket.Arguments); err != nil {
			return t.fail(ctx, fmt.Errorf("offering %s: %w", t.in.Pin, err))
		}
	}
	d := &version.Snapshot.Definition
	given, err := wait.DefaultResult(&d.Interaction)
	if err != nil {
		return t.fail(ctx, err)
	}
	offered, err := t.a.Calls.OfferCall(ctx, wait.Offer{
		Entry: t.in.Entry(), Fence: ticket.Fence, WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID,
		Intent: d.Interaction.Purpose(), Shown: d.Shown(), Async: d.Interaction.Async, Result: given,
		Timeout: t.in.Pin.Execution.Timeout(),
	})
	switch {
	case tool.KindOf(err) == tool.Conflict:
		return t.lost(ctx)
	case err != nil:
		return t.fail(ctx, fmt.Errorf("offering %s: %w", t.in.Pin, err))
	case offered.Status == wait.CallWaiting:
		t.waits = &wire.Waiting{ID: offered.ID, Until: *offered.AnswerBy}
		return ledger.Outcome{InvocationID: offered.ID, Status: tool.StatusWaiting}, nil
	case given == nil:
		given = awaited(offered.ID)
	}
	return t.settle(ctx, ledger.Settlement{Status: tool.StatusCompleted, Result: given})
}

// awaited is the answer of a call whose result comes later (checklist S1-17).
func awaited(id string) *tool.Result {
	raw, _ := json.Marshal(struct { // Plain strings: it cannot fail.
		Status string `json:"status"`
		ID     string `json:"pending_tool_call_id"`
	}{string(wait.CallPending), id})
	return tool.JSONResult(raw)
}
