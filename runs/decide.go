package runs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Decision is what a person says of a request for approval.
type Decision struct {
	Principal tool.Principal // Who decides. Its tenant is required.
	ID        string         // Of the request. Required.
	Approve   bool
	Reason    string // For the model and the record. Empty for none.
	// Arguments replace those of the call. They are checked as those of any call are. Only
	// an approval may have them; nil for none.
	Arguments json.RawMessage
	// Seen is the binding of what the person saw. Empty to decide whatever is asked now.
	Seen string
}

// maxReason bounds the reason of a decision, in bytes.
const maxReason = 2000

// Decide records a decision, and tells the workflow that waits if the request is over with
// it. It returns the request as it is then, also with an error where there is one: a
// workflow that cannot be told now is told later ([Service.DispatchUntil]).
//
// It fails with tool.NotFound for a request that the tenant does not have, with tool.Denied
// for who started the run or lacks the permission, with tool.Invalid for arguments that the
// tool does not take, and with tool.Conflict where the request is over, or is not what the
// person saw.
func (s *Service) Decide(ctx context.Context, d Decision) (wait.Approval, error) {
	if len(d.Reason) > maxReason {
		return wait.Approval{}, invalidDecision("/reason", fmt.Sprintf("the reason has more than %d bytes", maxReason))
	}
	if !d.Approve && d.Arguments != nil {
		return wait.Approval{}, invalidDecision("/arguments", "only an approval has arguments: leave them out, or approve")
	}
	verdict := wait.Verdict{Principal: d.Principal, ID: d.ID, Approve: d.Approve, Reason: d.Reason, Seen: d.Seen}
	if d.Arguments != nil {
		if err := s.edit(ctx, d, &verdict); err != nil {
			return wait.Approval{}, err
		}
	}
	decided, err := s.cfg.Store.Decide(ctx, verdict)
	if err != nil {
		return decided, fmt.Errorf("recording the decision: %w", err)
	}
	if decided.Status.Final() {
		s.deliver(context.WithoutCancel(ctx), decided)
	}
	return decided, nil
}

// edit checks the arguments of a decision, and completes the verdict with them. Who may not
// decide, or comes too late, learns nothing of the tool. It never leaves the arguments out of the verdict, which
// would then approve those that were asked for.
func (s *Service) edit(ctx context.Context, d Decision, verdict *wait.Verdict) error {
	asked, err := s.cfg.Store.CheckDecision(ctx, *verdict)
	if err != nil {
		return fmt.Errorf("checking the decision: %w", err)
	}
	called, err := s.cfg.Store.FindInvocation(ctx, d.Principal.Tenant, asked.ID)
	if err != nil {
		return fmt.Errorf("finding the call: %w", err)
	}
	version, err := s.calledVersion(ctx, d.Principal.Tenant, &called)
	if err != nil {
		return err
	}
	input, err := s.schemas.Compile(version.Snapshot.InputSchema)
	if err != nil {
		return fmt.Errorf("compiling the input schema of %s: %w", called.VersionIdentity, err)
	}
	if verdict.Edited, _, err = input.PrepareFilling(ctx, d.Arguments, version.Defaults); err != nil {
		e := *tool.AsError(err)
		e.Path = "/arguments" + e.Path
		return &e
	}
	if verdict.EditedDigest, err = tool.Digest(verdict.Edited); err != nil {
		return invalidDecision("/arguments", "the arguments are not JSON")
	}
	verdict.Binding = asked.Bind(verdict.EditedDigest)
	return nil
}

// calledVersion returns the version that a call uses, as the overrides that its run pinned adapt it: its defaults
// are filled in as they were for the arguments that are replaced.
func (s *Service) calledVersion(
	ctx context.Context, tenant tool.TenantID, called *tool.Invocation,
) (*tool.Version, error) {
	var at tool.OverrideRevisions
	if called.RunID != "" {
		run, err := s.cfg.Store.FindRun(ctx, tenant, called.RunID)
		if err != nil {
			return nil, fmt.Errorf("finding the run of the call: %w", err)
		}
		if run.Plan != nil {
			at = run.Plan.Overrides(called.ToolID, called.Digest)
		}
	}
	version, err := s.cfg.Resolver.Adapted(ctx, tenant, called.ToolID, called.Digest, at)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", called.VersionIdentity, err)
	}
	return version, nil
}

func invalidDecision(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "runs.Decide", Path: path, Msg: msg}
}
