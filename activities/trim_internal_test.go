package activities

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// trimmedState is a driver of a run and a state with a visible call of it, as runs have them.
func trimmedState() (*driver, wire.RunState) {
	principal := tool.Principal{
		Tenant: tool.TenantID(uuid.NewString()), Subject: "key:" + uuid.NewString(),
		Permissions: []string{"orders.read"}, Scopes: []string{"runs:write"},
	}
	d := &driver{in: wire.AdvanceInput{
		AgentRunInput: wire.AgentRunInput{Principal: principal, RunID: uuid.NewString()},
	}}
	plan := agent.Plan{
		AgentID: uuid.NewString(), Agent: "support", AgentVersion: "1.0.0", AgentDigest: strings.Repeat("a", 64),
	}
	call := wire.InvokeInput{Pin: agent.Pin{Stepwise: true}}
	call.CallIdentity = tool.CallIdentity{
		Principal: principal, Mode: tool.Production, RunID: d.in.RunID, AgentID: plan.AgentID, MessageID: uuid.NewString(),
		Turn: 1, CallID: "c", InvocationID: uuid.NewString(), EffectID: strings.Repeat("e", 64),
	}
	return d, wire.RunState{Plan: plan, Mode: tool.Production, Batch: []wire.InvokeInput{call}}
}

// A state for the activity of a visible step does not say again what the run's input and
// the state say, and is whole again there. Histories hold it twice for each turn.
func TestTrimmedStateIsRestored(t *testing.T) {
	t.Parallel()

	d, state := trimmedState()
	whole := state.Batch[0]
	before, err := json.Marshal(state)
	require.NoError(t, err)
	d.trim(&state)
	after, err := json.Marshal(state)
	require.NoError(t, err)
	require.LessOrEqual(t, len(after), len(before)-280)
	require.NotContains(t, string(after), d.in.RunID)
	require.NotContains(t, string(after), d.in.Principal.Subject)
	require.LessOrEqual(t, len(after), 640)

	var back wire.RunState
	require.NoError(t, json.Unmarshal(after, &back))
	d.restore(&back)
	require.Equal(t, whole, back.Batch[0])
}

// What differs from the run's is kept, and a call of another run is not made one of it.
func TestStateOfAnotherIsNotRestored(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*tool.CallIdentity){
		"Principal": func(c *tool.CallIdentity) { c.Principal.Permissions = nil },
		"Tenant":    func(c *tool.CallIdentity) { c.Principal.Tenant = "theirs" },
		"Run":       func(c *tool.CallIdentity) { c.RunID = "another" },
		"Both":      func(c *tool.CallIdentity) { c.RunID, c.Principal.Tenant = "another", "theirs" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d, state := trimmedState()
			change(&state.Batch[0].CallIdentity)
			whole := state.Batch[0].CallIdentity
			d.trim(&state)
			d.restore(&state)
			require.Equal(t, whole.Principal, state.Batch[0].Principal)
			require.Equal(t, whole.RunID, state.Batch[0].RunID)
		})
	}
}
