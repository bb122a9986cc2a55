package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// LoadPlan pins the exact versions that a single call or a workflow of a host uses, by digest, and records
// that its run started. A single call is prepared too. It is idempotent: the first stored plan is the run's.
func (a *Activities) LoadPlan(ctx context.Context, in wire.LoadPlanInput) (wire.LoadPlanOutput, error) {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return wire.LoadPlanOutput{}, failure.Encode(err)
	}
	load := a.loadHostPlan
	if in.Node != nil {
		load = a.loadNodePlan
	}
	out, err := load(ctx, in)
	if err != nil {
		logFailure(ctx, "loading the plan failed", err, "tenant_id", in.Principal.Tenant, "run_id", in.RunID)
		return wire.LoadPlanOutput{}, encode(ctx, err)
	}
	return out, nil
}

// beginAgentRun returns the run of in with its plan, and the message that its first turn
// answers. The first attempt pins the plan and records that the run started.
func (a *Activities) beginAgentRun(
	ctx context.Context, in wire.AdvanceInput,
) (run agent.Run, head string, open *agent.OpenTurn, err error) {
	if run, err = a.Runs.FindRun(ctx, in.Principal.Tenant, in.RunID); err != nil {
		return run, "", nil, fmt.Errorf("finding run %s: %w", in.RunID, err)
	}
	if run.EndedUnbegun() {
		return run, "", nil, run.EndError()
	}
	if err := ended(ctx, &run); err != nil {
		return run, "", nil, err
	}
	if run.Plan != nil && activity.GetInfo(ctx).IsLocalActivity {
		return run, "", nil, errBegun
	}
	if run.Plan == nil {
		plan, err := a.agentPlan(ctx, in.Principal, run)
		if err == nil {
			err = a.planned(ctx, &run, plan)
		}
		if err != nil {
			return run, "", nil, err
		}
		run.Plan, run.FirstRunID, run.AgentVersion = plan, in.FirstRunID, plan.AgentVersion
		if run, open, err = a.begin(ctx, run); err != nil {
			return run, "", nil, fmt.Errorf("beginning run %s: %w", in.RunID, err)
		}
		if run.EndedUnbegun() { // Between the two statements.
			return run, "", nil, run.EndError()
		}
	}
	if run.Plan == nil {
		return run, "", nil, &tool.Error{
			Kind: tool.Unavailable, Op: "activities.Advance", Msg: "the run's plan is being written",
		}
	}
	head, err = a.head(ctx, &run, in.Head)
	if head != run.HeadMessageID {
		open = nil
	}
	return run, head, open, err
}

// begin records that a run started under its plan, and opens its first turn where that
// needs no round trip of its own.
func (a *Activities) begin(ctx context.Context, run agent.Run) (agent.Run, *agent.OpenTurn, error) {
	if a.Journal != nil {
		return a.Journal.Begin(ctx, run, turnKey(activity.GetInfo(ctx), 1))
	}
	run, err := a.Runs.BeginRun(ctx, run)
	return run, nil, err
}

// head returns the message that the run's first turn answers. It depends on the workflow's input and
// immutable messages only, never on the run's current head: a workflow that is reset loads its plan
// again, and must start from the same message.
func (a *Activities) head(ctx context.Context, run *agent.Run, asked string) (string, error) {
	if asked != "" && asked == run.HeadMessageID {
		return asked, nil // No turn yet.
	}
	head, err := a.Runs.FindHead(ctx, run.Tenant, run.ID, asked)
	if err != nil {
		return "", fmt.Errorf("finding the message that run %s begins with: %w", run.ID, err)
	}
	return head, nil
}

// agentPlan pins the agent's version and the version of each of its tools.
func (a *Activities) agentPlan(ctx context.Context, p tool.Principal, run agent.Run) (*agent.Plan, error) {
	version, ids, err := a.chooseAgent(ctx, p.Tenant, run)
	if err != nil {
		return nil, err
	}
	bound, unavailable, err := a.Resolver.For(run.ID).Bind(ctx, p, version.Snapshot.Tools, run.Mode)
	if err != nil {
		return nil, fmt.Errorf("binding the tools of agent %s: %w", version.Slug, err)
	}
	refuse := version.Snapshot.OnUnavailableTool == agent.RefuseRun
	if err := resolver.RefuseRun(version.Slug, unavailable); refuse && err != nil {
		return nil, err
	}
	plan := &agent.Plan{
		AgentID: version.AgentID, Agent: version.Slug, AgentVersion: version.Number, AgentDigest: version.Digest,
		ToolMode: version.Snapshot.ToolMode, Limits: version.Snapshot.Limits.WithDefaults(),
		MaxConcurrency: version.Snapshot.MaxConcurrency, Spaces: version.Snapshot.Spaces,
		Tools: make([]agent.Pin, 0, len(bound)),
	}
	if bound, err = a.withSpaceTools(ctx, p, &version.Snapshot, bound, run.Mode); err != nil {
		return nil, err
	}
	given, missing, err := a.assigned(ctx, p, run.ID, ids, version.Snapshot.Tools, bound, run.Mode)
	if err != nil {
		return nil, err
	}
	grouped, more, err := a.grouped(ctx, p, &version.Snapshot, slices.Concat(bound, given), run.Mode)
	if err != nil {
		return nil, err
	}
	plan.Omitted = append(plan.Omitted, more...)
	if bound, err = resolver.Join(bound, given, grouped); err != nil {
		return nil, err
	}
	for _, u := range append(unavailable, missing...) {
		plan.Omitted = append(plan.Omitted, agent.Omission{Tool: u.Ref.String(), Kind: u.Err.Kind, Reason: u.Err.Msg})
	}
	pins := &pinner{a: a, principal: p, mode: run.Mode, run: run.ID}
	for _, r := range bound {
		// Models do not see tools for users.
		if r.Version.Snapshot.Interaction.Audience == tool.AudienceUser {
			continue
		}
		pin, err := pins.pin(ctx, r, 0)
		if tool.KindOf(err) == tool.Denied {
			continue // Leave out nested tools like direct ones that the principal may not use.
		}
		assigned := slices.Contains(given, r)
		mine := !assigned && !slices.Contains(grouped, r)
		omit := omittable(ctx, err) && !refuse
		if !mine { // The run goes on without what is assigned or grouped and cannot be used.
			omit = omittable(ctx, err) || ctx.Err() == nil && errors.Is(err, errTooMany)
		}
		if err != nil && omit {
			e := tool.AsError(err)
			plan.Omitted = append(plan.Omitted, agent.Omission{Tool: r.Tool.Slug, Kind: e.Kind, Reason: e.Msg})
			continue
		}
		if err != nil {
			return nil, err
		}
		pin.Shown = version.Snapshot.InSpaces() && r.Version.Snapshot.Shown()
		pin.Assigned = assigned
		plan.Tools = append(plan.Tools, pin)
	}
	return plan, nil
}

// omittable reports whether a tool that could not be pinned may be omitted: its agent or a step cannot
// be used, and a retry does not help.
func omittable(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !tool.KindOf(err).Retryable() && !errors.Is(err, errTooMany)
}

// chooseAgent returns the agent version for a run: the highest published one that meets the run's
// constraint, or in debug mode the draft, and the ids of the tools that are assigned to the agent.
func (a *Activities) chooseAgent(
	ctx context.Context, tenant tool.TenantID, run agent.Run,
) (version agent.Version, assigned []string, err error) {
	found, versions, err := a.Agents.FindAgentVersions(ctx, tenant, run.AgentID)
	if err != nil {
		return agent.Version{}, nil, fmt.Errorf("finding agent %s: %w", run.AgentID, err)
	}
	chosen, err := resolver.ChooseAgent(found, versions, run.AgentVersion, run.Mode)
	if err == nil {
		a.definitions.Set(definitionKey{tenant, found.ID, chosen.Digest}, chosen.Snapshot)
	}
	return chosen, found.Assigned, err
}

// pinnedAgent returns the definition that the run's plan pins.
func (a *Activities) pinnedAgent(
	ctx context.Context, tenant tool.TenantID, plan *agent.Plan,
) (agent.Definition, error) {
	key := definitionKey{tenant, plan.AgentID, plan.AgentDigest}
	if d, ok := a.definitions.Get(key); ok {
		return d, nil
	}
	d, err := a.findDefinition(ctx, tenant, plan)
	if err == nil {
		a.definitions.Set(key, d)
	}
	return d, err
}

func (a *Activities) findDefinition(
	ctx context.Context, tenant tool.TenantID, plan *agent.Plan,
) (agent.Definition, error) {
	versions, err := a.Agents.ListAgentVersions(ctx, tenant, plan.AgentID)
	if err != nil {
		return agent.Definition{}, fmt.Errorf("listing the versions of agent %s: %w", plan.Agent, err)
	}
	for _, v := range versions {
		if v.Digest == plan.AgentDigest {
			return v.Snapshot, nil
		}
	}
	// In debug mode a run pins the draft, which equals no version.
	found, err := a.Agents.FindAgent(ctx, tenant, plan.AgentID)
	if err != nil {
		return agent.Definition{}, fmt.Errorf("finding agent %s: %w", plan.Agent, err)
	}
	digest, err := found.Digest()
	if err != nil {
		return agent.Definition{}, fmt.Errorf("digesting agent %s: %w", plan.Agent, err)
	}
	if digest != plan.AgentDigest {
		return agent.Definition{}, &tool.Error{
			Kind: tool.Conflict, Op: "activities.Advance",
			Msg: fmt.Sprintf("the draft of agent %s that this run began with has been edited; start it again", plan.Agent),
		}
	}
	return found.Definition, nil
}
