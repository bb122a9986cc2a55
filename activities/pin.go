package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Bounds of nested calls. Publishing checks the first two for a composition's steps at that time;
// steps may have grown since, and drafts are not checked.
const (
	maxNesting = 4    // Nested compositions.
	maxCalls   = 500  // Of one call of a tool.
	maxPins    = 2000 // Of a plan, including steps: it is in histories.
)

// pinner builds the pins of one plan.
type pinner struct {
	a         *Activities
	principal tool.Principal
	mode      tool.Mode
	run       string // Which decides the canaries of the plan.
	calls     int    // Of the current entry.
	pins      int    // Of the plan.
	// resolved are the tools of steps by their references: a plan that uses one twice
	// reads it once, and pins the same version.
	resolved map[string]*resolver.Resolved
}

// resolve resolves the tool of a step.
func (p *pinner) resolve(ctx context.Context, ref tool.Ref) (*resolver.Resolved, error) {
	if r, ok := p.resolved[ref.String()]; ok {
		return r, nil
	}
	r, err := p.a.Resolver.Resolve(ctx, resolver.Request{
		Principal: p.principal, Ref: ref, Mode: p.mode, AllowDeprecated: true, Run: p.run,
	})
	if err != nil {
		return nil, err
	}
	if p.resolved == nil {
		p.resolved = map[string]*resolver.Resolved{}
	}
	p.resolved[ref.String()] = r
	return r, nil
}

// pin pins a resolved tool and its nested tools and agents.
func (p *pinner) pin(ctx context.Context, r *resolver.Resolved, depth int) (agent.Pin, error) {
	if depth == 0 {
		p.calls = 0
	}
	p.calls++
	p.pins++
	switch {
	case p.calls > maxCalls:
		return agent.Pin{}, tooMany("one call makes more than %d calls: shorten its compositions", maxCalls)
	case p.pins > maxPins:
		return agent.Pin{}, tooMany(
			"the plan has more than %d tools, steps of compositions included: use fewer, or shorter compositions",
			maxPins,
		)
	}
	snapshot := &r.Version.Snapshot
	impl, execution := snapshot.ImplementationType(), snapshot.Execution
	fast, _ := execution.FastLane(p.a.traits(impl))
	pin := agent.Pin{
		VersionIdentity: tool.VersionIdentity{
			ToolID:         r.Tool.ID,
			Slug:           r.Tool.Slug,
			Version:        r.Version.Number,
			Digest:         r.Version.Digest,
			Implementation: impl,
		}, Execution: execution, Fast: fast,
		InPlace: execution.InPlace(p.a.traits(impl)), Stepwise: execution.Stepwise(p.a.traits(impl)),
		Confirms:  snapshot.Interaction.Confirmation != nil,
		Outside:   p.a.traits(impl).RunBy == tool.RunByClient,
		Overrides: r.Overrides,
		Taints:    p.taints(ctx, r), Secret: p.secret(ctx, r),
		AskedAs: r.AskedAs, Builtin: r.Tool.BuiltinKey, Deprecated: r.Tool.Status == tool.Deprecated,
	}
	var err error
	switch {
	case agentcall.RunsAgent(impl, snapshot.Config):
		pin.Agent, err = p.agent(ctx, impl, snapshot)
		pin.InPlace, pin.Stepwise = false, false // Its run is the workflow's.
	case impl == tool.Composition:
		pin.Graph, err = p.graph(ctx, snapshot, depth)
		pin.InPlace, pin.Stepwise = execution.Lane != tool.LaneVisible, false
		pin.Fast = pin.InPlace
		for i := 0; err == nil && i < len(pin.Graph.Tools); i++ {
			step := &pin.Graph.Tools[i].Pin
			pin.InPlace, pin.Fast = pin.InPlace && step.InPlace, pin.Fast && step.Fast
		}
	case impl == tool.Graph:
		if pin.Graph, err = p.graph(ctx, snapshot, depth); err == nil {
			pin.Graph.InPlace = execution.Lane == tool.LaneFast
		}
		pin.InPlace, pin.Stepwise, pin.Fast = false, false, false // Its run is a workflow.
	}
	if err != nil {
		return agent.Pin{}, fmt.Errorf("pinning %s: %w", pin, err)
	}
	return pin, nil
}

// secret reports whether the calls of a version use a credential.
func (p *pinner) secret(ctx context.Context, r *resolver.Resolved) bool {
	if p.a.Targets == nil {
		return len(wait.Credentials(r.Version.Snapshot.Config)) > 0
	}
	return p.a.Targets.Secret(ctx, p.aim(r))
}

// taints reports whether the results of a version taint the runs that get them.
func (p *pinner) taints(ctx context.Context, r *resolver.Resolved) bool {
	trust := r.Version.Snapshot.Execution.Trust
	if p.a.Targets == nil {
		return trust == tool.Untrusted
	}
	return p.a.Targets.Taints(ctx, p.aim(r), trust)
}

// aim is what a version calls, as its configuration says.
func (p *pinner) aim(r *resolver.Resolved) wait.Aim {
	return wait.Aim{
		Tenant: p.principal.Tenant, Implementation: r.Version.Snapshot.ImplementationType(), Builtin: r.Tool.BuiltinKey,
		Config: r.Version.Snapshot.Config,
	}
}

// graph pins the tools and agents of the nodes of a graph or composition.
func (p *pinner) graph(ctx context.Context, snapshot *tool.Snapshot, depth int) (*agent.PinnedGraph, error) {
	if depth >= maxNesting {
		return nil, tooMany("graphs and compositions nest more than %d deep here", maxNesting)
	}
	g, err := graph.Of(snapshot.ImplementationType(), snapshot.Config, snapshot.InputSchema)
	if err != nil {
		return nil, err
	}
	out := &agent.PinnedGraph{Shape: *g.Shape()}
	for _, part := range g.Parts() {
		if part.Agent.Name() != "" {
			found, err := p.target(ctx, part.Agent)
			if err != nil {
				return nil, fmt.Errorf("%s %q: %w", g.Noun(), part.ID, err)
			}
			out.Agents = append(out.Agents, agent.PinnedTarget{
				ID: part.ID, PinnedAgent: *found, TimeoutSeconds: part.TimeoutSeconds,
			})
			continue
		}
		r, err := p.resolve(ctx, part.Tool)
		if err != nil {
			return nil, fmt.Errorf("%s %q: resolving tool %q: %w", g.Noun(), part.ID, part.Tool, err)
		}
		pin, err := p.pin(ctx, timed(r, part.TimeoutSeconds), depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", g.Noun(), part.ID, err)
		}
		if err := fits(part, &pin); err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, agent.StepPin{ID: part.ID, Pin: pin})
	}
	return out, nil
}

// timed returns a tool with the timeout of a node, within the limits of its overrides; the tool itself for zero.
func timed(r *resolver.Resolved, seconds float64) *resolver.Resolved {
	if seconds <= 0 {
		return r
	}
	out, version := *r, *r.Version
	version.Snapshot.Execution.TimeoutSeconds = seconds
	version.Snapshot.Execution = r.Limits.Narrow(version.Snapshot.Execution)
	out.Version = &version
	return &out
}

// fits refuses a tool that is not of its node's kind.
func fits(part graph.Part, pin *agent.Pin) error {
	switch {
	case part.Kind == flow.CallAgent && pin.Agent == nil:
	case part.Kind == flow.Sub && pin.Graph == nil:
	default:
		return nil
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: "activities.LoadPlan",
		Msg: fmt.Sprintf("node %q is of kind %s, and %s is a tool of the type %s", part.ID, part.Kind, pin,
			pin.Implementation),
	}
}

// agent pins the agent that a tool's calls run: the highest published version that meets the
// configuration's constraint, in any mode.
func (p *pinner) agent(
	ctx context.Context, impl tool.Implementation, snapshot *tool.Snapshot,
) (*agent.PinnedAgent, error) {
	config, err := agentcall.ParseConfig(impl, snapshot.Config)
	if err != nil {
		return nil, err
	}
	pin, err := p.target(ctx, config.Ref())
	if err == nil {
		pin.Detached = !config.Waits()
	}
	return pin, err
}

// target pins an agent: the highest published version that meets the constraint, in any mode.
func (p *pinner) target(ctx context.Context, target tool.Ref) (*agent.PinnedAgent, error) {
	found, err := p.a.Agents.FindAgent(ctx, p.principal.Tenant, target.Name())
	if err != nil {
		return nil, fmt.Errorf("finding agent %q: %w", target.Name(), err)
	}
	versions, err := p.a.Agents.ListAgentVersions(ctx, p.principal.Tenant, found.ID)
	if err != nil {
		return nil, fmt.Errorf("listing the versions of agent %q: %w", found.Slug, err)
	}
	chosen, err := resolver.ChooseAgent(found, versions, target.Constraint, tool.Production)
	if err != nil {
		return nil, err
	}
	return &agent.PinnedAgent{AgentID: found.ID, Slug: found.Slug, Version: chosen.Number, Digest: chosen.Digest}, nil
}

// errTooMany is the cause when a plan is too large, which is not solved by omitting a tool.
var errTooMany = errors.New("the plan is too large")

func tooMany(format string, most int) *tool.Error {
	return &tool.Error{Kind: tool.Conflict, Op: "activities.LoadPlan", Msg: fmt.Sprintf(format, most), Err: errTooMany}
}
