package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A transcript is read from either end, in order, each message once.
func TestPagesOfATranscript(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := storetest.NewFixture(t, b.Database)
	key, stranger := b.Key(t, f.Tenant, "runs.read"), b.Key(t, b.Tenant(t), "*")
	f.Answer(t, f.Turn)
	for turn := 2; turn < 5; turn++ {
		f.Answer(t, f.NewTurn(t, f.Run, turn))
	}
	at := "/v1/runs/" + f.Run.ID + "/messages"
	read := func(query string) (ids []string, next string) {
		got := b.do(t, http.MethodGet, at+query, "", key)
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		var page v1.Page[agent.Message]
		got.into(t, &page)
		for _, m := range page.Items {
			ids = append(ids, m.ID)
		}
		return ids, page.Next
	}
	whole, next := read("")
	require.Empty(t, next)
	require.Greater(t, len(whole), 6)

	var forth, back []string
	for query := "?first=2"; query != ""; {
		ids, next := read(query)
		require.LessOrEqual(t, len(ids), 2)
		forth, query = append(forth, ids...), ""
		if next != "" {
			query = "?first=2&cursor=" + next
		}
	}
	for query := "?last=2"; query != ""; {
		ids, next := read(query)
		require.LessOrEqual(t, len(ids), 2)
		back, query = append(ids, back...), ""
		if next != "" {
			query = "?last=2&cursor=" + next
		}
	}
	require.Equal(t, whole, forth)
	require.Equal(t, whole, back)

	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, at+"?last=2", "", stranger).status)
	require.Equal(t, "first", b.do(t, http.MethodGet, at+"?first=1&last=1", "", key).problem(t).Path)
	require.Equal(t, tool.Invalid, b.do(t, http.MethodGet, at+"?last=2&cursor=nonsense", "", key).problem(t).Code)
}

// What lists and drawers need not show is left out of brief answers, and its size is there.
func TestBriefInvocations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := storetest.NewFixture(t, b.Database)
	key := b.Key(t, f.Tenant, "runs.read")
	e := f.Lone(t)
	s := storetest.Completed(e, f.Admit(t, e, true, true).Fence)
	s.Result = tool.JSONResult(json.RawMessage(`{"text":"` + strings.Repeat("x", 100_000) + `"}`))
	_, err := f.Store.Settle(t.Context(), s)
	require.NoError(t, err)

	var page v1.Page[v1.Invocation]
	b.do(t, http.MethodGet, "/v1/invocations", "", key).into(t, &page)
	require.Len(t, page.Items, 1)
	require.NotEmpty(t, page.Items[0].Input)
	page = v1.Page[v1.Invocation]{}
	b.do(t, http.MethodGet, "/v1/invocations?brief=true", "", key).into(t, &page)
	require.Len(t, page.Items, 1)
	require.Equal(t, e.InvocationID, page.Items[0].ID)
	require.Empty(t, page.Items[0].Input)
	require.Nil(t, page.Items[0].Output)

	at := "/v1/invocations/" + e.InvocationID
	var call v1.Invocation
	b.do(t, http.MethodGet, at+"?brief=true", "", key).into(t, &call)
	require.Nil(t, call.Output)
	require.Greater(t, call.OutputBytes, int64(100_000))
	call = v1.Invocation{}
	b.do(t, http.MethodGet, at, "", key).into(t, &call)
	require.NotNil(t, call.Output)
	require.Zero(t, call.OutputBytes)
}

// Runs are found by who started them and by their mode, and usage of a run from a turn on.
func TestRunsOfASubject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := storetest.NewFixture(t, b.Database)
	key := b.Key(t, f.Tenant, "runs.read", "usage.read")
	for i, mode := range []tool.Mode{tool.Production, tool.Debug, tool.Debug} {
		_, err := f.Store.CreateRun(t.Context(), agent.Run{
			Tenant: f.Tenant, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, Agent: f.Agent.Slug, Mode: mode,
			WorkflowID: fmt.Sprint("w", i), Principal: tool.Principal{Tenant: f.Tenant, Subject: "ada"},
		}, agent.Message{Role: agent.RoleUser, Content: []tool.Content{tool.Text("hello")}})
		require.NoError(t, err)
	}
	for query, n := range map[string]int{
		"?subject=ada": 3, "?subject=ada&mode=debug": 2, "?mode=debug": 2, "?subject=bob": 0,
		"?subject=ada&mode=production": 1,
	} {
		var page v1.Page[v1.Run]
		b.do(t, http.MethodGet, "/v1/runs"+query, "", key).into(t, &page)
		require.Len(t, page.Items, n, query)
	}

	f.Answer(t, f.Turn)
	f.NewTurn(t, f.Run, 2)
	var all, rest v1.RunUsage
	at := "/v1/runs/" + f.Run.ID + "/usage"
	b.do(t, http.MethodGet, at, "", key).into(t, &all)
	b.do(t, http.MethodGet, at+"?from_turn=2", "", key).into(t, &rest)
	require.Len(t, all.Turns, 2)
	require.Len(t, rest.Turns, 1)
	require.Equal(t, 2, rest.Turns[0].Turn)
	require.Equal(t, all.Total, rest.Total, "the total is of all turns")
}
