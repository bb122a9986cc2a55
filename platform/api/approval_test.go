package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
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
func (b *bundle) asks(t *testing.T, subject string) wait.Approval {
	t.Helper()
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
			VersionIdentity: tool.VersionIdentity{Slug: "refund", Version: "1.0.0", Digest: "content"}, Arguments: arguments,
		},
		Agent: "desk", WorkflowID: run.WorkflowID, Target: target, Binding: target.Bind(digest), Message: "Approve?",
		Needed: 1, Permission: wait.DecidePermission, Expires: time.Hour,
	})
	require.NoError(t, err)
	return a
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

// Every way to answer knows who may: the one who asked never does, others need the
// permission of the request.
func TestWhoMayDecide(t *testing.T) {
	t.Parallel()

	b := setup(t)
	requester, subject := b.principal(t, "*")
	clerk, _ := b.principal(t, "approvals.read", "approvals.decide")
	reader, _ := b.principal(t, "approvals.read")
	decider, _ := b.principal(t, "approvals.decide")
	revoked, who := b.principal(t, "*")
	_, err := b.Store.RevokeKey(t.Context(), b.tenant, strings.TrimPrefix(who, "key:"))
	require.NoError(t, err)
	stranger := b.Key(t, b.Tenant(t), "*")
	ways := map[string]func(id, key, seen string) (int, string){
		"approve": func(id, key, seen string) (int, string) {
			got := b.do(t, http.MethodPost, "/v1/approvals/"+id+"/approve", `{"seen":"`+seen+`"}`, key)
			return got.status, string(got.body)
		},
		"reject": func(id, key, seen string) (int, string) {
			got := b.do(t, http.MethodPost, "/v1/approvals/"+id+"/reject", `{"seen":"`+seen+`"}`, key)
			return got.status, string(got.body)
		},
		"decide": func(id, key, seen string) (int, string) {
			got := b.do(t, http.MethodPost, "/v1/approvals/decide",
				`{"decisions":[{"id":"`+id+`","approve":true,"seen":"`+seen+`"}]}`, key)
			if got.status != http.StatusOK {
				return got.status, string(got.body)
			}
			var page v1.Page[v1.Decided]
			got.into(t, &page)
			if problem := page.Items[0].Error; problem != nil {
				return problem.Status, problem.Detail
			}
			return http.StatusOK, ""
		},
	}
	for way, answer := range ways {
		for name, test := range map[string]struct {
			key, seen string
			status    int
		}{
			"who started the run":      {requester, "", http.StatusForbidden},
			"without the permission":   {reader, "", http.StatusForbidden},
			"without that of the list": {decider, "", http.StatusForbidden},
			"of another tenant":        {stranger, "", http.StatusNotFound},
			"a revoked key":            {revoked, "", http.StatusUnauthorized},
			"who saw something else":   {clerk, strings.Repeat("0", 64), http.StatusConflict},
			"with the permission":      {clerk, "", http.StatusOK},
		} {
			asked := b.asks(t, subject)
			status, body := answer(asked.ID, test.key, test.seen)
			require.Equal(t, test.status, status, "%s, %s: %s", way, name, body)
			after, err := b.Store.FindApproval(t.Context(), b.tenant, asked.ID)
			require.NoError(t, err)
			require.Equal(t, test.status == http.StatusOK, after.Status.Final(), "%s, %s", way, name)
		}
	}
	for _, path := range []string{"", "/approve", "/reject", "/decide"} { // GET never decides.
		asked := b.asks(t, subject)
		b.do(t, http.MethodGet, "/v1/approvals/"+asked.ID+path, "", clerk)
		after, err := b.Store.FindApproval(t.Context(), b.tenant, asked.ID)
		require.NoError(t, err)
		require.Equal(t, wait.Pending, after.Status)
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
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, "/v1/approvals/decide", `{"decisions":[]}`).status)
}
