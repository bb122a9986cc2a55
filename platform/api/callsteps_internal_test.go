package api

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// What was pinned, by which reference, and where it runs, is read from the run's plan.
func TestResolvedAndLane(t *testing.T) {
	t.Parallel()

	identity := tool.VersionIdentity{ToolID: "t1", Slug: "refund", Version: "1.2.0", Digest: "d1"}
	for name, c := range map[string]struct {
		pin            agent.Pin
		kind           agent.RunKind
		parent, ref    string
		approval       tool.ApprovalStatus
		resolved, lane string
	}{
		"in place": {
			pin: agent.Pin{InPlace: true, Fast: true}, kind: agent.RunKindAgent, ref: "refund@^1",
			resolved: "refund@1.2.0 was pinned for desk@2.0.0 when the run began; the agent's reference is refund@^1",
			lane:     "in place: the first attempt is made within the run's activity",
		},
		"an alias of a deprecated version": {
			pin: agent.Pin{AskedAs: "payBack", Deprecated: true, Stepwise: true}, kind: agent.RunKindAgent,
			resolved: "refund@1.2.0 was pinned for desk@2.0.0 when the run began; payBack is an alias or a former name; " +
				"the version was deprecated by then",
			lane: "visible: an activity of its own, which then asks the model for its next turn",
		},
		"a host": {
			pin: agent.Pin{InPlace: true, Fast: true}, kind: agent.RunKindHost,
			resolved: "refund@1.2.0 was pinned for desk@2.0.0 when the run began",
			lane:     "fast: the first attempt is a local activity",
		},
		"approved": {
			pin: agent.Pin{InPlace: true}, kind: agent.RunKindAgent, approval: tool.ApprovalApproved,
			resolved: "refund@1.2.0 was pinned for desk@2.0.0 when the run began",
			lane:     "an activity of its own, as every call that waited for an approval",
		},
		"a run": {
			pin: agent.Pin{Agent: &agent.PinnedAgent{Slug: "clerk", Version: "1.0.0"}}, kind: agent.RunKindAgent,
			resolved: "refund@1.2.0 was pinned for desk@2.0.0 when the run began",
			lane:     "a run of agent clerk@1.0.0, as a workflow of its own",
		},
		"a step": {
			kind: agent.RunKindAgent, parent: "i0",
			resolved: "refund@1.2.0 is a step of invocation i0, whose version pins it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.pin.VersionIdentity = identity
			r := &callRecord{
				ref: c.ref, run: &agent.Run{
					Kind: c.kind, Agent: "desk", AgentVersion: "2.0.0", Plan: &agent.Plan{Tools: []agent.Pin{c.pin}},
				},
				call: tool.Invocation{
					CallIdentity: tool.CallIdentity{ParentID: c.parent}, VersionIdentity: identity, ApprovalStatus: c.approval,
				},
			}
			require.Equal(t, c.resolved, r.resolved())
			require.Equal(t, c.lane, r.lane())
		})
	}
	require.Equal(t, "changed to fit the input schema: /amount from string to number (string_to_number)",
		coerced(json.RawMessage(`[{"path":"/amount","from":"string","to":"number","rule":"string_to_number"}]`)))
	require.Equal(t, "changed to fit the input schema: too_many_changes_to_list",
		coerced(json.RawMessage(`[{"rule":"too_many_changes_to_list"}]`)))
	require.Contains(t, coerced(json.RawMessage(`{`)), "cannot be read")
	require.Equal(t, "the arguments were not changed", coerced(nil))
}
