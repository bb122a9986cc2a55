package reconcile

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// maxCalls bounds the open calls of a run that are settled at once; runs have few concurrent ones.
const maxCalls = 1000

// settleCalls ends the calls that a run's workflow left open. A call that was sent and is not repeatable ends
// unknown; others end like the run. Settling closes the effect, so that a running attempt can neither send
// nor settle. It returns the number it settled itself.
func (r *Reconciler) settleCalls(
	ctx context.Context, run agent.Run, e end, dry bool,
) (findings []Finding, settled int64, err error) {
	calls, err := r.cfg.Store.OpenCalls(ctx, run.Tenant, run.ID, maxCalls)
	if err != nil {
		return nil, 0, fmt.Errorf("listing the open calls of run %s: %w", run.ID, err)
	}
	for i := range calls {
		f, err := r.settleCall(ctx, run, &calls[i], e, dry)
		if err != nil {
			return findings, settled, err
		}
		if f.Closed {
			settled++
		}
		findings = append(findings, f)
	}
	return findings, settled, nil
}

func (r *Reconciler) settleCall(
	ctx context.Context, run agent.Run, call *tool.Invocation, e end, dry bool,
) (Finding, error) {
	f := Finding{
		Subject:    CallSubject,
		Tenant:     call.Principal.Tenant,
		ID:         call.InvocationID,
		RunID:      run.ID,
		WorkflowID: run.WorkflowID,
		Reason:     e.reason,
		Tool:       versioned(call),
		Was:        string(call.Status),
	}
	s := ledger.Settlement{
		Entry:  ledger.Entry{CallIdentity: call.CallIdentity, VersionIdentity: call.VersionIdentity},
		Status: tool.StatusFailed, Kind: tool.Unavailable, Msg: "the call did not end before its run: " + e.msg,
	}
	if e.status == agent.RunCancelled {
		s.Status, s.Kind = tool.StatusCancelled, tool.Cancelled
	}
	repeatable, err := r.repeatable(ctx, call)
	if err != nil {
		return f, err
	}
	s.UnknownIfSent = !repeatable
	if dry {
		f.Status, f.Message = string(s.Status), s.Msg
		unknown, err := r.maybeSent(ctx, call)
		if err == nil && unknown && !repeatable {
			f.Status, f.Message = string(tool.StatusUnknown), ledger.UnknownMessage
		}
		return f, err
	}
	outcome, err := r.cfg.Store.Settle(ctx, s)
	if err != nil {
		return f, fmt.Errorf("settling call %s: %w", call.InvocationID, err)
	}
	f.Status, f.Message, f.Closed = string(outcome.Status), outcome.Msg, outcome.Won
	return f, nil
}

// repeatable reports whether a call that was sent is repeatable, by its version. A version that is not found
// is not.
func (r *Reconciler) repeatable(ctx context.Context, call *tool.Invocation) (bool, error) {
	if call.ToolID == "" {
		return false, nil
	}
	version, err := r.cfg.Store.Version(ctx, call.Principal.Tenant, call.ToolID, call.Digest)
	switch {
	case err == nil:
		return version.Snapshot.Definition.Execution.Repeatable(), nil
	case tool.KindOf(err) == tool.NotFound:
		return false, nil
	default:
		return false, fmt.Errorf("reading the version of call %s: %w", call.InvocationID, err)
	}
}

// maybeSent reports whether a request of a call may have been sent.
func (r *Reconciler) maybeSent(ctx context.Context, call *tool.Invocation) (bool, error) {
	effect, err := r.cfg.Store.FindEffect(ctx, call.Principal.Tenant, call.EffectID)
	if tool.KindOf(err) == tool.NotFound {
		return false, nil
	}
	return effect.Phase == tool.PhaseSent || effect.SentBefore, err
}

func versioned(call *tool.Invocation) string {
	if call.Version == "" {
		return call.Slug
	}
	return call.VersionIdentity.String()
}
