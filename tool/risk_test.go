package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// The declared level counts, but never less than the egress class implies.
func TestRiskLevel(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		class    tool.Egress
		declared tool.RiskLevel
		want     tool.RiskLevel
	}{
		{"", "", tool.RiskLow},
		{tool.EgressNone, "", tool.RiskLow},
		{tool.EgressNone, tool.RiskHigh, tool.RiskHigh},
		{tool.EgressReadOnly, "", tool.RiskMedium},
		{tool.EgressReadOnly, tool.RiskLow, tool.RiskMedium},
		{tool.EgressReadOnly, tool.RiskHigh, tool.RiskHigh},
		{tool.EgressWrite, tool.RiskLow, tool.RiskHigh},
	} {
		x := tool.Tool{}
		x.EgressClass = tt.class
		require.Equal(t, tt.want, func() tool.RiskLevel {
			if tt.declared != "" {
				x.Interaction.Risk = &tool.Risk{Level: tt.declared}
			}
			return x.RiskLevel()
		}(), "%s, declared %q", tt.class, tt.declared)
	}
	require.False(t, tool.RiskLevel("extreme").Valid())
}
