package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// explained returns the account of a call, and the details of its steps by stage.
func (b *bundle) explained(t *testing.T, id string) (v1.CallExplanation, map[v1.CallStage][]v1.CallStep) {
	t.Helper()
	out := as[v1.CallExplanation](t, b.do(t, http.MethodGet, "/v1/invocations/"+id+"/explain", ""), http.StatusOK)
	stages := map[v1.CallStage][]v1.CallStep{}
	for _, step := range out.Steps {
		stages[step.Stage] = append(stages[step.Stage], step)
	}
	return out, stages
}

// The account of a call that needs approvals says why, who decided, and what it waits for.
func TestExplainCall(t *testing.T) {
	t.Parallel()

	b := setup(t)
	asked := b.asks(t, "user:ada", b.refund(t))
	out, stages := b.explained(t, asked.ID)
	require.Equal(t, tool.StatusPending, out.Status)
	require.Equal(t, "refund", out.Tool)
	require.Equal(t, "1.0.0", out.Version)
	require.Equal(t, v1.StageResolve, out.Steps[0].Stage)
	require.Equal(t, "refund@1.0.0 was resolved for this call", stages[v1.StageResolve][0].Detail)
	require.Contains(t, stages[v1.StagePolicy][0].Detail, "it needed an approval")
	require.Contains(t, stages[v1.StageApproval][0].Detail, "asked for (round 1, 1 needed, until ")
	require.Contains(t, stages[v1.StageWaits][0].Detail,
		"waits for 1 of 1 approvals by keys with the permission approvals.decide")
	require.Empty(t, stages[v1.StageEnd])

	clerk, subject := b.principal(t, "approvals.read", "approvals.decide")
	got := b.do(t, http.MethodPost, "/v1/approvals/"+asked.ID+"/approve", `{"reason":"fine","arguments":{"amount":5}}`, clerk)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	_, stages = b.explained(t, asked.ID)
	require.Len(t, stages[v1.StageApproval], 2, "the event of the decision is not listed beside it")
	require.Equal(t, "approved with other arguments: fine", stages[v1.StageApproval][1].Detail)
	require.Equal(t, subject, stages[v1.StageApproval][1].By)
	require.Contains(t, stages[v1.StageCoerce][0].Detail, "a person approved others")
	require.Equal(t, "approved, and not started yet", stages[v1.StageWaits][0].Detail)

	_, err := b.Store.Settle(t.Context(), ledger.Settlement{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				InvocationID: asked.ID, EffectID: "e-" + asked.ID, RunID: asked.RunID, CallID: "call_1", Mode: tool.Production,
				Principal: tool.Principal{Tenant: b.tenant, Subject: "user:ada"},
			},
			VersionIdentity: tool.VersionIdentity{Slug: "refund", Version: "1.0.0"},
		},
		Status: tool.StatusFailed, Kind: tool.Unavailable, Msg: "the host refused password=hunter22-secret",
	})
	require.NoError(t, err)
	out, stages = b.explained(t, asked.ID)
	require.Equal(t, tool.StatusFailed, out.Status)
	require.Empty(t, stages[v1.StageWaits])
	require.Contains(t, stages[v1.StageEnd][0].Detail, "failed: unavailable: the host refused")
	require.NotContains(t, stages[v1.StageEnd][0].Detail, "hunter22", "details are masked")
	require.Contains(t, stages[v1.StageEffect][0].Detail, "the ledger has the effect as done, without an attempt")

	for _, id := range []string{uuid.NewString(), "seven"} {
		got := b.do(t, http.MethodGet, "/v1/invocations/"+id+"/explain", "")
		require.Equal(t, tool.NotFound, got.problem(t).Code)
	}
}

// The account of a call that clients answer says until when, and who did.
func TestExplainOutsideCall(t *testing.T) {
	t.Parallel()

	b := setup(t)
	called := b.offers(t, b.outside(t, "pickSeat"))
	_, stages := b.explained(t, called.ID)
	require.Equal(t, "outside: a client answers it", stages[v1.StageLane][0].Detail)
	require.Equal(t, "it needed no approval; its egress class was none", stages[v1.StagePolicy][0].Detail)
	require.Equal(t, "attempt 1 was admitted", stages[v1.StageAttempt][0].Detail)
	require.Contains(t, stages[v1.StageOutside][0].Detail, "offered to clients, which may answer until ")
	require.Contains(t, stages[v1.StageWaits][0].Detail, "waits for a result from a client, until ")

	key, subject := b.principal(t, "results.submit")
	got := b.do(t, http.MethodPost, "/v1/pending-tool-calls/"+called.ID+"/result", `{"result":{"seat":"12A"}}`, key)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	_, stages = b.explained(t, called.ID)
	require.Equal(t, "a result was submitted", stages[v1.StageOutside][1].Detail)
	require.Equal(t, subject, stages[v1.StageOutside][1].By)
	require.WithinDuration(t, time.Now(), *stages[v1.StageOutside][1].At, time.Minute)
}

// A call that no tool of the run serves has an account too; a standing grant is named in it.
func TestExplainSaysWhatIsMissing(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ids := seedForeign(t, b)
	_, stages := b.explained(t, ids["invocations"][0])
	require.Equal(t, `"theirTool" is not a tool of this run`, stages[v1.StageResolve][0].Detail)
	require.Equal(t, "the arguments were not changed", stages[v1.StageCoerce][0].Detail)
	require.Equal(t, "it ended before it was admitted", stages[v1.StagePolicy][0].Detail)
	require.Equal(t, "failed: not_found: refused", stages[v1.StageEnd][0].Detail)

	version := b.refund(t)
	clerk, subject := b.principal(t, "approvals.read", "approvals.decide")
	grant := as[v1.Grant](t, b.do(t, http.MethodPost, grantsPath, `{"tool":"refund","uses":1,"expires_s":60}`, clerk),
		http.StatusCreated)
	asked := b.asks(t, "user:ada", version)
	used, err := b.Store.UseGrant(t.Context(), b.tenant, grant.ID, asked)
	require.NoError(t, err)
	require.Equal(t, wait.Approved, used.Status)
	_, stages = b.explained(t, asked.ID)
	require.Equal(t, "approved by standing grant "+grant.ID, stages[v1.StageApproval][1].Detail)
	require.Equal(t, subject, stages[v1.StageApproval][1].By)
}
