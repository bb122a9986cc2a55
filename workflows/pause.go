package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/wire"
)

// childRun is a workflow below this one that it waits for.
type childRun struct {
	release func()           // Ends the wait of this one, while that one waits for a person.
	started bool             // It can be sent signals.
	round   agent.PauseRound // The one that it has.
}

// pausable makes the workflow ready to be paused. Round is the one that it begins with.
func (w *waits) pausable(ctx workflow.Context, runID string, round agent.PauseRound) {
	w.runID, w.round = runID, round
	if round.Paused() {
		w.showPause(ctx)
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		ctx, _ = workflow.NewDisconnectedContext(ctx)
		signals := workflow.GetSignalChannel(ctx, wire.PauseSignal)
		for {
			var p wire.Pause
			if !signals.Receive(ctx, &p) {
				return
			}
			w.saw(ctx, p.Round)
		}
	})
}

// saw takes up a round, if it is later than what is known: clocks stand still while the run
// is paused, and workflows below learn of it. Where it comes from does not matter: the
// signal, or the row that an activity read. In a host's workflow it does nothing.
func (w *waits) saw(ctx workflow.Context, round agent.PauseRound) {
	if w == nil || round <= w.round {
		return
	}
	before := w.round.Paused()
	w.round = round
	switch {
	case round.Paused() && !before:
		w.still = append(w.still, w.clocks...)
		for _, c := range w.still {
			c.pause(ctx)
		}
		w.showPause(ctx)
	case before && !round.Paused():
		still := w.still
		w.still = nil
		for _, c := range still {
			c.resume(ctx)
		}
		w.showPause(ctx)
	}
	for _, id := range workflow.DeterministicKeys(w.children) {
		w.pass(ctx, id)
	}
}

// pausedRound is the round that a workflow below begins with.
func (w *waits) pausedRound() agent.PauseRound {
	if w == nil {
		return 0
	}
	return w.round
}

// latest is the round that the next execution begins with: of the signals that this one was given, the
// last, also where it came in the task that ends it.
func (w *waits) latest(ctx workflow.Context) agent.PauseRound {
	detached, _ := workflow.NewDisconnectedContext(ctx)
	received := false
	workflow.Go(detached, func(workflow.Context) { received = true }) // It runs after the receiver of signals.
	_ = workflow.Await(detached, func() bool { return received })
	return w.round
}

// gate waits while the run is paused. Nothing is begun before it. It fails where ctx is
// cancelled meanwhile, and in no other case.
func (w *waits) gate(ctx workflow.Context) error {
	if w == nil {
		return nil
	}
	for w.round.Paused() {
		if err := workflow.Await(ctx, func() bool { return !w.round.Paused() }); err != nil {
			return err //nolint:wrapcheck // A cancellation.
		}
	}
	return nil
}

// pass sends a workflow below the round, unless it has it. One that has ended does not
// mind.
func (w *waits) pass(ctx workflow.Context, workflowID string) {
	b := w.children[workflowID]
	if b == nil || !b.started || w.round <= b.round {
		return
	}
	b.round = w.round
	detached, _ := workflow.NewDisconnectedContext(ctx)
	workflow.SignalExternalWorkflow(detached, workflowID, "", wire.PauseSignal, wire.NewPause(w.runID, w.round))
}

// follow lets the clocks stand still while the run below waits, and tells it where this one
// is paused, until the function that it returns is called. In a host's workflow it does
// nothing.
func (w *waits) follow(ctx workflow.Context, workflowID string, child workflow.ChildWorkflowFuture) (stop func()) {
	if w == nil {
		return func() {}
	}
	b := &childRun{round: w.round}
	w.children[workflowID] = b
	workflow.Go(ctx, func(ctx workflow.Context) {
		detached, _ := workflow.NewDisconnectedContext(ctx)
		_ = child.GetChildWorkflowExecution().Get(detached, nil) // Where another execution started it, it runs too.
		b.started = true
		if w.children[workflowID] == b {
			w.pass(detached, workflowID)
		}
	})
	return func() {
		if b.release != nil {
			b.release()
		}
		delete(w.children, workflowID)
	}
}

// showPause says in Temporal that the run is paused, or what it does since it was resumed.
func (w *waits) showPause(ctx workflow.Context) {
	if !w.round.Paused() {
		w.show(ctx, w.waitsFor)
		return
	}
	workflow.SetCurrentDetails(ctx, "paused")
	if w.phases < maxPhases {
		w.phases++
		w.shown = true
		w.upsert(ctx, phaseAttribute.ValueSet(wire.PhasePaused))
	}
}
