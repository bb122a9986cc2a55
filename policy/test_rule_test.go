package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/tool"
)

func TestOfBuiltins(t *testing.T) {
	t.Parallel()

	in := policy.Input{Test: &policy.Test{Traits: tool.Traits{Guarded: true}, Builtin: "function_call"}}
	require.Equal(t, policy.Deny, policy.Decide(in).Verdict, "what it calls is not known")
	in.Test.Execution.Pure = true
	require.Equal(t, policy.Allow, policy.Decide(in).Verdict)
}

// What an agent calls is no test, so that saying of its tool that it is pure
// starts no run.
func TestOfAgents(t *testing.T) {
	t.Parallel()

	in := policy.Input{Test: &policy.Test{Execution: tool.Execution{Pure: true}, RunsAgent: true}}
	d := policy.Decide(in)
	require.Equal(t, policy.Deny, d.Verdict)
	require.Contains(t, d.Explain(), "allow_writes")
	in.Test.AllowWrites = true
	require.Equal(t, policy.Allow, policy.Decide(in).Verdict)
}

// A test changes nothing unless it was asked to, and lowers no other rule.
func TestOfTests(t *testing.T) {
	t.Parallel()

	pure := tool.Execution{Pure: true}
	tests := []struct {
		name    string
		guarded bool
		x       tool.Execution
		class   tool.Egress
		allowed policy.Verdict // Without and with allow_writes.
		asked   policy.Verdict
	}{
		{"a pure function", false, pure, tool.EgressNone, policy.Allow, policy.Allow},
		{
			"a function that may change something", false,
			tool.Execution{Idempotent: true},
			tool.EgressNone,
			policy.Deny, policy.Allow,
		},
		{
			"a request that the guard lets read only", true,
			tool.Execution{},
			tool.EgressReadOnly, policy.Allow,
			policy.Allow,
		},
		{"a tool that echoes", true, tool.Execution{}, tool.EgressNone, policy.Allow, policy.Allow},
		{
			"a composition, whose steps are tests too", true,
			tool.Execution{},
			tool.EgressNone, policy.Allow,
			policy.Allow,
		},
		{"an agent, whose run is no test", false, tool.Execution{}, tool.EgressNone, policy.Deny, policy.Allow},
		{
			"a remote tool that is said to read only", false,
			tool.Execution{},
			tool.EgressReadOnly, policy.Deny,
			policy.Allow,
		},
		{"a request that writes", true, tool.Execution{}, tool.EgressWrite, policy.Deny, policy.NeedsApproval},
		{"a pure claim about what writes", false, pure, tool.EgressWrite, policy.Deny, policy.NeedsApproval},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := policy.Input{
				Policy: tool.Policy{EgressClass: tt.class},
				Test:   &policy.Test{Traits: tool.Traits{Guarded: tt.guarded}, Execution: tt.x},
			}
			d := policy.Decide(in)
			require.Equal(t, tt.allowed, d.Verdict)
			if d.Verdict == policy.Deny {
				require.Contains(t, d.Explain(), "allow_writes", "it says how to ask for it")
			}
			in.Test.AllowWrites = true
			require.Equal(t, tt.asked, policy.Decide(in).Verdict)
		})
	}
}
