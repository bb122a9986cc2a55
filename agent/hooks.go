package agent

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// Hooks are callbacks of a host in the runs of agents. Each may be nil. They run where activities run,
// never in workflow code: they may do I/O, and an attempt that is repeated calls them again. Hooks of
// different runs run concurrently. A panic counts as an error of the hook.
type Hooks struct {
	// Planned is called with the plan that a run is about to begin with: the exact versions that it
	// pins. It must not change it. An error ends the run, unless its kind is one that is repeated.
	Planned func(ctx context.Context, run RunInfo, plan *Plan) error
	// TurnStart is called before the model is asked, in each attempt of a turn. An error is taken as
	// the model's would be: one whose kind is repeated is followed by another attempt, any other ends
	// the run. Nothing was sent then.
	TurnStart func(ctx context.Context, turn TurnInfo) error
	// TurnEnd is called after each TurnStart that returned nil: with the stored answer, or with the
	// error of the attempt. The calls in the answer have not been made yet.
	TurnEnd func(ctx context.Context, turn TurnInfo, answer *Message, err error)
}

// RunInfo describes a run to hooks.
type RunInfo struct {
	Tenant tool.TenantID
	RunID  string
	Agent  string // Its slug.
}

// TurnInfo describes an attempt of a turn to hooks.
type TurnInfo struct {
	RunInfo

	Turn    int    // Counted from 1.
	Attempt int    // Counted from 1.
	Model   string // The agent's, as "provider/name".
}
