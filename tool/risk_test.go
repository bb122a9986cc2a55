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
		{"", "", tool.LowRisk},
		{tool.EgressNone, "", tool.LowRisk},
		{tool.EgressNone, tool.HighRisk, tool.HighRisk},
		{tool.EgressReadOnly, "", tool.MediumRisk},
		{tool.EgressReadOnly, tool.LowRisk, tool.MediumRisk},
		{tool.EgressReadOnly, tool.HighRisk, tool.HighRisk},
		{tool.EgressWrite, tool.LowRisk, tool.HighRisk},
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
