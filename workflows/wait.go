package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// waits are the requests that a workflow waits for. What a person decides is stored first;
// then the workflow is told by an Update. A decision that comes between the answer to
// "how does it stand" and the wait is not lost: while a request is being recorded, Updates
// for any request are kept.
type waits struct {
	pending map[string]wire.Pending
	known   map[string]wire.Resolution // Of requests that are pending here, or may be.
	asking  int
	clocks  []*clock // Deadlines that stand still while a call waits.
	held    int      // How many calls wait, here or in runs below.
	graph   bool     // The workflow is the run of a graph.
	phases  int      // How many waits were shown in search attributes.
	shown   bool     // The last one is shown still.
	// children are the workflows below that this one waits for, by workflow id.
	children map[string]*childRun

	runID    string           // That the workflow belongs to.
	round    agent.PauseRound // The last that is known.
	still    []*clock         // Those that stand still because the run is paused.
	waitsFor string           // What was waited for last; empty for nothing.
}

// newWaits makes the workflow ready to be told of decisions.
func newWaits(ctx workflow.Context) (*waits, error) {
	w := &waits{
		pending: map[string]wire.Pending{}, known: map[string]wire.Resolution{}, children: map[string]*childRun{},
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, wire.ResolvePendingUpdate,
		func(_ workflow.Context, r wire.Resolution) error {
			w.known[r.ID] = r
			return nil
		},
		workflow.UpdateHandlerOptions{Validator: w.validate, Description: "a request that the workflow waits for is over"})
	if err == nil {
		err = workflow.SetQueryHandler(ctx, wire.PendingQuery, func() ([]wire.Pending, error) { return w.list(), nil })
	}
	if err != nil {
		return nil, fmt.Errorf("registering the handlers of waits: %w", err)
	}
	workflow.Go(ctx, w.listen)
	return w, nil
}

// validate refuses what the workflow does not wait for.
func (w *waits) validate(r wire.Resolution) error {
	if !r.Status.Final() {
		return temporal.NewNonRetryableApplicationError("the request is not over", string(tool.Invalid), nil)
	}
	if _, ok := w.pending[r.ID]; !ok && w.asking == 0 {
		return temporal.NewNonRetryableApplicationError("the workflow does not wait for the request", wire.NotWaiting, nil)
	}
	return nil
}

// list returns what is waited for, by id.
func (w *waits) list() []wire.Pending {
	out := make([]wire.Pending, 0, len(w.pending))
	for _, id := range workflow.DeterministicKeys(w.pending) {
		out = append(out, w.pending[id])
	}
	return out
}

// decide asks for the approval of a call and waits for it. It returns why the call is not
// to run, or nil. It fails where ctx is cancelled, and where the request cannot be
// recorded.
func (w *waits) decide(ctx workflow.Context, in wire.InvokeInput) (*agent.Refusal, error) {
	if err := w.gate(ctx); err != nil {
		return nil, err
	}
	out, err := w.ask(ctx, wire.AskInput{Invoke: in})
	if err != nil {
		return nil, err
	}
	if out.Refused != nil {
		return &agent.Refusal{Kind: out.Refused.Kind, Msg: out.Refused.Msg}, nil
	}
	if out.Status == wait.Pending {
		defer w.hold(ctx, wire.WaitsForApproval)()
		defer delete(w.pending, out.ID)
		defer delete(w.known, out.ID)
	}
	for out.Status == wait.Pending {
		told := func() bool { return w.known[out.ID].Round >= max(1, out.Round) }
		ok, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout:      max(out.ExpiresAt.Sub(workflow.Now(ctx)), time.Second),
			TimerOptions: workflow.TimerOptions{Summary: "approval of " + label(in)},
		}, told)
		switch {
		case err != nil:
			return nil, err //nolint:wrapcheck // A cancellation.
		case ok:
			out.Resolution = w.known[out.ID]
		default: // The row says how it stands: it may have been decided at the last moment.
			if out, err = w.ask(ctx, wire.AskInput{Invoke: in, Expired: true, ID: out.ID}); err != nil {
				return nil, err
			}
		}
	}
	return refused(out), nil
}

// ask records a request, or reads how it stands, and regards it as pending if it is.
func (w *waits) ask(ctx workflow.Context, in wire.AskInput) (out wire.AskOutput, err error) {
	defer w.expect()()
	options := admitOptions("ask for the approval of " + label(in.Invoke))
	ctx = workflow.WithActivityOptions(ctx, options)
	if err := workflow.ExecuteActivity(ctx, wire.AskActivity, in).Get(ctx, &out); err != nil {
		return out, err //nolint:wrapcheck // Decoded where it ends the call.
	}
	if out.Status == wait.Pending {
		w.pending[out.ID] = wire.Pending{ID: out.ID, CallID: in.Invoke.CallID, Tool: in.Invoke.Pin.Slug}
	}
	return out, nil
}

// expect keeps what the workflow is told of any request until the function that it returns is
// called: one is being recorded, and may end before it is known here.
func (w *waits) expect() (done func()) {
	w.asking++
	return func() {
		if w.asking--; w.asking == 0 {
			w.forget()
		}
	}
}

// forget drops decisions that were kept for requests that turned out not to be waited for.
func (w *waits) forget() {
	for _, id := range workflow.DeterministicKeys(w.known) {
		if _, ok := w.pending[id]; !ok {
			delete(w.known, id)
		}
	}
}

// refused returns why a call is not to run after its request ended, or nil.
func refused(out wire.AskOutput) *agent.Refusal {
	switch out.Status {
	case wait.Approved:
		return nil
	case wait.Rejected:
		msg := "a person rejected the call"
		if out.Reason != "" {
			msg += ": " + out.Reason
		}
		return &agent.Refusal{Kind: tool.Denied, Status: tool.StatusRejected, Msg: msg}
	case wait.Expired:
		return &agent.Refusal{
			Kind: tool.Timeout, Status: tool.StatusExpired, Msg: "the call was not approved before the request expired",
		}
	case wait.Cancelled, wait.Pending:
		return &agent.Refusal{Kind: tool.Cancelled, Msg: "the request to approve the call was cancelled"}
	default:
		return &agent.Refusal{Kind: tool.Denied, Msg: "the call was not approved"}
	}
}

// unrequested is the end of a call whose approval could not be asked for.
func unrequested(err error) *agent.Refusal {
	e := tool.AsError(failure.Decode(err))
	return &agent.Refusal{Kind: e.Kind, Msg: "its approval could not be asked for: " + e.Msg}
}

// hold stops the clocks of the workflow, and of those above that wait for it, until the
// function that it returns is called.
func (w *waits) hold(ctx workflow.Context, waitsFor string) (release func()) {
	held := slices.Clone(w.clocks)
	for _, c := range held {
		c.pause(ctx)
	}
	if w.held++; w.held == 1 {
		w.show(ctx, waitsFor)
		w.tell(ctx, true)
	}
	return func() {
		for _, c := range held {
			c.resume(ctx)
		}
		if w.held--; w.held == 0 {
			w.show(ctx, "")
			w.tell(ctx, false)
		}
	}
}

// tell tells the workflow above, if it is one of Toolcrib's. One that has ended does not
// mind.
func (w *waits) tell(ctx workflow.Context, waiting bool) {
	info := workflow.GetInfo(ctx)
	above := info.ParentWorkflowExecution
	if above == nil || !strings.HasPrefix(above.ID, wire.WorkflowPrefix) || wire.IsScheduled(above.ID) {
		return
	}
	detached, _ := workflow.NewDisconnectedContext(ctx)
	workflow.SignalExternalWorkflow(detached, above.ID, "", wire.ChildWaitsSignal,
		wire.ChildWaits{WorkflowID: info.WorkflowExecution.ID, Waits: waiting})
}

// listen takes up what runs below tell.
func (w *waits) listen(ctx workflow.Context) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	told := workflow.GetSignalChannel(ctx, wire.ChildWaitsSignal)
	for {
		var child wire.ChildWaits
		if !told.Receive(ctx, &child) {
			return
		}
		b := w.children[child.WorkflowID]
		switch {
		case b == nil:
		case child.Waits && b.release == nil:
			b.release = w.hold(ctx, wire.WaitsForRun)
		case !child.Waits && b.release != nil:
			b.release()
			b.release = nil
		}
	}
}
