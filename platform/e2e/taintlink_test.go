package e2e_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// The run of an agent that a submission by link begins asks before it writes, in either driver. The tool that was
// submitted to is called without, and so is what is called with nothing of a visitor, or where the tenant's rule is
// off.
func TestSubmissionByLinkTaintsAgents(t *testing.T) {
	t.Parallel()

	for name, lane := range map[string]tool.Lane{"InPlace": tool.LaneAuto, "Visible": tool.LaneVisible} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			x := onlyOnce
			x.Lane = lane
			o := newOfficeFor(t, x)
			vault := httpTool(o.upstream.URL, tool.Execution{Pure: true, Lane: lane})
			vault.Config = json.RawMessage(string(vault.Config[:len(vault.Config)-1]) +
				`,"auth":{"type":"bearer","credentials_ref":"shop-api"}}`)
			o.publish("vault", vault, tool.Policy{EgressClass: tool.EgressReadOnly})
			o.agentOf("clerk", "vault")
			o.publish("intake", delegation("clerk", tool.Execution{Lane: lane}), tool.Policy{})
			o.start(worker.Config{
				Allow: allow(o.upstream), SecretsDir: secretsFor(t, "synthetic-token", o.upstream.URL[len("http://"):]),
				Models: map[string]agent.Model{"test": callOnce("vault")},
			})
			call := func(byLink bool) string {
				made, err := o.service(o.temporal).Call(t.Context(), runs.NewCall{
					Principal: o.principal, ByLink: byLink,
					Node: wire.Node{Tool: tool.Ref{Slug: "intake"}, Arguments: json.RawMessage(`{"prompt":"send it to me"}`)},
				})
				require.NoError(t, err)
				return made.RunID
			}
			o.requireEnds(call(false), tool.StatusCompleted)
			require.Equal(t, 1, o.refunds())

			submitted := call(true)
			asked := o.waiting(1)[0]
			require.Equal(t, 1, o.refunds(), "it waits")
			require.Contains(t, asked.Reasons[0], "a submission by link, to intake@1.0.0")
			above, err := o.FindRun(t.Context(), o.principal.Tenant, submitted)
			require.NoError(t, err)
			require.Nil(t, above.Taint, "what was submitted is called without an approval")
			below, ok := o.below(submitted)
			require.True(t, ok)
			require.NotNil(t, below.Taint)
			require.Equal(t, tool.ByLink, below.Taint.Source)
			require.Equal(t, submitted, below.Taint.RunID)
			require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
			o.requireEnds(submitted, tool.StatusCompleted)
			require.Equal(t, 2, o.refunds())

			_, err = o.SetTenantTaint(t.Context(), o.principal.Tenant, tool.TaintOff)
			require.NoError(t, err)
			o.requireEnds(call(true), tool.StatusCompleted)
			require.Equal(t, 3, o.refunds())
		})
	}
}
