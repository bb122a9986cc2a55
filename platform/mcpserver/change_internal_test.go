package mcpserver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// shop has tools and agents that are listed.
type shop struct {
	Tools
	Record
	tools  []resolver.Item
	agents []agent.Agent
}

func (s *shop) List(
	context.Context, tool.Principal, tool.Mode, resolver.Filter, resolver.Page,
) ([]resolver.Item, string, error) {
	return s.tools, "", nil
}

func (s *shop) ListAgents(_ context.Context, _ tool.TenantID, after string, _ int) ([]agent.Agent, error) {
	if after != "" {
		return nil, nil
	}
	return s.agents, nil
}

func (s *shop) FindOffer(context.Context, tool.TenantID, string) (toolset.Offer, error) {
	return toolset.Offer{}, nil
}

// Which list has changed is known: that of prompts changes with prompts and published agents, of callers that see
// them, and that of a toolset, which has none, does not.
func TestChangesOfPromptsAreNoticed(t *testing.T) {
	t.Parallel()

	s, sees := &shop{}, true
	ws := newWatches(&Config{Tools: s, Record: s}, func(context.Context, *Caller) (bool, error) { return false, nil },
		func(*Caller) bool { return sees })
	look := func(c Caller) lists {
		t.Helper()
		now, err := ws.digest(t.Context(), c)
		require.NoError(t, err)
		return now
	}
	last := look(Caller{})
	changed := func(tools, prompts bool, why string) {
		t.Helper()
		now := look(Caller{})
		require.Equal(t, tools, now.tools != last.tools, why)
		require.Equal(t, prompts, now.prompts != last.prompts, why)
		last = now
	}
	changed(false, false, "nothing happened")
	s.agents = []agent.Agent{{Slug: "clerk", Status: tool.Draft, Revision: 1}}
	changed(false, false, "a draft is no prompt")
	s.agents[0].Status, s.agents[0].Revision = tool.Published, 2
	changed(false, true, "it was published")
	s.agents[0].Revision = 3
	changed(false, true, "it has another version")
	s.agents[0].Status, s.agents[0].Revision = tool.Disabled, 4
	changed(false, true, "it was taken away")
	s.tools = []resolver.Item{{Tool: tool.Tool{Slug: "read", Definition: tool.Definition{Implementation: tool.Function}}}}
	changed(true, false, "a tool that is no prompt")
	s.tools = append(s.tools, resolver.Item{Tool: tool.Tool{
		Slug: "summarize", Definition: tool.Definition{Implementation: tool.Prompt},
	}})
	changed(true, true, "a tool that is a prompt")

	s.agents[0].Status, sees = tool.Published, false
	changed(false, false, "the caller sees no agents")
	set := Caller{Offer: &toolset.Offer{}}
	before := look(set)
	s.tools, sees = nil, true
	require.Equal(t, before.prompts, look(set).prompts)
	require.NotEqual(t, before.tools, look(set).tools)
}
