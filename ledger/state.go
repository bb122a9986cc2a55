package ledger

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// States keeps the states of runs; see [tool.RunState]. Package store implements it.
type States interface {
	// ReadState returns the value of a key as an attempt of a call sees it.
	ReadState(ctx context.Context, by StateOwner, key string) (tool.StateValue, error)
	// WriteState makes a change for an attempt of a call, as [tool.StateStore] says.
	WriteState(ctx context.Context, by StateOwner, change tool.StateChange) (tool.StateValue, error)
}

// StateOwner is the attempt of a call that reads and writes the state of its run.
type StateOwner struct {
	Tenant   tool.TenantID
	RunID    string
	EffectID string
	Fence    int64 // That the attempt was admitted with.
	Pure     bool  // The call may only read.
}

// In returns the state of the owner's run.
func (o StateOwner) In(states States) tool.StateStore { return ownedState{states, o} }

type ownedState struct {
	states States
	by     StateOwner
}

func (s ownedState) ReadState(ctx context.Context, key string) (tool.StateValue, error) {
	return s.states.ReadState(ctx, s.by, key)
}

func (s ownedState) WriteState(ctx context.Context, change tool.StateChange) (tool.StateValue, error) {
	if s.by.Pure {
		return tool.StateValue{}, &tool.Error{
			Kind: tool.Denied, Op: "tool.State",
			Msg: "a pure tool does not change the state of its run: declare it idempotent, or neither",
		}
	}
	return s.states.WriteState(ctx, s.by, change)
}
