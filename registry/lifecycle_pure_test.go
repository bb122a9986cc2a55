package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// A canary is taken back by its failures, and passes by its calls.
func TestCanaryPlanJudges(t *testing.T) {
	t.Parallel()

	plan := registry.CanaryPlan{Share: 10, Until: 200, MaxErrorPercent: 5, MinCalls: 10}
	promoting := plan
	promoting.Promote = true
	strict := func(errors int) registry.CanaryPlan {
		return registry.CanaryPlan{Share: 1, Until: 20, MaxErrorPercent: errors, MinCalls: 20}
	}
	for name, c := range map[string]struct {
		plan            registry.CanaryPlan
		calls, failures int
		want            registry.CanaryState
	}{
		"nothing yet":                {plan, 0, 0, registry.CanaryRunning},
		"too few calls to judge":     {plan, 9, 9, registry.CanaryRunning},
		"too many failures":          {plan, 10, 1, registry.CanaryReturned},
		"at the limit":               {plan, 20, 1, registry.CanaryRunning},
		"enough calls":               {plan, 200, 10, registry.CanaryPassed},
		"enough calls, by itself":    {promoting, 200, 10, registry.CanaryPromoted},
		"enough calls, too bad":      {promoting, 200, 11, registry.CanaryReturned},
		"it cannot be made good":     {strict(5), 2, 2, registry.CanaryReturned},
		"a single call may not fail": {strict(0), 1, 1, registry.CanaryReturned},
	} {
		state, reason := c.plan.Judge(registry.CanaryOutcome{Calls: c.calls, Failures: c.failures})
		require.Equal(t, c.want, state, name)
		require.Equal(t, c.want == registry.CanaryRunning, reason == "", name)
	}
}

// Values may differ; structure, status and failures may not.
func TestReplayCompares(t *testing.T) {
	t.Parallel()

	answered := func(raw string) tool.Invocation {
		return tool.Invocation{Status: tool.StatusCompleted, Output: tool.JSONResult(json.RawMessage(raw))}
	}
	failed := tool.Invocation{Status: tool.StatusFailed, ErrorKind: tool.Unavailable, Error: "down"}
	no := tool.Invocation{Status: tool.StatusCompleted, IsError: true, Output: tool.ErrorResult("no")}
	for name, c := range map[string]struct {
		was, is tool.Invocation
		want    []string
	}{
		"other values": {answered(`{"a":1,"b":[1,2]}`), answered(`{"a":2,"b":[]}`), nil},
		"other members": {
			answered(`{"a":1,"b":{"c":1}}`), answered(`{"b":{"d":1}}`), []string{"/a is missing", "/b/c is missing", "/b/d is new"},
		},
		"other type": {answered(`{"a":1}`), answered(`{"a":"1"}`), []string{"/a was number and is text"}},
		"items":      {answered(`[{"a":1}]`), answered(`[{"a":null}]`), []string{"/0/a was number and is null"}},
		"other top":  {answered(`{}`), answered(`[]`), []string{"the answer was an object and is an array"}},
		"it fails now": {
			answered(`{}`), failed, []string{"the status was completed and is failed", "it fails: unavailable"},
		},
		"fails the same": {failed, failed, nil},
		"says no now":    {answered(`{}`), no, []string{"the answer an error was false and is true"}},
	} {
		got := registry.ReplayedCall{Outcome: registry.ReplayRunning}.Compare(&c.was, &c.is)
		require.Equal(t, c.want, got.Differences, name)
		if c.want == nil {
			require.Equal(t, registry.ReplaySame, got.Outcome, name)
		} else {
			require.Equal(t, registry.ReplayDifferent, got.Outcome, name)
		}
	}
	unmade := registry.ReplayedCall{Outcome: registry.ReplayRunning}.Unmade("nothing could be started")
	require.Equal(t, registry.ReplayDifferent, unmade.Outcome, "a gate is not passed by what was not made")
	var r registry.Replay
	r.Count([]registry.ReplayedCall{{Outcome: registry.ReplaySame}, {Outcome: registry.ReplayRunning}})
	require.False(t, r.Ended)
	r.Count([]registry.ReplayedCall{{Outcome: registry.ReplaySame}, {Outcome: registry.ReplaySkipped}})
	require.True(t, r.Ended)
	require.Equal(t, []int{1, 0, 1}, []int{r.Same, r.Different, r.Skipped})
}
