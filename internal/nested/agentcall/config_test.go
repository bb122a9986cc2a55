package agentcall_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

const someID = "01920000-0000-7000-8000-000000000001"

func TestParseConfig(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		impl  tool.Implementation
		raw   string
		ref   string
		waits bool
	}{
		{"Slug", tool.AgentCall, `{"target_agent_slug":"research"}`, "research", true},
		{"Constraint", tool.AgentCall, `{"target_agent_slug":"research@^1.2"}`, "research@^1.2", true},
		{"ID", tool.AgentCall, `{"type":"agent_call","target_agent_id":"` + someID + `"}`, someID, true},
		{"Aliases", tool.AgentCall, `{"agent":"research"}`, "research", true},
		{"AliasOfTheID", tool.AgentCall, `{"agent_id":"` + someID + `"}`, someID, true},
		{"BothSpellings", tool.AgentCall, `{"agent":"research","target_agent_slug":"research"}`, "research", true},
		{"Skill", tool.AgentCall, `{"agent":"research","skill":"summarize"}`, "research", true},
		{
			"PromptForAnAgent", tool.Prompt, `{"mode":"agent","agent":"research","prompt_template":"Find {{x}}"}`, "research",
			true,
		},
		{"PromptForASkill", tool.Prompt, `{"mode":"skill","agent":"research","skill":"summarize"}`, "research", true},
		{"Task", tool.Task, `{"agent":"research"}`, "research", false},
		{"TaskThatGoesOn", tool.Task, `{"agent":"research","wait":false}`, "research", false},
		{"TaskThatIsAwaited", tool.Task, `{"agent":"research","wait":true}`, "research", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			c, err := agentcall.ParseConfig(tt.impl, json.RawMessage(tt.raw))
			require.NoError(t, err)
			require.Equal(t, tt.ref, c.Ref().String())
			require.Equal(t, tt.waits, c.Waits())
		})
	}
}

func TestCheckConfigRefuses(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		impl tool.Implementation
		raw  string
		path string
		want string
	}{
		{"Empty", tool.AgentCall, ``, "", "target_agent_slug"},
		{"NoTarget", tool.AgentCall, `{}`, "/target_agent_slug", "target_agent_id"},
		{"BothTargets", tool.AgentCall, `{"agent":"a","agent_id":"` + someID + `"}`, "/target_agent_id", "one of them"},
		{"TwoSlugs", tool.AgentCall, `{"agent":"a","target_agent_slug":"b"}`, "/agent", "differ"},
		{"BadSlug", tool.AgentCall, `{"agent":"a b"}`, "/target_agent_slug", "not a slug"},
		{"BadID", tool.AgentCall, `{"agent_id":"x"}`, "/target_agent_id", "is not an id"},
		{"EmptyConstraint", tool.AgentCall, `{"agent":"a@"}`, "/target_agent_slug", "without a version"},
		{"Mode", tool.AgentCall, `{"agent":"a","mode":"agent"}`, "/mode", "no mode"},
		{"Wait", tool.AgentCall, `{"agent":"a","wait":false}`, "/wait", "task"},
		{"Skill", tool.AgentCall, `{"agent":"a","skill":"b c"}`, "/skill", "want a letter"},
		{"UnknownMember", tool.AgentCall, `{"agent":"a","promt_template":"x"}`, "/promt_template", "promt_template"},
		{"WrongKind", tool.AgentCall, `{"agent":7}`, "/agent", "number"},
		{"Array", tool.AgentCall, `[]`, "", "array"},
		{"TwoValues", tool.AgentCall, `{"agent":"a"}{}`, "", "more than one"},
		{"OtherType", tool.AgentCall, `{"agent":"a","type":"task"}`, "/type", "agent_call"},
		{"EmptyTemplate", tool.AgentCall, `{"agent":"a","prompt_template":" "}`, "/prompt_template", "empty"},
		{"BadTemplate", tool.AgentCall, `{"agent":"a","prompt_template":"x {{y"}`, "/prompt_template", "line 1, column 3"},
		{
			"UnknownArgument", tool.AgentCall, `{"agent":"a","prompt_template":"{{question}}"}`, "/prompt_template",
			`"/question"`,
		},
		{"PromptWithoutMode", tool.Prompt, `{"agent":"a"}`, "/mode", "agent or skill"},
		{"PromptWithoutTemplate", tool.Prompt, `{"mode":"agent","agent":"a"}`, "/prompt_template", "the agent's message"},
		{"PromptForNoSkill", tool.Prompt, `{"mode":"skill","agent":"a"}`, "/skill", "names the skill"},
		{
			"PromptForAnAgentWithASkill", tool.Prompt, `{"mode":"agent","agent":"a","skill":"s","prompt_template":"x"}`,
			"/skill", "has none",
		},
		{"AnotherType", tool.HTTP, `{"agent":"a"}`, "/type", "do not run an agent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := agentcall.CheckConfig(tt.impl, json.RawMessage(tt.raw), agentcall.DefaultSchema())
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.Contains(t, e.Msg, tt.want)
		})
	}
}

func TestDefaultSchemaIsOne(t *testing.T) {
	t.Parallel()

	require.NoError(t, schema.CheckInput(agentcall.DefaultSchema()))
	require.NoError(
		t,
		agentcall.CheckConfig(tool.AgentCall, json.RawMessage(`{"agent":"a","prompt_template":"{{prompt}}"}`),
			agentcall.DefaultSchema()),
	)
}

func TestRunsAgent(t *testing.T) {
	t.Parallel()

	require.True(t, agentcall.RunsAgent(tool.AgentCall, nil))
	require.True(t, agentcall.RunsAgent(tool.Task, nil))
	require.True(t, agentcall.RunsAgent(tool.Prompt, json.RawMessage(`{"mode":"skill"}`)))
	require.False(t, agentcall.RunsAgent(tool.Prompt, json.RawMessage(`{"mode":"direct"}`)))
	require.False(t, agentcall.RunsAgent(tool.Composition, nil))
}

func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{
		`{"agent":"a"}`, `{"agent":"a","prompt_template":"{{x}}"}`, `{"mode":"skill","agent":"a@1","skill":"s"}`, `[]`, `{`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, impl := range agentcall.Implementations() {
			c, err := agentcall.ParseConfig(impl, json.RawMessage(raw))
			if err != nil {
				require.Equal(t, tool.Invalid, tool.KindOf(err))
				continue
			}
			require.True(t, tool.ValidID(c.Ref().ID) || tool.ValidSlug(c.Ref().Slug))
		}
	})
}
