package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// asks records a request for the approval of a call, in a run of the given subject.
// The call is of a tool that is not there, or of the given version.
func (b *bundle) asks(t *testing.T, subject string, version ...tool.VersionIdentity) wait.Approval {
	t.Helper()
	called := tool.VersionIdentity{Slug: "refund", Version: "1.0.0", Digest: "content"}
	if len(version) > 0 {
		called = version[0]
	}
	principal := tool.Principal{Tenant: b.tenant, Subject: subject}
	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindAgent, Mode: tool.Production, WorkflowID: "w-" + uuid.NewString(),
		Principal: principal,
	}, agent.Message{Content: []tool.Content{tool.Text("hello")}})
	require.NoError(t, err)
	arguments := json.RawMessage(`{"amount":7,"password":"hunter22-secret"}`)
	digest, err := tool.Digest(arguments)
	require.NoError(t, err)
	target := wait.Target{Content: "content", Host: "api.example.com"}
	id := uuid.Must(uuid.NewV7()).String()
	a, err := b.Store.Ask(t.Context(), wait.Request{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				Principal: principal, Mode: tool.Production, RunID: run.ID, CallID: "call_1", InvocationID: id, EffectID: "e-" + id,
			},
			VersionIdentity: called, Arguments: arguments,
		},
		Agent: "desk", WorkflowID: run.WorkflowID, Target: target, Binding: target.Bind(digest), Message: "Approve?",
		Needed: 1, Permission: wait.DecidePermission, Expires: time.Hour,
	})
	require.NoError(t, err)
	return a
}

// refund makes a tool that takes an amount, at most 100, and returns its version.
func (b *bundle) refund(t *testing.T) tool.VersionIdentity {
	t.Helper()
	b.apply(t, `{"kind":"tool","slug":"refund","description":"Refunds.","implementation_type":"internal",
		"version":"1.0.0","publish":true,"input_schema":{"type":"object","required":["amount"],
		"properties":{"amount":{"type":"integer","maximum":100}},"additionalProperties":false}}`)
	head, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: "refund"})
	require.NoError(t, err)
	versions, err := b.Store.ListVersions(t.Context(), b.tenant, head.ID)
	require.NoError(t, err)
	return tool.VersionIdentity{
		ToolID: head.ID, Slug: "refund", Version: "1.0.0", Digest: versions[0].Digest, Implementation: tool.Internal,
	}
}

func (b *bundle) principal(t *testing.T, permissions ...string) (key, subject string) {
	t.Helper()
	k, key, err := b.Store.CreateKey(t.Context(), store.Key{Tenant: b.tenant, Name: "test", Permissions: permissions})
	require.NoError(t, err)
	return key, k.Principal().Subject
}

func TestApprovals(t *testing.T) {
	t.Parallel()

	b := setup(t)
	asked := b.asks(t, "user:ada")
	var page v1.Page[v1.Approval]
	b.do(t, http.MethodGet, "/v1/approvals?status=pending&run="+asked.RunID, "").into(t, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, "api.example.com", page.Items[0].Host)
	require.NotContains(t, string(page.Items[0].Arguments), "hunter22", "arguments are masked")

	got := b.do(t, http.MethodPost, "/v1/approvals/"+asked.ID+"/reject", `{"reason":"too much","seen":"`+asked.Binding+`"}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var decided v1.Approval
	got.into(t, &decided)
	require.Equal(t, wait.Rejected, decided.Status)
	require.Equal(t, "too much", decided.Reason)
	again := b.do(t, http.MethodPost, "/v1/approvals/"+asked.ID+"/reject", `{"reason":"too much"}`)
	require.Equal(t, http.StatusOK, again.status, "the same decision is made once")
	other := b.do(t, http.MethodPost, "/v1/approvals/"+asked.ID+"/approve", `{}`)
	require.Equal(t, http.StatusConflict, other.status)
}

// Reading a request never decides it, whatever the path.
func TestGetNeverDecides(t *testing.T) {
	t.Parallel()

	b := setup(t)
	clerk, _ := b.principal(t, "approvals.read", "approvals.decide")
	for _, path := range []string{"", "/approve", "/reject", "/decide"} {
		asked := b.asks(t, "user:ada")
		b.do(t, http.MethodGet, "/v1/approvals/"+asked.ID+path, "", clerk)
		after, err := b.Store.FindApproval(t.Context(), b.tenant, asked.ID)
		require.NoError(t, err)
		require.Equal(t, wait.Pending, after.Status)
	}
}

// The requests of the calls of one turn have one batch, by which they are listed.
func TestListBatch(t *testing.T) {
	t.Parallel()

	b := setup(t)
	asked, foreign := b.asks(t, "user:ada"), setup(t).asks(t, "user:ada")
	b.asks(t, "user:ada")
	var page v1.Page[v1.Approval]
	b.do(t, http.MethodGet, "/v1/approvals?batch="+asked.Batch().String(), "").into(t, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, asked.ID, page.Items[0].ID)
	require.Equal(t, asked.Batch().String(), page.Items[0].Batch)
	for query, status := range map[string]int{
		"batch=" + asked.RunID + ".7":                             http.StatusOK,
		"batch=" + asked.RunID:                                    http.StatusUnprocessableEntity,
		"batch=" + asked.Batch().String() + "&run=" + asked.RunID: http.StatusUnprocessableEntity,
		"batch=" + uuid.NewString() + ".1":                        http.StatusNotFound,
		"batch=" + foreign.Batch().String():                       http.StatusNotFound,
	} {
		require.Equal(t, status, b.do(t, http.MethodGet, "/v1/approvals?"+query, "").status, query)
	}
}

// One of several decisions that fails leaves the others.
func TestDecideSeveral(t *testing.T) {
	t.Parallel()

	b := setup(t)
	one, two := b.asks(t, "user:ada"), b.asks(t, "user:ada")
	got := b.do(t, http.MethodPost, "/v1/approvals/decide", `{"decisions":[
		{"id":"`+one.ID+`","approve":false,"reason":"no"},
		{"id":"01890000-0000-7000-8000-00000000ffff","approve":true},
		{"id":"`+two.ID+`","approve":true}]}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var page v1.Page[v1.Decided]
	got.into(t, &page)
	require.Equal(t, wait.Rejected, page.Items[0].Approval.Status)
	require.Equal(t, http.StatusNotFound, page.Items[1].Error.Status)
	require.Equal(t, wait.Approved, page.Items[2].Approval.Status)
	require.NotEmpty(t, page.Items[1].Error.TraceID)
	for _, body := range []string{
		`{"decisions":[]}`, `{"decisions":[{"id":"` + one.ID + `","approve":true},{"id":"` + one.ID + `","approve":false}]}`,
	} {
		require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, "/v1/approvals/decide", body).status)
	}
}

// Other arguments are those of a call of the tool: coerced, refused with the place of what is
// wrong, and bound. What was approved with them is not approved with others.
func TestApproveWithOtherArguments(t *testing.T) {
	t.Parallel()

	b := setup(t)
	asked := b.asks(t, "user:ada", b.refund(t))
	path := "/v1/approvals/" + asked.ID + "/approve"
	wrong := b.do(t, http.MethodPost, path, `{"arguments":{"amount":1000}}`)
	require.Equal(t, http.StatusUnprocessableEntity, wrong.status)
	require.Equal(t, "/arguments/amount", wrong.problem(t).Path)
	reader, _ := b.principal(t, "approvals.read")
	denied := b.do(t, http.MethodPost, path, `{"arguments":{"amount":1000}}`, reader)
	require.Equal(t, http.StatusForbidden, denied.status, "authority comes first")
	require.Equal(t, []string{wait.DecidePermission}, denied.problem(t).Permissions)

	var decided v1.Approval
	got := b.do(t, http.MethodPost, path, `{"arguments":{"amount":"5"},"seen":"`+asked.Binding+`"}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	got.into(t, &decided)
	require.Equal(t, wait.Approved, decided.Status)
	require.JSONEq(t, `{"amount":5}`, string(decided.Edited))
	require.NotEqual(t, asked.Binding, decided.Binding)
	again := b.do(t, http.MethodPost, path, `{"arguments":{"amount":5}}`)
	require.Equal(t, http.StatusOK, again.status, "the same decision is made once")
	other := b.do(t, http.MethodPost, path, `{"arguments":{"amount":6}}`)
	require.Equal(t, http.StatusConflict, other.status, string(other.body))
}

// A run that is running shows what it waits for, the calls of runs below included.
func TestRunsShowWhatTheyWaitFor(t *testing.T) {
	t.Parallel()

	b := setup(t)
	asked := b.asks(t, "user:ada")
	waits := func() []string {
		var run v1.Run
		b.do(t, http.MethodGet, "/v1/runs/"+asked.RunID, "").into(t, &run)
		return run.WaitsFor
	}
	conn := b.Conn(t)
	_, err := conn.Exec(t.Context(), `update runs set status = 'running' where id = $1`, asked.RunID)
	require.NoError(t, err)
	require.Equal(t, []string{asked.ID}, waits())
	below := b.asks(t, "user:ada")
	_, err = conn.Exec(t.Context(), `update approvals set root_run_id = $1 where id = $2`, asked.RunID, below.ID)
	require.NoError(t, err)
	require.Equal(t, []string{below.ID, asked.ID}, waits())
	for _, id := range []string{asked.ID, below.ID} {
		require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/approvals/"+id+"/reject", "{}").status)
	}
	require.Empty(t, waits())
}

// Lists begin with the newest requests, or with the oldest. Each says whether who asks may decide it, and those that
// they may can be listed alone.
func TestListsOfWhatWaits(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var me v1.Me
	b.do(t, http.MethodGet, "/v1/me", "").into(t, &me)
	others, own := b.asks(t, "user:ada"), b.asks(t, me.Subject)
	list := func(query string) v1.Page[v1.Approval] {
		var page v1.Page[v1.Approval]
		b.do(t, http.MethodGet, "/v1/approvals?limit=1&"+query, "").into(t, &page)
		require.Len(t, page.Items, 1)
		return page
	}
	page := list("order=oldest")
	require.Equal(t, others.ID, page.Items[0].ID)
	require.True(t, page.Items[0].Decidable)
	require.Empty(t, page.Items[0].Because)
	page = list("order=oldest&cursor=" + page.Next)
	require.Equal(t, own.ID, page.Items[0].ID)
	require.Empty(t, page.Next)
	page = list("")
	require.Equal(t, own.ID, page.Items[0].ID)
	require.False(t, page.Items[0].Decidable)
	require.Contains(t, page.Items[0].Because, "who started the run does not decide")
	require.Equal(t, others.ID, list("decidable=true").Items[0].ID, "a page that has none is read over")

	first, second := b.offers(t, b.outside(t, "pickSeat")), b.offers(t, b.outside(t, "pickMeal"))
	for order, id := range map[string]string{"oldest": first.ID, "newest": second.ID} {
		var calls v1.Page[v1.PendingCall]
		b.do(t, http.MethodGet, "/v1/pending-tool-calls?limit=1&order="+order, "").into(t, &calls)
		require.Equal(t, id, calls.Items[0].ID)
	}
}
