package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// rejoin makes c the call that was made before under the same id, and reports
// whether there is one. It fails with tool.Conflict when that was another call,
// and with tool.Unavailable when the call is recorded and its workflow not yet
// known. Of a call that Temporal has forgotten, the record answers. It gives c a
// new run id when the earlier call ended before anything was made of it.
func (s *Service) rejoin(ctx context.Context, c *callStart) (joined bool, err error) {
	tenant := c.asked.Principal.Tenant
	before, err := s.findEarlierRun(ctx, c)
	if err != nil || before == nil {
		return false, err
	}
	c.WorkflowID = before.WorkflowID
	memo, open, err := s.memo(ctx, c.WorkflowID)
	confirmed := err == nil
	if tool.KindOf(err) == tool.NotFound { // The start may be on its way.
		var start agent.Start
		start, err = s.cfg.Store.FindStart(ctx, agent.StartKey{Tenant: tenant, WorkflowID: c.WorkflowID})
		memo = start.Memo
	}
	switch {
	case err == nil && memo[memoDigest] == c.digest:
		c.RunID, c.confirmed, c.open = memo[memoRun], confirmed, open
		return true, nil
	case err == nil:
		return true, &tool.Error{
			Kind: tool.Conflict, Op: "runs.Call", Path: "/id",
			Msg: fmt.Sprintf("the id %q was used for another call", c.asked.Node.ID),
		}
	case tool.KindOf(err) != tool.NotFound:
		return false, err
	case !before.Status.Final():
		return false, &tool.Error{
			Kind: tool.Unavailable, Op: "runs.Call", RetryAfter: time.Second,
			Msg: "the call is recorded, and Temporal does not know it yet",
		}
	}
	if joined, err := s.rejoinRecorded(ctx, c, before); joined || err != nil {
		return joined, err
	}
	if c.RunID, err = uuid7.New(); err != nil {
		return false, err
	}
	if !c.named {
		c.WorkflowID, err = s.workflowID(ctx, tenant, c.Tool, c.RunID)
	}
	return false, err
}

// rejoinRecorded makes c the call of an ended run that Temporal has forgotten, and
// reports false when nothing was made of that call: it failed before its tool was
// reached. It fails with tool.Conflict where the record does not show that it was the
// same call: a call with an id is not made twice for as long as its run is there.
func (s *Service) rejoinRecorded(ctx context.Context, c *callStart, before *agent.Run) (bool, error) {
	tenant := c.asked.Principal.Tenant
	end, err := s.cfg.Store.FindCallEnd(ctx, tenant, before.ID)
	if err != nil {
		return false, err
	}
	if end.InvocationID == "" && end.Status != agent.RunCompleted {
		return false, nil
	}
	same := !c.named // The request is one that the caller repeats as it was.
	if c.named && end.InvocationID != "" {
		made, err := s.cfg.Store.FindInvocation(ctx, tenant, end.InvocationID)
		if err != nil {
			return false, err
		}
		arguments, err := tool.Digest(made.Input)
		same = err == nil && arguments == c.arguments && made.ToolID == c.toolID &&
			before.Mode == c.asked.Node.Mode && c.asked.Node.From == nil
	}
	if !same {
		return true, &tool.Error{
			Kind: tool.Conflict, Op: "runs.Call", Path: "/id",
			Msg: fmt.Sprintf("the id %q was used for a call that has ended, of which the record does not show that it was "+
				"this one: read run %s, or choose another id", c.asked.Node.ID, before.ID),
		}
	}
	c.RunID, c.confirmed, c.open = before.ID, true, ""
	return true, nil
}

// findEarlierRun returns the run of the call that was made before under the
// caller's id of c, or by an earlier service of its request, and nil if there is
// none.
func (s *Service) findEarlierRun(ctx context.Context, c *callStart) (*agent.Run, error) {
	tenant := c.asked.Principal.Tenant
	if !c.named {
		return s.findRunOfRequest(ctx, tenant, c.asked.Request)
	}
	return optional(s.cfg.Store.FindRunOfWorkflow(ctx, tenant, c.WorkflowID))
}
