package activities

import (
	"slices"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// trim leaves out of the calls of a state what an Advance knows from the run: histories
// hold the state twice for each visible call, as a result and as an input. Only a state
// that goes to an Advance may be trimmed.
func (d *driver) trim(state *wire.RunState) {
	for i := range state.Batch {
		call := &state.Batch[i].CallIdentity
		if call.RunID != d.in.RunID || !samePrincipal(call.Principal, d.in.Principal) {
			continue // It says itself what it is, all of it.
		}
		call.Principal, call.RunID = tool.Principal{}, ""
		call.AgentID = without(call.AgentID, state.Plan.AgentID)
		call.Mode = without(call.Mode, state.Mode)
	}
}

// restore completes a state that was trimmed.
func (d *driver) restore(state *wire.RunState) {
	for i := range state.Batch {
		call := &state.Batch[i].CallIdentity
		if call.RunID != "" || call.Principal.Tenant != "" {
			continue // It is whole, or not of this run.
		}
		call.Principal, call.RunID = d.in.Principal, d.in.RunID
		if call.AgentID == "" {
			call.AgentID = state.Plan.AgentID
		}
		if call.Mode == "" {
			call.Mode = state.Mode
		}
	}
}

func without[T ~string](s, known T) T {
	if s == known {
		return ""
	}
	return s
}

func samePrincipal(a, b tool.Principal) bool {
	return a.Tenant == b.Tenant && a.Subject == b.Subject && slices.Equal(a.Permissions, b.Permissions) &&
		slices.Equal(a.Scopes, b.Scopes)
}
