package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

func batchOf(definitions ...any) []definition.Definition {
	out := make([]definition.Definition, len(definitions))
	for i, d := range definitions {
		switch d := d.(type) {
		case definition.ToolSpec:
			out[i].Tool = &d
		case definition.AgentSpec:
			out[i].Agent = &d
		case definition.ServerSpec:
			out[i].Server = &d
		}
	}
	return out
}

func TestOrderPutsPartsFirst(t *testing.T) {
	t.Parallel()

	b := setup(t)
	batch := batchOf(
		with("desk", "wrap", "plain"),
		spec("wrap", composed("ask", "stored@^1")),
		spec("ask", asking(`{"agent":"research"}`)),
		spec("plain"),
		with("research", "plain"),
		definition.ServerSpec{Slug: "docs"},
	)
	order, cycles := b.registry.Order(batch)
	require.Empty(t, cycles)
	require.Equal(t, []int{5, 3, 4, 2, 1, 0}, order)
}

func TestOrderTellsOfCycles(t *testing.T) {
	t.Parallel()

	b := setup(t)
	batch := batchOf(with("a", "x"), spec("x", asking(`{"agent":"b"}`)), with("b", "y"), spec("y", composed("leaf", "z")),
		spec("z", asking(`{"agent":"a"}`)), spec("leaf"))
	order, cycles := b.registry.Order(batch)
	require.Len(t, order, len(batch))
	require.Len(t, cycles, 1)
	for _, err := range cycles {
		registrytest.RequireRefused(
			t, err, tool.Conflict, "",
			"tool x -> agent b -> tool y -> tool z -> agent a -> tool x: the calls form a cycle",
		)
	}
	_, cycles = b.registry.Order(batchOf(spec("self", composed("self"))))
	registrytest.RequireRefused(t, cycles[0], tool.Conflict, "", "tool self -> tool self")
}

// What a batch brings need not be there to be checked, and is looked at as if it
// were. What it does not bring must be there.
func TestCheckToolsLeavesOutWhatTheBatchPublishes(t *testing.T) {
	t.Parallel()

	b := setup(t)
	batch := batchOf(with("desk", "wrap"), spec("wrap", composed("ask"), publish),
		spec("ask", asking(`{"agent":"research"}`), publish), with("research"))
	for _, d := range batch {
		require.NoError(t, b.registry.CheckTools(t.Context(), b.ada, d, batch))
	}
	loop := batchOf(spec("ask", asking(`{"agent":"desk"}`), publish))[0]
	registrytest.RequireRefused(t, b.registry.CheckTools(t.Context(), b.ada, batch[0], []definition.Definition{
		batch[0],
		batch[1], loop,
	}),
		tool.Conflict, "/tools/0", "agent desk -> tool wrap -> tool ask -> agent desk: the calls")
	skilled := batchOf(spec("ask", asking(`{"agent":"research","skill":"sum"}`), publish))[0]
	registrytest.RequireRefused(t, b.registry.CheckTools(t.Context(), b.ada, skilled, []definition.Definition{
		skilled,
		batch[3],
	}),
		tool.NotFound, "/implementation_config/target_agent_slug", `agent research has no skill "sum"`)
	batch[3].Agent.Publish = false
	err := b.registry.CheckTools(t.Context(), b.ada, batch[2], batch)
	registrytest.RequireRefused(t, err, tool.NotFound, "/implementation_config/target_agent_slug", `agent "research" not found`)
	err = b.registry.CheckTools(t.Context(), b.ada, batch[1], batch[1:2])
	registrytest.RequireRefused(t, err, tool.NotFound, "/implementation_config/steps/0/tool", `tool "ask" not found`)
}

// A tool that the definitions leave a draft is named as such to the agent beside it.
func TestAgentBesideADraft(t *testing.T) {
	t.Parallel()

	b := setup(t)
	batch := batchOf(with("desk", "weigh"), spec("weigh"))
	err := b.registry.CheckTools(t.Context(), b.ada, batch[0], batch)
	registrytest.RequireRefused(t, err, tool.Conflict, "/tools", `tool "weigh" would be a draft: add publish: true`)
	err = b.registry.CheckTools(t.Context(), b.ada, batch[0], batch[:1])
	registrytest.RequireRefused(t, err, tool.NotFound, "/tools", `tool "weigh" not found`)
	batch[1].Tool.Publish = true
	require.NoError(t, b.registry.CheckTools(t.Context(), b.ada, batch[0], batch))
}

func TestCheckSkills(t *testing.T) {
	t.Parallel()

	b := setup(t)
	put := func(skills map[string]agent.Skill) error {
		s := with("research")
		s.Skills = skills
		return b.put(t, s)
	}
	require.NoError(t, put(map[string]agent.Skill{"summarize": {Instructions: "Short."}}))
	long, many := string(make([]byte, 32<<10+1)), make(map[string]agent.Skill)
	for i := range 51 {
		many["s"+string(rune('a'+i%26))+string(rune('a'+i/26))] = agent.Skill{Instructions: "x"}
	}
	registrytest.RequireRefused(t, put(map[string]agent.Skill{"a/b": {Instructions: "x"}}), tool.Invalid, "/skills/a~1b",
		"expected a letter")
	registrytest.RequireRefused(t, put(map[string]agent.Skill{"a": {}}), tool.Invalid, "/skills/a/instructions",
		"what the agent is to do")
	registrytest.RequireRefused(t, put(map[string]agent.Skill{"a": {Instructions: long}}), tool.Invalid,
		"/skills/a/instructions",
		"at most 32768")
	registrytest.RequireRefused(t, put(map[string]agent.Skill{"a": {Instructions: "x", Description: long}}), tool.Invalid,
		"/skills/a/description", "at most 1024")
	registrytest.RequireRefused(t, put(many), tool.Invalid, "/skills", "51 skills")
	got, err := b.registry.GetAgent(t.Context(), b.ada, "research")
	require.NoError(t, err)
	require.Len(t, got.Skills, 1)

	plain, err := json.Marshal(agent.Definition{Name: "a"})
	require.NoError(t, err)
	require.NotContains(t, string(plain), "skills", "the digest of an agent without skills is what it was")
}
