package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// An operator sees what waits, what fails, what runs and what is spent, as far as the key permits.
func TestOverview(t *testing.T) {
	t.Parallel()

	b := setup(t)
	look := func(key string) (o v1.Overview) {
		t.Helper()
		b.do(t, http.MethodGet, "/v1/overview", "", key).into(t, &o)
		return o
	}
	empty := look(b.key)
	require.False(t, *empty.HasTools)
	require.False(t, *empty.HasRuns)
	require.Empty(t, empty.Waiting)
	require.Len(t, empty.Hours, 24)
	require.Zero(t, empty.Failures.Calls)

	b.apply(t, echo("hum"))
	b.asks(t, "user:someone")
	b.asksPerson(t)
	run := b.record(t)
	for range 3 {
		b.settle(t, run, tool.StatusFailed)
	}
	b.settle(t, run, tool.StatusCompleted)
	b.finish(t, run)
	_, err := b.Store.SetBudget(t.Context(), budget.Budget{Tenant: b.tenant, Name: "daily", Period: budget.Day, Limit: 5})
	require.NoError(t, err)
	o := look(b.key)
	require.True(t, *o.HasTools)
	require.True(t, *o.HasRuns)
	require.Equal(t, []v1.OverviewCount{{Kind: "approvals", Count: 1}, {Kind: "input_requests", Count: 1}}, o.Waiting)
	require.EqualValues(t, 3, o.Failures.Calls)
	require.Equal(t, "say", o.Failures.Tools[0].Tool)
	require.Equal(t, tool.Denied, o.Failures.Tools[0].Kind)
	var calls, failed int64
	for _, h := range o.Hours {
		calls, failed = calls+h.Calls, failed+h.Failed
	}
	require.GreaterOrEqual(t, calls, int64(4))
	require.EqualValues(t, 3, failed)
	var completed int64
	for _, r := range o.Runs {
		if r.Status == "completed" {
			completed = r.Runs
		}
	}
	require.EqualValues(t, 1, completed)
	require.Equal(t, "daily", o.Budgets[0].Name)
	require.NotNil(t, o.Spent)

	less := look(b.Key(t, b.tenant, api.ApprovalsRead))
	require.Len(t, less.Waiting, 1)
	require.Nil(t, less.Runs)
	require.Nil(t, less.Failures)
	require.Nil(t, less.Spent)
	require.Nil(t, less.Budgets)
	require.Nil(t, less.HasTools)
	require.False(t, *look(b.Key(t, b.Tenant(t), "*")).HasTools, "another tenant's are its own")
}

// Everything is found by its names, the best match first, and by its id; of what the key may see.
func TestSearch(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("refund"), echo("askForRefund"), echo("refundOrder"), desk("refundDesk", `["refund"]`))
	space := seedSpace(t, b)
	b.Credential(t, b.tenant, "refund-bank")
	_, _, err := b.Store.CreateKey(t.Context(), store.Key{Tenant: b.tenant, Name: "refund robot"})
	require.NoError(t, err)
	run := b.record(t)
	find := func(key, q string) []v1.Found {
		t.Helper()
		var out v1.Page[v1.Found]
		b.do(t, http.MethodGet, "/v1/search?q="+url.QueryEscape(q), "", key).into(t, &out)
		return out.Items
	}
	names := func(found []v1.Found) (out []string) {
		for _, f := range found {
			out = append(out, f.Kind+" "+f.Name)
		}
		return out
	}
	require.Equal(t, []string{
		"tool refund", "agent refundDesk", "tool refundOrder", "key refund robot", "credential refund-bank",
		"tool askForRefund",
	}, names(find(b.key, "Refund")))
	require.Equal(t, []string{"tool refundOrder"}, names(find(b.key, "order refund")), "the words in any order")
	require.Equal(t, []string{"run " + run.ID}, names(find(b.key, run.ID)))
	require.Equal(t, []string{"space " + space.Slug}, names(find(b.key, space.Slug)))
	require.Empty(t, find(b.key, "100%"), "no pattern")

	// What else has a name: only to those who may see it.
	role := store.Role{Role: access.Role{Name: "their-clerk", Permissions: []string{api.RunsRead}}, Tenant: b.tenant}
	_, err = b.Store.CreateRole(t.Context(), role)
	require.NoError(t, err)
	_, err = b.Store.SetBudget(t.Context(), budget.Budget{Tenant: b.tenant, Name: "their-clerk", Period: budget.Day})
	require.NoError(t, err)
	hook, session, shown := seedWebhook(t, b), seedToolSession(t, b), seedView(t, b)
	call, input := b.offers(t, b.outside(t, "pickSeat")), b.asksPerson(t)
	for _, c := range []struct{ q, permission, kind, id string }{
		{"their-clerk", api.RolesRead, "role", ""},
		{"their-clerk", api.BudgetsRead, "budget", ""},
		{"example.com/theirs", api.WebhooksRead, "webhook", hook.ID},
		{session.Title, api.RunsRead, "tool_session", session.ID},
		{shown.Title, api.ViewsRead, "view", shown.ID},
		{call.ID, api.ResultsSubmit, "pending_call", call.ID},
		{input.ID, api.ResultsSubmit, "input_request", input.ID},
	} {
		found := find(b.Key(t, b.tenant, c.permission), c.q)
		require.Len(t, found, 1, c.kind)
		require.Equal(t, c.kind, found[0].Kind)
		if c.id != "" {
			require.Equal(t, c.id, found[0].ID)
		}
		require.Empty(t, find(b.Key(t, b.tenant, api.ProfilesRead), c.q), c.kind)
		require.Empty(t, find(b.Key(t, b.Tenant(t), "*"), c.q), c.kind)
	}

	require.Equal(t, []string{"agent refundDesk"}, names(find(b.Key(t, b.tenant, api.AgentsRead), "refund")))
	require.Empty(t, find(b.Key(t, b.tenant, api.AgentsRead), run.ID))
	require.Empty(t, find(b.Key(t, b.tenant, api.SpacesRead), space.Slug), "it is no member")
	stranger := b.Key(t, b.Tenant(t), "*")
	require.Empty(t, find(stranger, "refundOrder"))
	require.Empty(t, find(stranger, run.ID))
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodGet, "/v1/search?q=", "").status)
}

// A search finds no tool that lists hide from its caller, by name or by id.
func TestSearchHidesWhatListsHide(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("payOut"),
		`{"kind":"tool","slug":"payOutAll","implementation_type":"internal","required_permission":"money.move"}`,
		`{"kind":"tool","slug":"payOutPart","implementation_type":"internal","interaction":{"visibility":"internal"}}`)
	find := func(key, q string) (names []string) {
		t.Helper()
		found := as[v1.Page[v1.Found]](t, b.do(t, http.MethodGet, "/v1/search?q="+url.QueryEscape(q), "", key), http.StatusOK)
		for _, f := range found.Items {
			names = append(names, f.Name)
		}
		return names
	}
	reader, mover := b.Key(t, b.tenant, api.ToolsRead), b.Key(t, b.tenant, api.ToolsRead, "money.move")
	author := b.Key(t, b.tenant, api.ToolsRead, api.ToolsWrite)
	for _, c := range []struct {
		key  string
		sees []string
	}{
		{reader, []string{"payOut"}},
		{mover, []string{"payOut", "payOutAll"}},
		{author, []string{"payOut", "payOutAll", "payOutPart"}},
		{b.key, []string{"payOut", "payOutAll", "payOutPart"}},
	} {
		require.Equal(t, c.sees, find(c.key, "payOut"))
		for _, slug := range []string{"payOut", "payOutAll", "payOutPart"} {
			head, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: slug})
			require.NoError(t, err)
			var want []string
			if slices.Contains(c.sees, slug) {
				want = []string{slug}
			}
			require.Equal(t, want, find(c.key, head.ID), slug)
		}
	}
}

// What the overview counts is listed by itself.
func TestTroublesAreListed(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.apply(t, echo("keepOn"), echo("switchOff"))
	off := b.do(t, http.MethodPut, "/v1/tools/switchOff/override", `{"enabled":false}`)
	require.Equal(t, http.StatusOK, off.status, string(off.body))
	stops, goesOn := b.record(t), b.record(t)
	_, err := b.Store.ChangePause(t.Context(), agent.PauseChange{
		Tenant: b.tenant, RunID: stops.ID, Pause: true, By: "user:ada", Lease: time.Minute,
	})
	require.NoError(t, err)
	require.NotEqual(t, stops.ID, goesOn.ID)

	var overview v1.Overview
	b.do(t, http.MethodGet, "/v1/overview", "").into(t, &overview)
	require.Equal(t, []v1.OverviewCount{{Kind: "paused_runs", Count: 1}, {Kind: "switched_off_tools", Count: 1}},
		overview.Troubles)
	var runs v1.Page[v1.Run]
	b.do(t, http.MethodGet, "/v1/runs?paused=true", "").into(t, &runs)
	require.Len(t, runs.Items, 1)
	require.Equal(t, stops.ID, runs.Items[0].ID)
	var tools v1.Page[v1.Tool]
	b.do(t, http.MethodGet, "/v1/tools?switched_off=true", "").into(t, &tools)
	require.Len(t, tools.Items, 1)
	require.Equal(t, "switchOff", tools.Items[0].Slug)

	stranger := b.Key(t, b.Tenant(t), "*")
	runs, tools = v1.Page[v1.Run]{}, v1.Page[v1.Tool]{}
	b.do(t, http.MethodGet, "/v1/runs?paused=true", "", stranger).into(t, &runs)
	b.do(t, http.MethodGet, "/v1/tools?switched_off=true", "", stranger).into(t, &tools)
	require.Empty(t, runs.Items)
	require.Empty(t, tools.Items)
}
