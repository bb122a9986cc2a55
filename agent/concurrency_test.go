package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// An agent raises a group only where its tool leaves the limit at the default,
// lowers it anywhere, and each limit names what sets it.
func TestLimitGroup(t *testing.T) {
	t.Parallel()

	pin := func(slug string, most int) *agent.Pin {
		return &agent.Pin{
			VersionIdentity: tool.VersionIdentity{Slug: slug},
			Execution:       tool.Execution{Pure: true, MaxConcurrency: most},
		}
	}
	for name, tt := range map[string]struct {
		asked int
		pins  []*agent.Pin
		want  agent.GroupLimit
	}{
		"unset":      {0, []*agent.Pin{pin("a", 0)}, agent.GroupLimit{Limit: 1, Cause: agent.LimitUnset, Tool: "a"}},
		"the tool's": {0, []*agent.Pin{pin("a", 8)}, agent.GroupLimit{Limit: 8, Cause: agent.LimitTool, Tool: "a"}},
		"the agent's, raised": {
			4, []*agent.Pin{pin("a", 0)}, agent.GroupLimit{Limit: 4, Cause: agent.LimitAgent, Tool: "a"},
		},
		"the agent's, lowered": {
			4, []*agent.Pin{pin("a", 8)}, agent.GroupLimit{Limit: 4, Cause: agent.LimitAgent, Tool: "a"},
		},
		"beyond the allowance": {
			9, []*agent.Pin{pin("a", 8)}, agent.GroupLimit{Limit: 8, Cause: agent.LimitTool, Tool: "a"},
		},
		"an explicit one stays": {
			9, []*agent.Pin{pin("a", 1)}, agent.GroupLimit{Limit: 1, Cause: agent.LimitTool, Tool: "a"},
		},
		"the least of a group": {
			9,
			[]*agent.Pin{pin("a", 8), pin("b", 3), pin("c", 0)},
			agent.GroupLimit{Limit: 3, Cause: agent.LimitTool, Tool: "b"},
		},
		"an unset one of many": {
			0, []*agent.Pin{pin("a", 8), pin("c", 0)}, agent.GroupLimit{Limit: 1, Cause: agent.LimitUnset, Tool: "c"},
		},
	} {
		plan := agent.Plan{}
		if tt.asked > 0 {
			plan.MaxConcurrency = map[string]int{"default": tt.asked}
		}
		require.Equal(t, map[string]agent.GroupLimit{"default": tt.want}, plan.LimitGroups(tt.pins), name)
	}
}
