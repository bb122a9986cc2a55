package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// ToolCall is one tool call as a workflow of its own, for callers that are not
// workflows, such as the API and the command line. Tests of tools run as one
// too.
func ToolCall(ctx workflow.Context, in wire.ToolCallInput) (*tool.Result, error) {
	waits, err := newWaits(ctx)
	if err != nil {
		return nil, failure.EncodeForHost(err)
	}
	waits.pausable(ctx, in.RunID, 0)
	kind := agent.RunKindToolCall
	if in.Node.Test != nil {
		kind = agent.RunKindToolTest
	}
	result, err := execute(ctx, Node{
		ID: in.Node.ID, Tool: in.Node.Tool.String(), Arguments: in.Node.Arguments,
		Principal: in.Principal, Mode: in.Node.Mode,
	}, caller{kind: kind, runID: in.RunID, inline: true, test: in.Node.Test, from: in.Node.From, waits: waits})
	end := wire.FinishRunInput{Principal: in.Principal, RunID: in.RunID, Status: agent.RunCompleted}
	if err != nil {
		e := tool.AsError(failure.Decode(err))
		end.Status, end.Kind, end.Msg = agent.EndStatus(e.Kind), e.Kind, e.Msg
	}
	finishErr := finish(ctx, end)
	switch {
	case err != nil:
		return nil, failure.EncodeForHost(err)
	case finishErr != nil:
		e := *tool.AsError(failure.Decode(finishErr))
		e.Acted = true // The call was answered.
		return nil, failure.Encode(&e)
	default:
		return result, nil
	}
}

// finish records the end of a run, even of one that was cancelled.
func finish(ctx workflow.Context, in wire.FinishRunInput) error {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	return bookkeep(ctx, true, wire.FinishRunActivity, in, nil, bookkeepingOptions("finish run: "+string(in.Status)))
}
