package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// started are the ids of the calls that a step starts.
func started(r *loop.Run, step loop.Step) (out []string) {
	for _, start := range step.Start {
		out = append(out, r.Call(start.Call).CallID)
	}
	return out
}

func answered(mode agent.ToolMode, slugs ...string) *loop.Run {
	plan := planOf(mode, agent.Limits{})
	r := loop.NewRun(identity, wire.RunState{Plan: plan, Head: "m0", Mode: tool.Production})
	r.Next()
	r.Answered(&plan, turnOf("m1", slugs...))
	return r
}

func TestPureCallsOvertakeWaits(t *testing.T) {
	t.Parallel()

	r := answered(agent.ParallelSafe, "ask", "read", "askno", "read3", "write", "read2")
	step := r.Next()
	require.Equal(t, []int{0, 2}, step.Wait, "both are asked for at once")
	require.Equal(t, []string{"read1", "read33"}, started(r, step), "and nothing behind the write is begun")

	r.Decided(0, nil)
	require.Empty(t, r.Next().Start, "a write waits for what is in progress")
	r.Called(1, 0, nil)
	r.Called(3, 0, nil)
	require.Equal(t, []string{"ask0"}, started(r, r.Next()))
	r.Called(0, 0, nil)
	require.Empty(t, r.Next().Start, "the other write is not overtaken")
	r.Decided(2, decisionOn("askno"))
	require.Equal(t, []string{"askno2"}, started(r, r.Next()), "to be recorded as rejected")
	r.Called(2, 0, nil)
	require.Equal(t, []string{"write4"}, started(r, r.Next()))
	r.Called(4, 0, nil)
	require.Equal(t, []string{"read25"}, started(r, r.Next()))
	r.Called(5, 0, nil)
	require.True(t, r.Next().Ask)
}

// A call that was approved does not wait until a result comes from outside for a call that
// overtook it.
func TestApprovedCallRunsBesideWaitsThatOvertookIt(t *testing.T) {
	t.Parallel()

	r := answered(agent.ParallelSafe, "ask", "read", "read2", "write")
	require.Equal(t, []string{"read1", "read22"}, started(r, r.Next()))
	r.Waits(1)
	r.Decided(0, nil)
	require.Empty(t, r.Next().Start, "the other one runs")
	r.Called(2, 0, nil)
	require.Equal(t, []string{"ask0"}, started(r, r.Next()))
	r.Called(0, 0, nil)
	require.Equal(t, loop.Step{}, r.Next(), "the last call was asked for after the one that waits")
	r.Called(1, 0, nil)
	require.Equal(t, []string{"write3"}, started(r, r.Next()))
}

func TestNothingOvertakesInOrder(t *testing.T) {
	t.Parallel()

	r := answered(agent.Sequential, "askread", "read")
	step := r.Next()
	require.Equal(t, []int{0}, step.Wait)
	require.Empty(t, step.Start)
	require.Equal(t, loop.Step{}, r.Next())
	r.Decided(0, nil)
	require.Equal(t, []string{"askread0"}, started(r, r.Next()))
}

// A call whose admission says that it needs an approval waits like one that was known to.
func TestCallInProgressAsks(t *testing.T) {
	t.Parallel()

	r := answered(agent.ParallelSafe, "write", "read")
	require.Equal(t, []string{"write0"}, started(r, r.Next()))
	r.Asks(0, agent.Asking{Reasons: []string{"it asks now"}})
	step := r.Next()
	require.Equal(t, []int{0}, step.Wait)
	require.Equal(t, []string{"read1"}, started(r, step))
}

// A run that stops ends its waits: each call is settled, once.
func TestStoppedRunDropsWaits(t *testing.T) {
	t.Parallel()

	r := answered(agent.ParallelSafe, "ask", "read", "askread")
	r.Next()
	r.Stop(&tool.Error{Kind: tool.Cancelled, Msg: "the run was cancelled"})
	step := r.Next()
	require.Equal(t, []string{"ask0", "askread2"}, started(r, step))
	for _, start := range step.Start {
		require.NotNil(t, start.Refuse)
	}
	r.Decided(0, nil) // Too late.
	require.Empty(t, r.Next().Start)
	for i := range 3 {
		r.Called(i, 0, nil)
	}
	require.True(t, r.Next().End)
}
