package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// A run below others is refused where it would be too deep, below itself, or a
// task of a task: what begins and is not waited for has no budget to share.
func TestCheckLine(t *testing.T) {
	t.Parallel()

	line := func(above ...agent.Ancestor) []agent.Ancestor { return above }
	host, top, task := agent.Ancestor{
		RunID: "h",
	}, agent.Ancestor{AgentID: "a", Agent: "top"}, agent.Ancestor{AgentID: "b", Agent: "clerk", Detached: true}
	deep := make([]agent.Ancestor, agent.MaxDepth+1)
	tests := []struct {
		name string
		pin  agent.PinnedAgent
		line []agent.Ancestor
		want string // Empty where the run may begin.
	}{
		{"BelowAHost", agent.PinnedAgent{AgentID: "a", Slug: "top"}, line(host), ""},
		{"BelowAnother", agent.PinnedAgent{AgentID: "c", Slug: "new"}, line(top, host), ""},
		{"BelowATask", agent.PinnedAgent{AgentID: "c", Slug: "new"}, line(task, top), ""},
		{"ATask", agent.PinnedAgent{AgentID: "c", Slug: "new", Detached: true}, line(top), ""},
		{
			"ATaskOfATask",
			agent.PinnedAgent{AgentID: "c", Slug: "new", Detached: true},
			line(agent.Ancestor{AgentID: "d", Agent: "mid"}, task, top),
			"a task cannot start another (top -> clerk -> mid -> new)",
		},
		{"BelowItself", agent.PinnedAgent{AgentID: "a", Slug: "top"}, line(task, top), "(top -> clerk -> top)"},
		{"TooDeep", agent.PinnedAgent{AgentID: "c", Slug: "new"}, deep, "at most 5 deep"},
		{"AsDeepAsMayBe", agent.PinnedAgent{AgentID: "c", Slug: "new"}, deep[1:], ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := checkLine(&tt.pin, tt.line)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tool.Denied, tool.KindOf(err))
			require.ErrorContains(t, err, tt.want)
		})
	}
}
