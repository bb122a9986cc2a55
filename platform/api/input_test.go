package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// asksPerson records a call of a tool that asks a person, in a run of its own.
func (b *bundle) asksPerson(t *testing.T) wait.Call {
	t.Helper()
	b.apply(t, `{"kind":"tool","slug":"askTraveller","description":"Asks the traveller.","implementation_type":"input",
		"version":"1.0.0","publish":true}`)
	head, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: "askTraveller"})
	require.NoError(t, err)
	require.JSONEq(t, input.Schema, string(head.InputSchema))
	versions, err := b.Store.ListVersions(t.Context(), b.tenant, head.ID)
	require.NoError(t, err)
	return b.offersWith(t, tool.VersionIdentity{
		ToolID: head.ID, Slug: head.Slug, Version: "1.0.0", Digest: versions[0].Digest, Implementation: tool.Input,
	}, `{"title":"Seat","questions":[{"id":"seat","label":"Which seat?"}]}`)
}

// Requests for input are shown as forms, with links to their pages; other calls are none.
func TestInputRequests(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.PublicURL = "https://tools.example.com/" })
	seat := b.offers(t, b.outside(t, "pickSeat"))
	asked := b.asksPerson(t)

	var page v1.Page[v1.InputRequest]
	b.do(t, http.MethodGet, "/v1/input-requests?status=open&run="+asked.RunID, "").into(t, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, "input_request", page.Items[0].Kind)
	require.Equal(t, "Seat", page.Items[0].Title)
	require.Contains(t, string(page.Items[0].Fields), "Which seat?")
	b.do(t, http.MethodGet, "/v1/input-requests", "").into(t, &page)
	require.Len(t, page.Items, 1, "a call of another type asks no person")

	path := "/v1/input-requests/" + asked.ID
	var link v1.InputLink
	b.do(t, http.MethodPost, path+"/link", `{"expires_s":120}`).into(t, &link)
	text, ok := strings.CutPrefix(link.ShareURL, "https://tools.example.com"+input.Path)
	require.True(t, ok, link.ShareURL)
	token, ok := input.ReadToken(text)
	require.True(t, ok)
	require.WithinDuration(t, time.Now().Add(2*time.Minute), link.ExpiresAt, 30*time.Second)
	require.True(t, token.Opens(&asked, time.Now()))
	// Who may answer can hand on the link that comes with the run; who may read it learns of it.
	var run v1.Run
	b.do(t, http.MethodGet, "/v1/runs/"+asked.RunID, "").into(t, &run)
	require.Len(t, run.Asks, 1)
	require.Equal(t, v1.InputWait{
		Kind: "input_request", ViewID: asked.ID, Title: "Seat", ShareURL: run.Asks[0].ShareURL,
		ExpiresAt: run.Asks[0].ExpiresAt,
	}, run.Asks[0])
	handed, ok := input.ReadToken(strings.TrimPrefix(run.Asks[0].ShareURL, "https://tools.example.com"+input.Path))
	require.True(t, ok, run.Asks[0].ShareURL)
	require.True(t, handed.Opens(&asked, time.Now()))
	run = v1.Run{}
	b.do(t, http.MethodGet, "/v1/runs/"+asked.RunID, "", b.Key(t, b.tenant, api.RunsRead)).into(t, &run)
	require.Equal(t, []v1.InputWait{{Kind: "input_request", ViewID: asked.ID, Title: "Seat"}}, run.Asks)
	run = v1.Run{}
	b.do(t, http.MethodGet, "/v1/runs/"+seat.RunID, "").into(t, &run)
	require.Empty(t, run.Asks, "calls of other types have no pages")
	b.do(t, http.MethodPost, path+"/revoke", "")
	revoked, err := b.Store.FindCall(t.Context(), b.tenant, asked.ID)
	require.NoError(t, err)
	require.False(t, token.Opens(&revoked, time.Now()))

	for _, other := range []string{seat.ID, "01975c2e-7d1a-7c3e-9f00-0000000000e1", "x"} {
		for _, end := range []string{"", "/link", "/revoke"} {
			method, body := http.MethodPost, "{}"
			if end == "" {
				method, body = http.MethodGet, ""
			}
			got := b.do(t, method, "/v1/input-requests/"+other+end, body)
			require.Equal(t, http.StatusNotFound, got.status, string(got.body))
		}
	}
	foreign := b.Tenant(t)
	got := b.do(t, http.MethodGet, path, "", b.Key(t, foreign, wait.SubmitPermission))
	require.Equal(t, http.StatusNotFound, got.status)
	got = b.do(t, http.MethodPost, path+"/link", "{}", b.Key(t, b.tenant, wait.DecidePermission))
	require.Equal(t, http.StatusForbidden, got.status)

	got = b.do(t, http.MethodPost, "/v1/pending-tool-calls/"+asked.ID+"/result", `{"result":{"seat":12}}`)
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "the form is that of the page")
	require.Contains(t, string(got.body), "/result/seat")
	b.do(t, http.MethodPost, "/v1/pending-tool-calls/"+asked.ID+"/result",
		`{"result":{"kind":"input_request","view_id":"`+asked.ID+`","answer":{"seat":"12A"}}}`)
	var answered v1.InputRequest
	b.do(t, http.MethodGet, path, "").into(t, &answered)
	require.Equal(t, wait.CallResolved, answered.Status)
	require.JSONEq(t, `{"seat":"12A"}`, string(answered.Answer))
	got = b.do(t, http.MethodPost, path+"/link", "{}")
	require.Equal(t, http.StatusConflict, got.status)
}
