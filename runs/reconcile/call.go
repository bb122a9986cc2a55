package reconcile

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// maxCalls is how many open calls of a run are settled at once; a run makes few
// side by side.
const maxCalls = 1000

// settleCalls ends the calls of a run that its workflow left open. A call that
// was sent and may not be repeated is unknown; any other ends as the run does.
// Settling closes the effect, so that an attempt that is still at work somewhere
// can neither send nor settle. It returns how many it settled itself.
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

// repeatable reports whether a call that was sent may be sent again, by the
// version that it was made of. What can't be found may not.
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

// maybeSent reports whether something of a call may have left the platform.
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
