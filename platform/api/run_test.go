package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// While Temporal is away nothing is recorded, and the caller is asked to come
// back.
func TestRunThatCannotStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("say"), desk("desk", `["say"]`))
	run, err := b.Store.CreateRun(t.Context(), agent.Run{
		Tenant: b.tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w",
		Principal: tool.Principal{Tenant: b.tenant},
	}, agent.Message{})
	require.NoError(t, err)
	_, err = b.Store.BeginRun(t.Context(), agent.Run{
		ID: run.ID, Tenant: b.tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w", FirstRunID: "r",
		Status: agent.RunRunning,
	})
	require.NoError(t, err)
	for path, body := range map[string]string{
		"/v1/runs":                       `{"agent":"desk","input":"hello"}`,
		"/v1/tools/say/call":             `{"arguments":{}}`,
		"/v1/tools/say/test":             `{"arguments":{}}`,
		"/v1/tools/say/test/stream":      `{"arguments":{}}`,
		"/v1/runs/" + run.ID + "/cancel": "",
	} {
		got := b.do(t, http.MethodPost, path, body)
		require.Equal(t, http.StatusServiceUnavailable, got.status, path+": "+string(got.body))
		p := got.problem(t)
		require.True(t, p.Retryable, path)
		require.Contains(t, p.Detail, "Temporal", path)
		require.NotEmpty(t, got.header.Get("Retry-After"), path)
	}
	var page v1.Page[v1.Run]
	b.do(t, http.MethodGet, "/v1/runs", "").into(t, &page)
	require.Len(t, page.Items, 1, "only the run that was there")
	backlog, err := b.Store.CountStarts(t.Context())
	require.NoError(t, err)
	require.Zero(t, backlog.Count)
}

// A run that waits to be started is cancelled without Temporal.
func TestCancelOfAPendingRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	applied := b.apply(t, echo("say"), desk("desk", `["say"]`))
	run, err := b.Store.AcceptRun(t.Context(), agent.Acceptance{
		Run: agent.Run{
			Tenant: b.tenant, Kind: agent.RunKindAgent, AgentID: applied.Items[1].ID, Agent: "desk", Mode: tool.Production,
			WorkflowID: "w", Principal: tool.Principal{Tenant: b.tenant},
		},
		First: &agent.Message{Content: []tool.Content{tool.Text("hello")}},
		Start: agent.Start{Workflow: "x", Input: []byte("{}")},
	})
	require.NoError(t, err)
	got := b.do(t, http.MethodPost, "/v1/runs/"+run.ID+"/cancel", "")
	require.Equal(t, http.StatusAccepted, got.status, string(got.body))
	var shown v1.Run
	got.into(t, &shown)
	require.Equal(t, agent.RunCancelled, shown.Status)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/runs/"+run.ID+"/cancel", "").status)
	backlog, err := b.Store.CountStarts(t.Context())
	require.NoError(t, err)
	require.Zero(t, backlog.Count)
}

// What could only fail is refused before anything is recorded.
func TestRunsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(
		t, echo("say"), desk("desk", `["say"]`), `{"kind":"agent","slug":"draft","instructions":"x","model":"scripted/x"}`,
	)
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
			Tenant: b.tenant, Kind: agent.RunKindAgent, AgentID: applied.Items[1].ID, Agent: "desk", Mode: tool.Production,
			WorkflowID: fmt.Sprint("w", i), Input: []byte(`"hello"`),
			Principal: tool.Principal{Tenant: b.tenant, Subject: "ada"},
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

// A run is paused and resumed; both are answered as they are where they are asked for twice.
// Its events tell who did that.
func TestPauseOfARun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := b.record(t)
	path := "/v1/runs/" + run.ID
	for range 2 {
		got := b.do(t, http.MethodPost, path+"/pause", `{"reason":"counting"}`)
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		var shown v1.Run
		got.into(t, &shown)
		require.Equal(t, agent.RunRunning, shown.Status)
		require.Equal(t, "counting", shown.Paused.Reason)
		require.NotEmpty(t, shown.Paused.By)
	}
	var page v1.Page[v1.Run]
	b.do(t, http.MethodGet, "/v1/runs", "").into(t, &page)
	require.NotNil(t, page.Items[0].Paused)
	for range 2 {
		got := b.do(t, http.MethodPost, path+"/resume", "")
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		var shown v1.Run
		got.into(t, &shown)
		require.Nil(t, shown.Paused)
	}
	var events v1.Page[tool.Event]
	b.do(t, http.MethodGet, path+"/events", "").into(t, &events)
	var types []tool.EventType
	for _, e := range events.Items {
		types = append(types, e.Type)
	}
	require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventRunPaused, agent.EventRunResumed}, types)
	require.Contains(t, string(events.Items[1].Data), "counting")

	require.Equal(t, http.StatusUnprocessableEntity,
		b.do(t, http.MethodPost, path+"/pause", `{"reason":"`+strings.Repeat("x", 2001)+`"}`).status)
	b.finish(t, run)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, path+"/pause", "").status)
	unknown := "/v1/runs/01975c2e-7d1a-7c3e-9f00-0000000000c1/pause"
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodPost, unknown, "").status)
}
