package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Nodes makes several calls of a host's workflow. It returns early, with the calls that
// have ended, where a call needs another attempt, its slice is used up, the results are
// too large for one history event, or the worker stops.
//
// An attempt that dies is repeated: settled calls are found, not made again.
func (a *Activities) Nodes(ctx context.Context, in wire.NodesInput) (wire.NodesOutput, error) {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return wire.NodesOutput{}, failure.Encode(err)
	}
	for i := range in.Calls {
		if in.Calls[i].Principal.Tenant != in.Principal.Tenant || in.Calls[i].RunID != in.RunID {
			return wire.NodesOutput{}, failure.Encode(&tool.Error{
				Kind: tool.Denied, Op: "activities.Nodes", Msg: "a call belongs to another run",
			})
		}
	}
	n := newNodes(ctx, a, in)
	stop := heartbeat(ctx, n.report.get)
	defer stop()
	run := n.run
	if in.Stop != nil {
		run = n.settleAll
	} else {
		var release func()
		ctx, _, release = a.controlled(ctx, in.Principal.Tenant, in.RunID)
		defer release()
	}
	if err := run(ctx); err != nil {
		n.log(ctx, "the calls did not come to their end", failure.Decode(err))
		return wire.NodesOutput{}, encode(ctx, err)
	}
	return n.output(), nil
}

// maxNodesResult bounds the results, as JSON, of one Nodes as a regular activity. It is
// more than that of any call.
const maxNodesResult = 2 * wire.MaxHistoryResult

// nodes is the driver of calls that are no turn of an agent.
type nodes struct {
	*driver

	asked   wire.NodesInput
	outputs map[int]wire.InvokeOutput // Of calls that are over.
	sizes   map[int]int               // Of their results.
	limit   int                       // Of all of them.
	size    int
	failed  bool // A call got no answer.
}

func newNodes(ctx context.Context, a *Activities, in wire.NodesInput) *nodes {
	n := &nodes{
		driver: a.newDriver(ctx, wire.AdvanceInput{AgentRunInput: wire.AgentRunInput{
			Principal: in.Principal, RunID: in.RunID,
		}}),
		asked: in, outputs: map[int]wire.InvokeOutput{}, sizes: map[int]int{}, limit: maxNodesResult,
	}
	if activity.GetInfo(ctx).IsLocalActivity {
		n.limit, n.slice = maxMarkerResult, tool.MaxFastTimeout
	}
	mode := agent.Sequential
	if in.All {
		mode = agent.ParallelSafe
	}
	calls := make([]wire.InvokeInput, len(in.Calls))
	for i := range in.Calls {
		calls[i] = in.Calls[i]
		_ = a.prepareRaw(ctx, &calls[i]) // Its attempt ends a call whose arguments are bad.
	}
	n.machine = loop.NewRun(loop.Identity{Principal: in.Principal, RunID: in.RunID}, wire.RunState{
		Plan: agent.Plan{ToolMode: mode}, Batch: calls,
	})
	n.over = n.take
	return n
}

// take takes up how a call ended.
func (n *nodes) take(call int, outcome ledger.Outcome) {
	out := output(outcome, &n.asked.Calls[call])
	n.outputs[call], n.sizes[call] = out, size(out.Result)
	n.size += n.sizes[call]
	n.spent = n.spent || n.size > n.limit
	n.failed = n.failed || outcome.Result == nil
}

// stops reports whether a call got no answer after which no other begins.
func (n *nodes) stops() bool {
	if n.asked.All {
		return false
	}
	for _, end := range n.closing {
		if end.outcome.Result == nil {
			return true
		}
	}
	return n.failed
}

// run makes the calls.
func (n *nodes) run(ctx context.Context) error {
	for !n.stops() {
		// Where one call comes after the other, the next one is begun, and ends, as cancelled.
		if n.asked.All && cancelled(ctx) {
			n.machine.Stop(errCallCancelled)
		}
		if ctx.Err() != nil && !cancelled(ctx) {
			return n.abandon(ctx, errors.New("the attempt was interrupted"))
		}
		if err := n.report.alive(); err != nil {
			return n.abandon(ctx, err)
		}
		step := n.machine.Next()
		if len(step.Wait) > 0 { // The workflow asks, and waits.
			n.held = wire.HandoverCalls
		}
		switch {
		case step.Ask || step.End:
			return n.flushed(ctx)
		case len(step.Start) > 0:
			if err := n.start(ctx, ctx, step.Start); err != nil {
				return n.abandon(ctx, err)
			}
		case len(step.Wait) > 0:
		case n.flying == 0 && len(n.closing) == 0:
			return nil
		default:
			if err := n.wait(ctx); err != nil {
				return n.abandon(ctx, err)
			}
		}
	}
	return n.flushed(ctx)
}

// errCallCancelled is why calls of a cancelled workflow are not made.
var errCallCancelled = &tool.Error{Kind: tool.Cancelled, Op: "activities.Nodes", Msg: "the call was cancelled"}

func (n *nodes) flushed(ctx context.Context) error {
	if err := n.flush(ctx); err != nil {
		return n.abandon(ctx, err)
	}
	return nil
}

// settleAll settles the calls that have not ended. Where they come one after the other,
// no call after the first of these was begun.
func (n *nodes) settleAll(ctx context.Context) error {
	refusal := &tool.Error{Kind: n.asked.Stop.Kind, Op: "activities.Nodes", Msg: n.asked.Stop.Msg}
	for i := range n.asked.Calls {
		end := n.refuse(context.WithoutCancel(ctx), n.asked.Calls[i], refusal)
		if end.err != nil {
			return end.err
		}
		n.take(i, end.outcome)
		if n.stops() {
			break
		}
	}
	return nil
}

// output returns how the calls ended, as far as their results fit. What is left is found
// in the ledger.
func (n *nodes) output() wire.NodesOutput {
	out := wire.NodesOutput{Handover: n.held, Made: n.out.Made}
	total := 0
	for i := range n.asked.Calls {
		now, before := n.machine.Call(i), &n.asked.Calls[i]
		if now.Tried > before.Tried || now.Reached > before.Reached {
			out.Retry = append(out.Retry, wire.NodeRetry{Call: i, Tried: now.Tried, In: now.RetryIn, Reached: now.Reached})
		} else if now.Asks != nil {
			out.Asks = append(out.Asks, wire.NodeAsk{Call: i, Asking: *now.Asks})
		}
		end, ok := n.outputs[i]
		if total += n.sizes[i]; total > n.limit {
			out.Handover = wire.HandoverSlice
		} else if ok {
			out.Ended = append(out.Ended, wire.NodeEnd{InvokeOutput: end, Call: i})
		}
	}
	return out
}
