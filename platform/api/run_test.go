package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// A run whose workflow cannot be started is recorded as failed, and the caller
// is told to come back.
func TestRunThatCannotStart(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RequestTimeout = time.Second })
	b.apply(t, echo("say"), desk("desk", `["say"]`))
	got := b.do(t, http.MethodPost, "/v1/runs", `{"agent":"desk","input":"hello"}`)
	require.Equal(t, http.StatusServiceUnavailable, got.status, string(got.body))
	p := got.problem(t)
	require.True(t, p.Retryable)
	require.Contains(t, p.Detail, "Temporal")

	var page v1.Page[v1.Run]
	b.do(t, http.MethodGet, "/v1/runs", "").into(t, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, agent.RunFailed, page.Items[0].Status)
	require.Equal(t, tool.Unavailable, page.Items[0].ErrorKind)

	cancel := b.do(t, http.MethodPost, "/v1/runs/"+page.Items[0].ID+"/cancel", "")
	require.Equal(t, http.StatusConflict, cancel.status)
}

// What could only fail is refused before anything is recorded.
func TestRunsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("say"), desk("desk", `["say"]`), `{"kind":"agent","slug":"draft","instructions":"x","model":"scripted/x"}`)
	for body, code := range map[string]tool.Kind{
		`{"agent":"none","input":"x"}`:                  tool.NotFound,
		`{"agent":"draft","input":"x"}`:                 tool.Conflict,
		`{"agent":"desk@^2.0","input":"x"}`:             tool.NotFound,
		`{"agent":"desk","version":"what","input":"x"}`: tool.Invalid,
		`{"agent":"desk","input":""}`:                   tool.Invalid,
	} {
		require.Equal(t, code, b.do(t, http.MethodPost, "/v1/runs", body).problem(t).Code, body)
	}
	var page v1.Page[v1.Run]
	b.do(t, http.MethodGet, "/v1/runs", "").into(t, &page)
	require.Empty(t, page.Items)
}

func TestListRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	applied := b.apply(t, echo("say"), desk("desk", `["say"]`))
	var ids []string
	for i := range 5 {
		run, err := b.Store.CreateRun(t.Context(), agent.Run{
			Tenant: b.tenant, Kind: agent.AgentRun, AgentID: applied.Items[1].ID, Agent: "desk", Mode: tool.Production,
			WorkflowID: fmt.Sprint("w", i), Input: []byte(`"hello"`), Principal: tool.Principal{Tenant: b.tenant, Subject: "ada"},
		}, agent.Message{Content: []tool.Content{tool.Text("hello")}})
		require.NoError(t, err)
		ids = append([]string{run.ID}, ids...)
	}
	var seen []string
	query := "?limit=2&agent=desk&status=pending"
	for {
		var page v1.Page[v1.Run]
		b.do(t, http.MethodGet, "/v1/runs"+query, "").into(t, &page)
		for _, r := range page.Items {
			seen = append(seen, r.ID)
			require.Equal(t, "ada", r.Subject)
		}
		if page.Next == "" {
			break
		}
		query = "?limit=2&agent=desk&status=pending&cursor=" + page.Next
	}
	require.Equal(t, ids, seen, "newest first, each once")

	var none v1.Page[v1.Run]
	b.do(t, http.MethodGet, "/v1/runs?status=completed", "").into(t, &none)
	require.Empty(t, none.Items)
	require.Contains(t, string(b.do(t, http.MethodGet, "/v1/runs/"+ids[0]+"/messages", "").body), "hello")
	require.JSONEq(t, `{"items":[]}`, string(b.do(t, http.MethodGet, "/v1/runs/"+ids[0]+"/events", "").body))
}
