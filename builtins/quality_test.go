package builtins_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/registry/quality"
)

// accepted are the findings in our own tools, each with its reason.
var accepted = map[string]string{
	"manageTools: wide-tool":          "listTools is its reading part, for those who may not change tools",
	"mcp_call: permission-missing":    "a person approves each call",
	"delete_goals: no-finder":         "agents are shown their goals at each turn",
	"delete_memories: no-finder":      "agents are shown their memories at each turn",
	"awaitSignal: no output schema":   "a program outside gives the result, of any shape",
	"function_call: no output schema": "the result is the function's",
	"mcp_call: no output schema":      "the result is that of the server's tool",
}

// steers finds in a description what the tool is not for, or what to try first.
var steers = regexp.MustCompile(`(?i)\b(not|instead|rather|only|first|before|after)\b`)

// Our own tools read as the checks ask of others: what they do, when to use them, when not, and what to try first.
func TestBuiltinsReadWell(t *testing.T) {
	t.Parallel()

	specs := builtins.Described(mcpcall.CheckConfig).Specs()
	subjects := make([]quality.Subject, len(specs))
	for i, s := range specs {
		subjects[i] = quality.Subject{Slug: s.Key, Definition: s.Definition, Policy: s.Policy}
	}
	found := map[string]bool{}
	for i := range subjects {
		var beside []quality.Sibling
		for j := range subjects {
			if i != j {
				beside = append(beside, quality.SiblingOf(subjects[j]))
			}
		}
		for _, f := range quality.Check(subjects[i], beside) {
			what := subjects[i].Slug + ": " + string(f.Code)
			found[what] = true
			require.Contains(t, accepted, what, f.Text)
		}
		if len(subjects[i].OutputSchema) == 0 {
			what := subjects[i].Slug + ": no output schema"
			found[what] = true
			require.Contains(t, accepted, what)
		}
		require.Regexp(t, steers, subjects[i].Description, subjects[i].Slug)
	}
	for what := range accepted {
		require.True(t, found[what], "%s is accepted, and not found", what)
	}
}
