package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// outside makes a tool that is answered from outside, and returns its version.
func (b *bundle) outside(t *testing.T, slug string) tool.VersionIdentity {
	t.Helper()
	b.apply(t, `{"kind":"tool","slug":"`+slug+`","description":"Picks a seat.","implementation_type":"client",
		"version":"1.0.0","publish":true,"input_schema":{"type":"object","properties":{"row":{"type":"integer"}}},
		"output_schema":{"type":"object","required":["seat"],"properties":{"seat":{"type":"string"}}}}`)
	head, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: slug})
	require.NoError(t, err)
	versions, err := b.Store.ListVersions(t.Context(), b.tenant, head.ID)
	require.NoError(t, err)
	return tool.VersionIdentity{
		ToolID: head.ID, Slug: slug, Version: "1.0.0", Digest: versions[0].Digest, Implementation: tool.Client,
	}
}

// offers records a call of the version, for row 12 or another, in a run of its own.
func (b *bundle) offers(t *testing.T, version tool.VersionIdentity, row ...int) wait.Call {
	t.Helper()
	return b.offersWith(t, version, fmt.Sprintf(`{"row":%d}`, append(row, 12)[0]))
}

// offersWith records a call of the version with arguments, in a run of its own.
func (b *bundle) offersWith(t *testing.T, version tool.VersionIdentity, arguments string) wait.Call {
	t.Helper()
	principal := tool.Principal{Tenant: b.tenant, Subject: "user:ada"}
	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindAgent, Mode: tool.Production, WorkflowID: "w-" + uuid.NewString(),
		Principal: principal,
	}, agent.Message{Content: []tool.Content{tool.Text("hello")}})
	require.NoError(t, err)
	id := uuid.Must(uuid.NewV7()).String()
	entry := ledger.Entry{
		CallIdentity: tool.CallIdentity{
			Principal: principal, Mode: tool.Production, RunID: run.ID, CallID: "call_1", InvocationID: id, EffectID: "e-" + id,
		},
		VersionIdentity: version, Arguments: []byte(arguments),
	}
	ticket, err := b.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: entry})
	require.NoError(t, err)
	c, err := b.Store.OfferCall(t.Context(), wait.Offer{
		Entry: entry, Fence: ticket.Fence, WorkflowID: run.WorkflowID, Shown: true, Timeout: time.Minute,
	})
	require.NoError(t, err)
	return c
}

func TestResultsOfCalls(t *testing.T) {
	t.Parallel()

	b := setup(t)
	seats := b.outside(t, "pickSeat")
	called := b.offers(t, seats)
	var page v1.Page[v1.PendingCall]
	b.do(t, http.MethodGet, "/v1/pending-tool-calls?status=open&tool=pickSeat&run="+called.RunID, "").into(t, &page)
	require.Len(t, page.Items, 1)
	require.JSONEq(t, `{"row":12}`, string(page.Items[0].Arguments))
	require.Equal(t, wait.CallWaiting, page.Items[0].Status)

	path := "/v1/pending-tool-calls/" + called.ID
	for body, want := range map[string]int{
		`{}`:                            http.StatusUnprocessableEntity,
		`{"result":{"seat":12}}`:        http.StatusUnprocessableEntity,
		`{"result":"12A"}`:              http.StatusUnprocessableEntity,
		`{"result":{"seat":"1"},"x":1}`: http.StatusUnprocessableEntity,
		`{"result":[{"type":"text","text":"12A"}]}`: http.StatusUnprocessableEntity,
	} {
		got := b.do(t, http.MethodPost, path+"/result", body)
		require.Equal(t, want, got.status, "%s: %s", body, got.body)
	}
	var done v1.Submitted
	got := b.do(t, http.MethodPost, "/v1/runs/"+called.RunID+"/tool-results", `{"callId":"call_1","result":{"seat":"12A"}}`)
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	got.into(t, &done)
	require.Equal(t, wait.CallResolved, done.Status)
	require.False(t, done.Repeated)
	b.do(t, http.MethodPost, path+"/result", `{"result":{"seat":"14C"}}`).into(t, &done)
	require.True(t, done.Repeated)
	require.JSONEq(t, `{"seat":"12A"}`, string(done.Result.Structured), "the first result counts")
	for body, want := range map[string]int{
		`{"call_id":"call_2","result":1}`:                   http.StatusNotFound,
		`{"result":1}`:                                      http.StatusUnprocessableEntity,
		`{"call_id":"call_1","callId":"call_2","result":1}`: http.StatusUnprocessableEntity,
	} {
		require.Equal(t, want, b.do(t, http.MethodPost, "/v1/runs/"+called.RunID+"/tool-results", body).status, body)
	}
}

// A token sees its call and submits its result, and does nothing else.
func TestTokensDoNothingElse(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c := b.offers(t, b.outside(t, "pickSeat"))
	own := "/v1/pending-tool-calls/" + c.ID
	made := as[v1.SubmitToken](t, b.do(t, http.MethodPost, own+"/token", `{}`), http.StatusOK).Token
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, own, "", made).status)
	for _, path := range []string{
		"/v1/runs", "/v1/pending-tool-calls", "/v1/open-tool-calls", "/v1/tools", "/v1/events",
	} {
		require.Equal(t, http.StatusUnauthorized, b.do(t, http.MethodGet, path, "", made).status, path)
	}
	again := b.do(t, http.MethodPost, own+"/token", `{}`, made)
	require.Equal(t, http.StatusUnauthorized, again.status)
	require.Contains(t, again.problem(t).Detail, "a token only submits the result of one call")
}

// An executor answers what is open, and what comes; the first answer counts.
func TestExecutorAnswers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	seats, meals := b.outside(t, "pickSeat"), b.outside(t, "pickMeal")
	c, err := client.New(client.Config{Server: b.url, Key: b.Key(t, b.tenant, wait.SubmitPermission)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	var handled atomic.Int64
	executor := &client.Executor{Client: c, Handlers: map[string]client.Handler{
		"pickSeat": func(_ context.Context, call v1.PendingCall) (any, error) {
			switch handled.Add(1) {
			case 1:
				return map[string]string{"seat": "12A"}, nil
			case 2:
				return nil, errors.New("no seat is free")
			case 3:
				return map[string]int{"seat": 12}, nil // Its schema says otherwise.
			default:
				panic("broken")
			}
		},
	}}
	first, other := b.offers(t, seats), b.offers(t, meals)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- executor.Run(ctx) }()
	require.JSONEq(t, `{"seat":"12A"}`, string(b.resolved(t, first).Result.Structured))
	for _, want := range []string{
		"no seat is free", "the answer was refused", "the program that answers the tool failed",
	} {
		began := time.Now()
		got := b.resolved(t, b.offers(t, seats))
		require.True(t, got.Result.IsError)
		require.Contains(t, got.Result.Content[0].Text, want)
		require.Less(t, time.Since(began), 10*time.Second, "it is told, and does not wait for its next look")
	}
	stop()
	require.NoError(t, <-ended)
	left, err := b.Store.FindCall(t.Context(), b.tenant, other.ID)
	require.NoError(t, err)
	require.Equal(t, wait.CallWaiting, left.Status, "what it has no handler for is left")

	denied, err := client.New(client.Config{Server: b.url, Key: b.Key(t, b.tenant, "runs.read")})
	require.NoError(t, err)
	t.Cleanup(denied.Close)
	executor.Client = denied
	require.Equal(t, tool.Denied, tool.KindOf(executor.Run(t.Context())))
}

// A watch whose request may not take as long as its wait answers with what is there.
func TestWatchEndsWithItsRequest(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.RequestTimeout = 300 * time.Millisecond })
	first := as[v1.OpenCalls](t, b.do(t, http.MethodGet, "/v1/open-tool-calls?wait_s=0", ""), http.StatusOK)
	path := "/v1/open-tool-calls?wait_s=20&seen=" + first.Seen
	require.Equal(t, first, as[v1.OpenCalls](t, b.do(t, http.MethodGet, path, ""), http.StatusOK))
}
