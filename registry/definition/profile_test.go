package definition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

func TestParseProfile(t *testing.T) {
	t.Parallel()

	d, err := definition.Parse([]byte(`{"kind":"profile","name":"careful","requiresApproval":true,"assignments":2,
		"rate":{"calls":10,"per":"minute"},"max_concurrency":2}`))
	require.NoError(t, err)
	require.Equal(t, "profile", d.Kind())
	require.Equal(t, "careful", d.Slug())
	p, err := d.Profile.Profile()
	require.NoError(t, err)
	require.True(t, p.RequiresApproval)
	require.Equal(t, 10, p.Rate.Burst, "its default")
	again, err := d.Profile.Profile()
	require.NoError(t, err)
	require.True(t, definition.SameProfile(p, again))
	again.Rate.Calls++
	require.False(t, definition.SameProfile(p, again))

	for _, wrong := range []string{
		`{"kind":"profile","name":"careful","denid":true}`, `{"kind":"profile","name":7}`,
		`{"kind":"profile","name":"careful","rate":{"call":1}}`,
	} {
		_, err := definition.Parse([]byte(wrong))
		require.Equal(t, tool.Invalid, tool.KindOf(err), wrong)
	}
	d, err = definition.Parse([]byte(`{"kind":"profile","name":"loose","egress_class":"none"}`))
	require.NoError(t, err)
	_, err = d.Profile.Profile()
	require.Equal(t, "/egress_class", tool.AsError(err).Path, "a profile only raises")
}

func TestParseToolset(t *testing.T) {
	t.Parallel()

	d, err := definition.Parse([]byte(`{"kind":"toolset","slug":"support","path":"/mcp/support",
		"tools":["getOrder@^1.2",{"tool":"refundOrder","id":"x"}],"servers":["files"]}`))
	require.NoError(t, err)
	require.Equal(t, "toolset", d.Kind())
	asked, err := d.Toolset.Toolset()
	require.NoError(t, err)
	require.Equal(t, "^1.2", asked.Tools[0].Version)
	require.Equal(t, "refundOrder", asked.Tools[1].Name)
	stored := asked
	stored.Tools = []toolset.Tool{{Name: "refundOrder", ID: "x"}, {Name: "getOrder", ID: "y", Version: "^1.2"}}
	require.True(t, definition.SameToolset(stored, asked), "the order means nothing")
	stored.Tools[1].Version = ""
	require.False(t, definition.SameToolset(stored, asked))

	_, err = definition.Parse([]byte(`{"kind":"toolset","slug":"support","tools":[{"tol":"getOrder"}]}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	d, err = definition.Parse([]byte(`{"kind":"toolset","slug":"support","tools":["a","a"]}`))
	require.NoError(t, err)
	_, err = d.Toolset.Toolset()
	require.Equal(t, "/tools/1/tool", tool.AsError(err).Path)
}

// Toolsets are applied after the tools that they name, and profiles before anything that may use them.
func TestOrderOfToolsets(t *testing.T) {
	t.Parallel()

	batch := []definition.Definition{
		{Toolset: &definition.ToolsetSpec{Slug: "support"}},
		{Tool: &definition.ToolSpec{Slug: "getOrder"}},
		{Profile: &definition.ProfileSpec{Name: "careful"}},
		{Agent: &definition.AgentSpec{Slug: "desk"}},
	}
	order, cycles := definition.Order(batch, func(*tool.Definition) (agent.Parts, error) { return agent.Parts{}, nil })
	require.Empty(t, cycles)
	require.Equal(t, []int{2, 1, 3, 0}, order)
}

func TestToolsetLacks(t *testing.T) {
	t.Parallel()

	s := definition.ToolsetSpec{
		Slug: "support", Tools: []definition.ToolsetToolSpec{{Tool: "a"}, {Tool: "b"}, {Tool: "c"}},
	}
	there := func(slug string) (bool, error) { return slug == "b", nil }
	batch := []definition.Definition{{Tool: &definition.ToolSpec{Slug: "a"}}}
	missing, err := s.Lacks(batch, there)
	require.NoError(t, err)
	require.Equal(t, 2, missing)
	missing, err = s.Lacks(append(batch, definition.Definition{Tool: &definition.ToolSpec{Slug: "c"}}), there)
	require.NoError(t, err)
	require.Equal(t, -1, missing)
}
