package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// loadNodePlan pins the tool of a single call, records its workflow, and prepares the call.
func (a *Activities) loadNodePlan(ctx context.Context, in wire.LoadPlanInput) (wire.LoadPlanOutput, error) {
	key := canaryKey(ctx, in)
	r, err := a.Resolver.Resolve(ctx, resolver.Request{
		Principal: in.Principal, Ref: in.Node.Tool, Mode: in.Node.Mode, Run: key,
	})
	if err != nil {
		logFailure(ctx, "tool refused", err, "tenant_id", in.Principal.Tenant, "tool", in.Node.Tool.String())
		return a.refuseNode(ctx, in, fmt.Errorf("resolving tool %q: %w", in.Node.Tool, err))
	}
	pinned, err := (&pinner{a: a, principal: in.Principal, mode: in.Node.Mode, run: key}).pin(ctx, r, 0)
	if err != nil {
		return a.refuseNode(ctx, in, err)
	}
	plan := &agent.Plan{Tools: []agent.Pin{pinned}}
	run, err := a.beginNode(ctx, in, plan)
	if err != nil {
		return wire.LoadPlanOutput{}, err
	}
	if pinned := pinnedBefore(run); pinned != nil {
		plan = pinned
	}
	return a.planNode(ctx, in, run, plan)
}

// canaryKey returns what decides the canaries of a workflow that calls tools without an agent: its run, or the workflow
// itself where a host started it.
func canaryKey(ctx context.Context, in wire.LoadPlanInput) string {
	if in.RunID != "" {
		return in.RunID
	}
	return activity.GetInfo(ctx).WorkflowExecution.ID
}

// pinnedBefore returns the stored plan of a single call, if its run has started before: its workflow
// was reset, or a worker died. A host's run has calls of several plans.
func pinnedBefore(run agent.Run) *agent.Plan {
	if run.Kind != agent.RunKindHost && run.Plan != nil && len(run.Plan.Tools) == 1 {
		return run.Plan
	}
	return nil
}

// planNode prepares the call of a plan's only tool.
func (a *Activities) planNode(
	ctx context.Context, in wire.LoadPlanInput, run agent.Run, plan *agent.Plan,
) (wire.LoadPlanOutput, error) {
	policies, err := a.Policies.Policies(ctx, in.Principal.Tenant, []string{plan.Tools[0].ToolID})
	if err != nil {
		return wire.LoadPlanOutput{}, fmt.Errorf("reading the policy of %s: %w", plan.Tools[0], err)
	}
	kit, err := a.newKit(ctx, in.Principal, plan, policies)
	if err != nil {
		return wire.LoadPlanOutput{}, err
	}
	kit.test = in.Node.Test
	prepared, err := kit.prepare(ctx, agent.Call{ID: in.Node.ID, Name: plan.Tools[0].Slug, Arguments: in.Node.Arguments})
	if err != nil {
		return wire.LoadPlanOutput{}, err
	}
	if prepared.InvocationID, err = uuid7.New(); err != nil {
		return wire.LoadPlanOutput{}, err
	}
	call := describe(prepared, maxInlineOnceArguments)
	// A single call has no message to store its arguments, and its refusal is not recorded
	// yet.
	call.Arguments, call.Stored, call.Settled = prepared.Arguments, false, false
	return wire.LoadPlanOutput{RunID: run.ID, Mode: in.Node.Mode, Plan: *plan, Call: &call, Pause: run.PauseRound}, nil
}

// beginNode records the workflow of a single call. The plan may be nil.
func (a *Activities) beginNode(ctx context.Context, in wire.LoadPlanInput, plan *agent.Plan) (agent.Run, error) {
	return a.beginCaller(ctx, in, in.Node.Mode, plan)
}

// beginCaller records a workflow that calls tools without an agent.
func (a *Activities) beginCaller(
	ctx context.Context, in wire.LoadPlanInput, mode tool.Mode, plan *agent.Plan,
) (agent.Run, error) {
	run := agent.Run{
		ID: in.RunID, Tenant: in.Principal.Tenant, Kind: in.Kind, Mode: mode, Principal: in.Principal,
		Status: agent.RunRunning, WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID, FirstRunID: in.FirstRunID,
		Plan: plan,
	}
	if in.Kind == agent.RunKindHost {
		id, err := uuid7.New()
		if err != nil {
			return agent.Run{}, err
		}
		run.ID, run.Status = id, agent.RunHosted
	}
	run, err := a.Runs.BeginRun(ctx, run)
	if err != nil {
		return agent.Run{}, fmt.Errorf("recording the workflow: %w", err)
	}
	if run.EndedUnbegun() {
		return agent.Run{}, run.EndError()
	}
	return run, nil
}

// refuseNode returns the plan of a call whose tool cannot be used: the call is refused, for the
// workflow to settle. One that started while the tool could be used keeps its plan and effect, which
// its admission finds. A retryable error is returned: the call has not ended.
func (a *Activities) refuseNode(ctx context.Context, in wire.LoadPlanInput, err error) (wire.LoadPlanOutput, error) {
	e := tool.AsError(err)
	if e.Kind.Retryable() || ctx.Err() != nil {
		return wire.LoadPlanOutput{}, err
	}
	run, err := a.beginNode(ctx, in, nil)
	if err != nil {
		return wire.LoadPlanOutput{}, err
	}
	if pinned := pinnedBefore(run); pinned != nil {
		return a.planNode(ctx, in, run, pinned)
	}
	id, err := uuid7.New()
	if err != nil {
		return wire.LoadPlanOutput{}, err
	}
	return wire.LoadPlanOutput{RunID: run.ID, Mode: in.Node.Mode, Call: &agent.PreparedCall{
		CallIdentity: tool.CallIdentity{
			InvocationID: id,
			CallID:       in.Node.ID,
		},
		Slug:      in.Node.Tool.Name(),
		Arguments: in.Node.Arguments,
		Refused:   &agent.Refusal{Kind: e.Kind, Msg: e.Msg},
	}}, nil
}
