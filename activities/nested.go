package activities

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// open starts a nested call after its admission. It is idempotent: a retry finds what the previous
// attempt recorded.
func (a *Activities) open(
	ctx context.Context, in *wire.InvokeInput, ticket ledger.Ticket, version *tool.Version,
) (*wire.Opened, error) {
	if in.Pin.Graph != nil {
		opened := &wire.Opened{}
		if in.From != nil {
			var err error
			if opened, err = a.resumeGraph(ctx, in); err != nil {
				return nil, err
			}
		}
		opened.WorkflowID = childID(ctx, in.Principal.Tenant, in.Pin.Slug, ticket.InvocationID)
		return opened, nil
	}
	if in.Pin.Agent == nil {
		return &wire.Opened{}, nil
	}
	run, message, err := a.childRun(ctx, in, ticket, version)
	if err != nil {
		return nil, err
	}
	recorded, err := a.Runs.CreateRun(ctx, run, message)
	if tool.KindOf(err) == tool.Conflict { // A previous attempt recorded it.
		recorded, err = a.Runs.FindRun(ctx, run.Tenant, run.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("recording the run of agent %s: %w", in.Pin.Agent, err)
	}
	return &wire.Opened{RunID: recorded.ID, WorkflowID: recorded.WorkflowID}, nil
}

// childID returns the workflow id of what runs below the workflow of an activity. It names the tenant
// as the workflow's own id does.
func childID(ctx context.Context, tenant tool.TenantID, name, id string) string {
	return wire.NamedWorkflowID(wire.SegmentOf(activity.GetInfo(ctx).WorkflowExecution.ID, tenant), name, id)
}

// childRun checks what may have changed since the plan was made, and returns the agent's run.
func (a *Activities) childRun(
	ctx context.Context, in *wire.InvokeInput, ticket ledger.Ticket, version *tool.Version,
) (agent.Run, agent.Message, error) {
	var noRun agent.Run
	var noMessage agent.Message
	pin := in.Pin.Agent
	config, err := agentcall.ParseConfig(in.Pin.Implementation, version.Snapshot.Config)
	if err != nil {
		return noRun, noMessage, err
	}
	definition, err := a.targetDefinition(ctx, in.Principal.Tenant, pin)
	if err != nil {
		return noRun, noMessage, err
	}
	line, err := a.Runs.Ancestors(ctx, in.Principal.Tenant, in.RunID)
	if err != nil {
		return noRun, noMessage, fmt.Errorf("reading the runs above: %w", err)
	}
	if err := checkLine(pin, line); err != nil {
		return noRun, noMessage, err
	}
	content, input, err := config.Message(ticket.Arguments)
	if err != nil {
		return noRun, noMessage, err
	}
	if config.Skill != "" {
		skill, ok := definition.Skills[config.Skill]
		if !ok {
			return noRun, noMessage, &tool.Error{
				Kind: tool.Conflict, Op: "activities.Invoke", Msg: fmt.Sprintf("agent %s has no skill %q", pin, config.Skill),
			}
		}
		content = agentcall.Instructed(skill.Instructions, content)
	}
	id := ledger.RunID(ticket.InvocationID)
	return agent.Run{
		ID: id, Tenant: in.Principal.Tenant, Kind: agent.RunKindAgent, AgentID: pin.AgentID, Agent: pin.Slug,
		AgentVersion: pin.Version,
		Mode:         in.Mode, Principal: in.Principal, Status: agent.RunPending, Input: input,
		WorkflowID: childID(ctx, in.Principal.Tenant, pin.Slug, id), Depth: len(line),
		Parent: &agent.Parent{RunID: in.RunID, InvocationID: ticket.InvocationID, Detached: pin.Detached},
	}, agent.Message{Role: agent.RoleUser, Content: content}, nil
}

// targetDefinition returns the pinned version of an agent, if it may run now: content is pinned,
// authority is not.
func (a *Activities) targetDefinition(
	ctx context.Context, tenant tool.TenantID, pin *agent.PinnedAgent,
) (agent.Definition, error) {
	found, err := a.Agents.FindAgent(ctx, tenant, pin.AgentID)
	if err != nil {
		return agent.Definition{}, fmt.Errorf("finding agent %s: %w", pin.Slug, err)
	}
	if found.Status == tool.Disabled || found.Status == tool.Draft {
		return agent.Definition{}, &tool.Error{
			Kind: tool.Conflict, Op: "activities.Invoke", Msg: fmt.Sprintf("agent %q is %s", pin.Slug, found.Status),
		}
	}
	return a.pinnedAgent(
		ctx, tenant, &agent.Plan{AgentID: pin.AgentID, Agent: pin.Slug, AgentVersion: pin.Version, AgentDigest: pin.Digest},
	)
}

// checkLine refuses a nested run that would be too deep, or of an agent that is among its ancestors.
// line has the parent run first.
func checkLine(pin *agent.PinnedAgent, line []agent.Ancestor) error {
	path := pin.Slug
	for _, above := range line {
		if above.Agent != "" {
			path = above.Agent + " -> " + path
		}
	}
	for _, above := range line {
		if above.AgentID == pin.AgentID {
			return &tool.Error{
				Kind: tool.Denied, Op: "activities.Invoke",
				Msg: fmt.Sprintf("agent %q is an ancestor of this run (%s): an agent cannot run below itself", pin.Slug, path),
			}
		}
	}
	if task := slices.IndexFunc(line, func(a agent.Ancestor) bool { return a.Detached }); pin.Detached && task >= 0 {
		return &tool.Error{
			Kind: tool.Denied, Op: "activities.Invoke",
			Msg: fmt.Sprintf("agent %q runs a task, and a task cannot start another (%s): wait for the agent instead",
				line[task].Agent, path),
		}
	}
	if len(line) > agent.MaxDepth {
		return &tool.Error{
			Kind: tool.Denied, Op: "activities.Invoke",
			Msg: fmt.Sprintf("agents run at most %d deep below the first run (%s)", agent.MaxDepth, path),
		}
	}
	return nil
}

// unopen ends the pending run of a call that ended before its workflow received the answer, so that
// no workflow will start it. A run that has started is unchanged.
func (a *Activities) unopen(ctx context.Context, in *wire.InvokeInput, outcome ledger.Outcome) error {
	if in.Pin.Agent == nil || outcome.Result != nil {
		return nil
	}
	id := ledger.RunID(outcome.InvocationID)
	_, err := a.Runs.EndPendingRun(ctx, agent.RunEnd{ // There may be none.
		Tenant: in.Principal.Tenant, RunID: id, Status: agent.RunCancelled, Kind: tool.Cancelled,
		Msg: "the parent call ended before the run started",
	})
	if err != nil {
		return fmt.Errorf("ending run %s: %w", id, err)
	}
	return nil
}

// childGrace is how long to wait after its deadline for a run that another execution started.
const childGrace = time.Minute

// childEnd returns the end of an agent's run, which is the result of its call. A run that could not
// record its end is ended here.
func (a *Activities) childEnd(ctx context.Context, in *wire.SettleInput) (agent.Run, error) {
	tenant, child := in.Invoke.Principal.Tenant, in.Child
	run, err := a.Runs.FindRun(ctx, tenant, child.RunID)
	if err != nil || run.Status.Final() || child.Begun {
		return run, err
	}
	end := agent.RunEnd{Tenant: tenant, RunID: run.ID, Status: agent.RunFailed, Kind: child.Kind, Msg: child.Msg}
	switch {
	case in.Kind == tool.Cancelled:
		end.Kind, end.Msg = tool.Cancelled, in.Msg
	case child.Elsewhere:
		if time.Now().Before(latest(&run, child.Deadline).Add(childGrace)) {
			return run, &tool.Error{
				Kind: tool.Unavailable, Op: "activities.Settle", Msg: "the run of the agent is still running",
				RetryAfter: 2 * time.Second,
			}
		}
		end.Kind, end.Msg = tool.Timeout, "the run did not end in time"
	case child.Kind == "":
		end.Kind, end.Msg = tool.InternalError, "the run ended without recording its end"
	}
	if end.Kind == tool.Cancelled {
		end.Status = agent.RunCancelled
	}
	if err := a.Runs.FinishRun(ctx, end); err != nil {
		return run, fmt.Errorf("finishing run %s: %w", run.ID, err)
	}
	return a.Runs.FindRun(ctx, tenant, run.ID)
}

// latest returns the latest end of a run.
func latest(run *agent.Run, deadline time.Time) time.Time {
	var limits agent.Limits
	if run.Plan != nil {
		limits = run.Plan.Limits
	}
	at := run.CreatedAt.Add(time.Duration(limits.WithDefaults().TimeoutSeconds) * time.Second)
	if !deadline.IsZero() && deadline.Before(at) {
		return deadline
	}
	return at
}

// childResult returns the result of a call that ran an agent.
func childResult(in *wire.SettleInput, run *agent.Run) *tool.Result {
	mode := agentcall.Sync
	if in.Child.Begun {
		mode = agentcall.Async
	}
	return agentcall.End{
		Mode: mode, AgentID: run.AgentID, Agent: run.Agent, Version: run.AgentVersion, RunID: run.ID,
		Status: run.Status, Output: run.Output, Kind: run.ErrorKind, Msg: run.Error,
		TimedOut: run.ErrorKind == tool.Timeout && run.Status == agent.RunFailed,
		Turns:    run.Turns, Calls: run.Calls, Task: in.Invoke.Pin.Implementation == tool.Task,
	}.Result()
}
