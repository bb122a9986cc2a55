package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// CanaryState is the stage of a canary.
type CanaryState string

// States of a canary.
const (
	CanaryRunning  CanaryState = "running"  // A share of the runs gets the version.
	CanaryPassed   CanaryState = "passed"   // Still so; enough calls ended within the limit.
	CanaryPromoted CanaryState = "promoted" // Every run gets it.
	CanaryReturned CanaryState = "returned" // No run gets it: too many calls failed.
	CanaryStopped  CanaryState = "stopped"  // No run gets it: a person stopped it.
)

// CanaryStates lists every state.
func CanaryStates() []CanaryState {
	return []CanaryState{CanaryRunning, CanaryPassed, CanaryPromoted, CanaryReturned, CanaryStopped}
}

// Canary is a version of a tool that a share of the runs gets.
type Canary struct {
	ID      string
	Tenant  tool.TenantID
	ToolID  string
	Slug    string
	Version string
	Digest  string
	State   CanaryState
	Plan    CanaryPlan
	Outcome CanaryOutcome
	Reason  string // Why it ended, or passed.

	StartedBy string
	StartedAt time.Time
	EndedBy   string
	EndedAt   *time.Time
	JudgedAt  time.Time
}

// CanaryPlan is how a canary goes.
type CanaryPlan struct {
	Share           int // Percent of the runs, 1 to 99.
	Until           int // How many calls of the canary decide that it has passed.
	MaxErrorPercent int // More of them may not fail.
	// MinCalls is how many calls have to end before it is taken back; without a value a twentieth of Until, at
	// least 5.
	MinCalls int
	Promote  bool // Whether it is given to every run once it has passed.
}

// CanaryOutcome counts calls that ended since a canary began, and those of them that failed: without an answer, with an
// unknown outcome, or with an answer that is an error.
type CanaryOutcome struct {
	Calls, Failures             int
	StableCalls, StableFailures int // Of the other versions.
}

// Bounds of a canary.
const (
	MaxCanaryCalls = 100_000
	minCanaryCalls = 5
)

// withDefaults checks a plan. It fails with tool.Invalid.
func (p CanaryPlan) withDefaults() (CanaryPlan, error) {
	if p.MinCalls == 0 {
		p.MinCalls = min(max(p.Until/20, minCanaryCalls), p.Until)
	}
	switch {
	case p.Share < 1 || p.Share > 99:
		return p, refusal.New(tool.Invalid, "/share",
			"expected 1 to 99 percent of the runs; to give a version to all, publish it")
	case p.Until < 1 || p.Until > MaxCanaryCalls:
		return p, refusal.New(tool.Invalid, "/until_calls", "expected 1 to %d calls", MaxCanaryCalls)
	case p.MaxErrorPercent < 0 || p.MaxErrorPercent > 100:
		return p, refusal.New(tool.Invalid, "/max_error_percent", "expected 0 to 100 percent")
	case p.MinCalls < 1 || p.MinCalls > p.Until:
		return p, refusal.New(tool.Invalid, "/min_calls", "expected 1 to until_calls, %d", p.Until)
	}
	return p, nil
}

// Judge returns the state that the outcome of a running canary gives it, and why. It is taken back once MinCalls
// ended and more of them failed than may, or as many failed as cannot be made good until Until.
func (p CanaryPlan) Judge(o CanaryOutcome) (CanaryState, string) {
	counts := fmt.Sprintf("%d of %d calls failed, at most %d %% may; of the other versions %d of %d failed", o.Failures,
		o.Calls, p.MaxErrorPercent, o.StableFailures, o.StableCalls)
	switch {
	case o.Calls >= p.MinCalls && o.Failures*100 > p.MaxErrorPercent*o.Calls,
		o.Failures*100 > p.MaxErrorPercent*p.Until:
		return CanaryReturned, counts
	case o.Calls < p.Until:
		return CanaryRunning, ""
	case p.Promote:
		return CanaryPromoted, counts
	default:
		return CanaryPassed, counts
	}
}

// StartCanary publishes a version of a tool of the tenant to a share of the runs; the others get the version that
// they got before. The ref names the version exactly; without one it is the draft. It fails as [Registry.Publish]
// does, with tool.Invalid for a plan that cannot be, and with tool.Conflict where the tool has a canary, the version
// is published already, or no other is.
func (r *Registry) StartCanary(
	ctx context.Context, p tool.Principal, ref tool.Ref, plan CanaryPlan,
) (Canary, error) {
	plan, err := plan.withDefaults()
	if err != nil {
		return Canary{}, err
	}
	l, ok := r.store.(LifecycleStore)
	if !ok {
		return Canary{}, refusal.New(tool.Conflict, "", "canaries need a database")
	}
	t, v, err := r.publishable(ctx, p, ref)
	if err != nil {
		return Canary{}, err
	}
	t.UpdatedAt = r.opts.Clock().UTC()
	c, err := l.StartCanary(ctx, t, v, Canary{
		Tenant: t.Tenant, ToolID: t.ID, Slug: t.Slug, Version: v.Number, Digest: v.Digest, Plan: plan, StartedBy: p.Subject,
	})
	if err != nil {
		return Canary{}, fmt.Errorf("starting a canary of %s: %w", &v, err)
	}
	return c, r.servers.PinOrigin(ctx, &t, &v)
}

// publishable returns a version of a tool as publishing it would leave it, and stores nothing.
func (r *Registry) publishable(
	ctx context.Context, p tool.Principal, ref tool.Ref,
) (tool.Tool, tool.Version, error) {
	if ref.Constraint != "" {
		t, versions, err := r.ownVersions(ctx, p, ref)
		if err != nil {
			return tool.Tool{}, tool.Version{}, err
		}
		return r.existing(ctx, p, t, versions, ref.Constraint)
	}
	return r.prepare(ctx, p, ref, "", true)
}

// EndCanary ends the canary of a tool: promoted gives its version to every run, stopped to none any more. Runs that
// have it keep it. It fails with tool.NotFound where the tool has no canary.
func (r *Registry) EndCanary(
	ctx context.Context, p tool.Principal, ref tool.Ref, state CanaryState,
) (Canary, error) {
	if err := refusal.Unpermitted(p, ToolsWrite); err != nil {
		return Canary{}, err
	}
	t, err := r.own(ctx, p.Tenant, ref)
	if err != nil {
		return Canary{}, err
	}
	l, ok := r.store.(LifecycleStore)
	if !ok {
		return Canary{}, refusal.New(tool.NotFound, "", "tool %q has no canary", t.Slug)
	}
	c, err := l.EndCanary(ctx, t, state, p.Subject, "by "+p.Subject)
	if err != nil {
		return Canary{}, fmt.Errorf("ending the canary of tool %q: %w", t.Slug, err)
	}
	return c, nil
}
