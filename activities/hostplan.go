package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// maxHostTools bounds the tools of one host plan, which histories carry.
const maxHostTools = 100

// loadHostPlan pins the tools that a host's workflow will call, and records the workflow.
func (a *Activities) loadHostPlan(ctx context.Context, in wire.LoadPlanInput) (wire.LoadPlanOutput, error) {
	if len(in.Tools) > maxHostTools {
		return wire.LoadPlanOutput{}, &tool.Error{
			Kind: tool.Invalid, Op: "activities.LoadPlan",
			Msg: fmt.Sprintf("a plan of %d tools: at most %d", len(in.Tools), maxHostTools),
		}
	}
	plan, pins := &agent.Plan{}, &pinner{a: a, principal: in.Principal, mode: in.Mode, run: canaryKey(ctx, in)}
	for _, ref := range in.Tools {
		r, err := a.Resolver.Resolve(ctx, resolver.Request{
			Principal: in.Principal, Ref: ref, Mode: in.Mode, Run: pins.run,
		})
		if err != nil {
			return wire.LoadPlanOutput{}, fmt.Errorf("resolving tool %q: %w", ref, err)
		}
		pinned, err := pins.pin(ctx, r, 0)
		if err != nil {
			return wire.LoadPlanOutput{}, err
		}
		// A host's code computes the arguments, possibly from the time of day, and they
		// are in the history only after the workflow task. A retried task may compute
		// others, which is harmless only for calls without effects.
		pinned.Fast = pinned.Fast && pinned.Execution.Pure
		if known, ok := plan.Find(pinned.Slug); ok && known.Digest != pinned.Digest {
			return wire.LoadPlanOutput{}, &tool.Error{
				Kind: tool.Conflict, Op: "activities.LoadPlan",
				Msg: fmt.Sprintf("the plan names %s and %s: a plan has one version of each tool", known, pinned),
			}
		} else if !ok {
			plan.Tools = append(plan.Tools, pinned)
		}
	}
	slices.SortFunc(plan.Tools, func(a, b agent.Pin) int { return strings.Compare(a.Slug, b.Slug) })
	run, err := a.beginCaller(ctx, in, in.Mode, plan)
	if err != nil {
		return wire.LoadPlanOutput{}, err
	}
	return wire.LoadPlanOutput{RunID: run.ID, Mode: in.Mode, Plan: *plan}, nil
}
