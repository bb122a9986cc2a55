package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// What all tenants may reach and what one may add up; what narrows them holds
// both.
func TestAllowancesAreJoined(t *testing.T) {
	t.Parallel()

	everyone, own := tool.EgressRules{Hosts: []string{"*.example.com"}}, tool.EgressRules{MaxBytes: 4096}
	cfg := Config{DatabaseURL: "postgres://", Allow: map[tool.TenantID]Allowance{
		"":     {Hosts: []string{"a.internal"}, Ports: []uint16{81}, Rules: everyone},
		"acme": {Hosts: []string{"b.internal"}, Rules: own},
	}}
	require.NoError(t, cfg.validate())
	require.Equal(t, egress.Policy{
		AllowHosts: []string{"a.internal", "b.internal"}, AllowPorts: []uint16{81}, Rules: []tool.EgressRules{everyone, own},
	}, cfg.policyOf("acme"))
	for _, other := range []tool.TenantID{"", "globex"} {
		p := cfg.policyOf(other)
		require.Equal(t, []string{"a.internal"}, p.AllowHosts)
		require.Equal(t, []tool.EgressRules{everyone}, p.Rules)
	}

	cfg.Allow["acme"] = Allowance{Rules: tool.EgressRules{Hosts: []string{"https://x"}}}
	err := cfg.validate()
	require.ErrorContains(t, err, `Config.Allow["acme"]`)
	require.Equal(t, "/rules/0/hosts/0", tool.AsError(err).Path)
}
