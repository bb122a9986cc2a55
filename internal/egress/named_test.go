package egress_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// A browser may load from hosts that a list names, and every list that restricts the tool has to.
func TestNames(t *testing.T) {
	t.Parallel()

	none := tool.EgressRules{}
	own := tool.EgressRules{Hosts: []string{"api.example.com", "*.cdn.example.com"}}
	for _, tt := range []struct {
		policy egress.Policy
		rules  tool.EgressRules
		source string
		want   bool
	}{
		{egress.Policy{}, none, "https://api.example.com", false},
		{egress.Policy{AllowHosts: []string{"api.example.com"}}, none, "https://api.example.com", true},
		{egress.Policy{AllowHosts: []string{"api.example.com"}}, none, "https://b.example.com", false},
		{egress.Policy{AllowHosts: []string{"api.example.com"}}, none, "https://*.example.com", false},
		{egress.Policy{AllowHosts: []string{"api.example.com:8443"}}, none, "https://api.example.com:8443", true},
		{egress.Policy{AllowHosts: []string{"api.example.com:8443"}}, none, "https://api.example.com", false},
		{egress.Policy{}, own, "wss://api.example.com", true},
		{egress.Policy{}, own, "https://api.example.com:8443", false},
		{egress.Policy{AllowPorts: []uint16{8443}}, own, "https://api.example.com:8443", true},
		{egress.Policy{}, own, "https://a.cdn.example.com", true},
		{egress.Policy{}, own, "https://*.cdn.example.com", true},
		{egress.Policy{}, own, "https://*.a.cdn.example.com", true},
		{egress.Policy{}, own, "https://*.example.com", false},
		{egress.Policy{AllowHosts: []string{"b.example.com"}}, own, "https://b.example.com", false},
		{egress.Policy{Rules: []tool.EgressRules{{Hosts: []string{"b.example.com"}}}}, own, "https://api.example.com", false},
		{egress.Policy{Rules: []tool.EgressRules{{Hosts: []string{"b.example.com"}}}}, none, "https://b.example.com", true},
		{egress.Policy{DenyHosts: []string{"api.example.com"}}, own, "https://api.example.com", false},
		{egress.Policy{DenyHosts: []string{"*.example.com"}}, own, "https://a.cdn.example.com", false},
		{egress.Policy{DenyHosts: []string{"ads.cdn.example.com"}}, own, "https://*.cdn.example.com", false},
		{egress.Policy{DenyHosts: []string{"*.ads.cdn.example.com"}}, own, "https://*.cdn.example.com", false},
	} {
		require.NoError(t, tt.policy.Check())
		g := egresstest.Gate(t, egress.Config{Policy: func(tool.TenantID) egress.Policy { return tt.policy }})
		source, ok := hostname.ParseSource(tt.source)
		require.True(t, ok)
		require.Equal(t, tt.want, g.Names("t1", tt.rules, source), "%+v %+v %s", tt.policy, tt.rules, tt.source)
	}
}
