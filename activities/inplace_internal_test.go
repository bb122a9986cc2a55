package activities

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// A panic outside of an attempt fails the activity, not the worker's process, and keeps
// what it panicked with to itself.
func TestPanicBesideAnAttemptFailsTheActivity(t *testing.T) {
	t.Parallel()

	d := &driver{ends: make(chan callEnd, 1), flying: 1}
	go func() { d.ends <- guarded(func() callEnd { panic("secret") }) }()
	err := d.ended(<-d.ends)
	require.ErrorContains(t, err, "panicked with a string")
	require.NotContains(t, err.Error(), "secret")
	require.True(t, tool.KindOf(err).Retryable(), "another attempt takes the run up")
	require.Zero(t, d.flying)
}

// A state that holds a call of another tenant, or of another run, is refused before
// anything is read or made.
func TestCallsOfAnotherTenantAreNotMadeInPlace(t *testing.T) {
	t.Parallel()

	ours := tool.CallIdentity{Principal: tool.Principal{Tenant: "ours"}, RunID: "r"}
	for name, change := range map[string]func(*tool.CallIdentity){
		"Tenant": func(c *tool.CallIdentity) { c.Principal.Tenant = "theirs" },
		"Run":    func(c *tool.CallIdentity) { c.RunID = "another" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			call := ours
			change(&call)
			var batch [2]wire.InvokeInput
			batch[0].CallIdentity, batch[1].CallIdentity = ours, call
			a := &Activities{}
			env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
			env.RegisterActivityWithOptions(a.Advance, activity.RegisterOptions{Name: wire.AdvanceActivity})
			_, err := env.ExecuteActivity(wire.AdvanceActivity, wire.AdvanceInput{AgentRunInput: wire.AgentRunInput{
				Principal: ours.Principal, RunID: ours.RunID, Resume: &wire.RunState{Batch: batch[:]},
			}})
			require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)), "%v", err)
		})
	}
}
