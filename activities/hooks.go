package activities

import (
	"context"
	"fmt"
	"runtime/debug"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
)

// hooked runs a hook of the host, and converts a panic to an error.
func hooked(name string, hook func() error) (err error) {
	defer func() {
		if p := recover(); p != nil { // Its value is kept out of histories.
			err = fmt.Errorf("the hook %s panicked with a %T\n%s", name, p, debug.Stack())
		}
	}()
	return hook()
}

// planned calls the host's hook with a plan.
func (a *Activities) planned(ctx context.Context, run *agent.Run, plan *agent.Plan) error {
	if a.Hooks.Planned == nil {
		return nil
	}
	err := hooked("Planned", func() error {
		return a.Hooks.Planned(ctx, agent.RunInfo{Tenant: run.Tenant, RunID: run.ID, Agent: plan.Agent}, plan)
	})
	if err != nil {
		return fmt.Errorf("the host's hook Planned: %w", err)
	}
	return nil
}

// turnStarts calls the host's hook before a model is asked.
func (a *Activities) turnStarts(ctx context.Context, turn agent.TurnInfo) error {
	if a.Hooks.TurnStart == nil {
		return nil
	}
	if err := hooked("TurnStart", func() error { return a.Hooks.TurnStart(ctx, turn) }); err != nil {
		return fmt.Errorf("the host's hook TurnStart: %w", err)
	}
	return nil
}

// turnEnds calls the host's hook after an attempt of a turn.
func (a *Activities) turnEnds(ctx context.Context, turn agent.TurnInfo, answer *agent.Message, failed error) {
	if a.Hooks.TurnEnd == nil {
		return
	}
	if failed != nil {
		answer = nil
	}
	err := hooked("TurnEnd", func() error {
		a.Hooks.TurnEnd(ctx, turn, answer, failed)
		return nil
	})
	if err != nil {
		activity.GetLogger(ctx).Error("a hook of the host failed", "tenant_id", turn.Tenant, "run_id", turn.RunID,
			"turn", turn.Turn, "error", err)
	}
}
