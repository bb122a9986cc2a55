package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

func TestLimitsDefaults(t *testing.T) {
	t.Parallel()

	l := agent.Limits{}.WithDefaults()
	require.Equal(t, agent.DefaultMaxTurns, l.MaxTurns)
	require.Equal(t, agent.DefaultMaxCalls, l.MaxCalls)
	require.Equal(t, agent.DefaultMaxCallsPerTurn, l.MaxCallsPerTurn)
	require.Equal(t, int(agent.DefaultRunTimeout/time.Second), l.TimeoutSeconds)
	require.Equal(t, 3, agent.Limits{MaxTurns: 3}.WithDefaults().MaxTurns)
}

func TestPlanFind(t *testing.T) {
	t.Parallel()

	p := agent.Plan{
		Tools: []agent.Pin{
			{VersionIdentity: tool.VersionIdentity{Slug: "a", Version: "1.0.0"}},
			{VersionIdentity: tool.VersionIdentity{Slug: "b", Version: "2.0.0"}},
		},
	}
	pin, ok := p.Find("b")
	require.True(t, ok)
	require.Equal(t, "b@2.0.0", pin.String())
	_, ok = p.Find("c")
	require.False(t, ok)
}

// A plan's digest moves with a pin, and not with time.
func TestPlanDigest(t *testing.T) {
	t.Parallel()

	digest := func(p agent.Plan) string {
		d, err := p.Digest()
		require.NoError(t, err)
		return d
	}
	p := agent.Plan{Tools: []agent.Pin{{VersionIdentity: tool.VersionIdentity{Slug: "a", Digest: "1"}}}}
	same := agent.Plan{Tools: []agent.Pin{{VersionIdentity: tool.VersionIdentity{Slug: "a", Digest: "1"}}}}
	require.Equal(t, digest(same), digest(p))
	require.NotEqual(
		t,
		digest(p),
		digest(agent.Plan{Tools: []agent.Pin{{VersionIdentity: tool.VersionIdentity{Slug: "a", Digest: "2"}}}}),
	)
}

func TestRunStatusFinal(t *testing.T) {
	t.Parallel()

	require.True(t, agent.RunCancelled.Final())
	require.False(t, agent.RunHosted.Final())
	require.False(t, agent.RunPending.Final())
}
