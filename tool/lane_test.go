package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestFastLane(t *testing.T) {
	t.Parallel()

	quick := tool.Traits{Implementation: tool.HTTP, Quick: true}
	pure := tool.Execution{Pure: true, TimeoutSeconds: 5}
	with := func(x tool.Execution, change func(*tool.Execution)) tool.Execution {
		change(&x)
		return x
	}
	for name, c := range map[string]struct {
		x        tool.Execution
		traits   tool.Traits
		fast     bool
		obstacle string
	}{
		"pure":       {pure, quick, true, ""},
		"idempotent": {tool.Execution{Idempotent: true, TimeoutSeconds: 1}, quick, true, ""},
		"asked for":  {with(pure, func(x *tool.Execution) { x.Lane = tool.LaneFast }), quick, true, ""},
		"visible":    {with(pure, func(x *tool.Execution) { x.Lane = tool.LaneVisible }), quick, false, ""},
		"once":       {tool.Execution{TimeoutSeconds: 1}, quick, false, "neither pure nor idempotent"},
		"slow":       {with(pure, func(x *tool.Execution) { x.TimeoutSeconds = 6 }), quick, false, "timeout_s is 6"},
		"default":    {tool.Execution{Pure: true}, quick, false, "timeout_s is 30"},
		"limited": {
			with(pure, func(x *tool.Execution) { x.TenantMaxConcurrency = 2 }), quick, false, "tenant_max_concurrency",
		},
		"untrusted": {pure, tool.Traits{Implementation: tool.Artifact}, false, "calls of type artifact"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			fast, obstacle := c.x.FastLane(c.traits)
			require.Equal(t, c.fast, fast)
			if c.obstacle == "" {
				require.Empty(t, obstacle)
			} else {
				require.Contains(t, obstacle, c.obstacle)
			}
		})
	}
}
