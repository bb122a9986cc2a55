package definition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

func TestParseSkills(t *testing.T) {
	t.Parallel()

	parse := func(skills string) (*definition.AgentSpec, error) {
		d, err := definition.Parse([]byte(`{"kind":"agent","slug":"research","model":"scripted/x","skills":` +
			skills + `}`))
		return d.Agent, err
	}
	s, err := parse(`{"summarizeText":{"Instructions":"Short.","description":"Makes it short."}}`)
	require.NoError(t, err)
	require.Equal(t, map[string]agent.Skill{"summarizeText": {Instructions: "Short.", Description: "Makes it short."}},
		s.Skills)
	for raw, path := range map[string]string{
		`[]`: "/skills", `{"a":"x"}`: "/skills/a", `{"a":{"instruction":"x"}}`: "/skills/a/instruction",
		`{"a":{"instructions":7}}`: "/skills/a/instructions",
	} {
		_, err := parse(raw)
		require.Equal(t, tool.Invalid, tool.KindOf(err), raw)
		require.Equal(t, path, tool.AsError(err).Path, raw)
	}
}
