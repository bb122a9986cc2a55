package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/wire"
)

// A turn whose only call is skip is the last: the run ends when the call has, also where another
// driver makes it, and goes on where there is something new. Beside another call it says nothing.
func TestSkipEndsTheRun(t *testing.T) {
	t.Parallel()

	plan := planOf(agent.Sequential, agent.Limits{})
	nothing := pin("skip", true, "", 0)
	nothing.Builtin = agent.SkipTool
	plan.Tools = append(plan.Tools, nothing)
	begin := func(slugs ...string) *loop.Run {
		r := loop.NewRun(identity, wire.RunState{Plan: plan})
		require.True(t, r.Next().Ask)
		r.Answered(&plan, turnOf("m1", slugs...))
		return r
	}
	r := begin("skip")
	require.Len(t, waves(r), 1)
	require.True(t, r.Next().End)
	require.NoError(t, r.Err())
	require.True(t, r.More())
	require.True(t, r.Next().Ask)

	r = begin("skip")
	resumed := loop.NewRun(identity, r.State())
	require.Len(t, waves(resumed), 1)
	require.True(t, resumed.Next().End)

	r = begin("skip", "read")
	waves(r)
	require.True(t, r.Next().Ask)
}
