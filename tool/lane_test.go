package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestFastLane(t *testing.T) {
	t.Parallel()

	pure := tool.Execution{Pure: true, TimeoutSeconds: 5}
	with := func(x tool.Execution, change func(*tool.Execution)) tool.Execution {
		change(&x)
		return x
	}
	for name, c := range map[string]struct {
		x        tool.Execution
		impl     tool.Implementation
		fast     bool
		obstacle string
	}{
		"pure":       {pure, tool.HTTP, true, ""},
		"idempotent": {tool.Execution{Idempotent: true, TimeoutSeconds: 1}, tool.Function, true, ""},
		"asked for":  {with(pure, func(x *tool.Execution) { x.Lane = tool.FastLane }), tool.Internal, true, ""},
		"visible":    {with(pure, func(x *tool.Execution) { x.Lane = tool.VisibleLane }), tool.HTTP, false, ""},
		"once":       {tool.Execution{TimeoutSeconds: 1}, tool.HTTP, false, "neither pure nor idempotent"},
		"slow":       {with(pure, func(x *tool.Execution) { x.TimeoutSeconds = 6 }), tool.HTTP, false, "timeout_s is 6"},
		"default":    {tool.Execution{Pure: true}, tool.HTTP, false, "timeout_s is 30"},
		"untrusted":  {pure, tool.Artifact, false, "calls of type artifact"},
		"a run":      {pure, tool.AgentCall, false, "calls of type agent_call"},
		"somebody":   {pure, tool.Client, false, "calls of type client"},
		"no type":    {pure, tool.Implementation("x"), false, "calls of type x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			fast, obstacle := c.x.FastLane(c.impl)
			require.Equal(t, c.fast, fast)
			if c.obstacle == "" {
				require.Empty(t, obstacle)
			} else {
				require.Contains(t, obstacle, c.obstacle)
			}
		})
	}
}
