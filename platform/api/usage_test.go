package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Prices are set, and what ends then has a cost, in the report as on the call and the run.
func TestUsage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := storetest.NewFixture(t, b.Database)
	key := b.Key(t, f.Tenant, "usage.read", "prices.read", "prices.write", "runs.read", "tools.read")
	stranger := b.Key(t, b.Tenant(t), "*")

	got := b.do(t, http.MethodPost, "/v1/prices", `{"tool":"`+f.Tool.Slug+`","per_call_micros":2000}`, key)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var price v1.Price
	got.into(t, &price)
	require.Equal(t, []string{"tenant", f.Tool.Slug, f.Tool.ID}, []string{price.By, price.Tool, price.ToolID})
	require.EqualValues(t, 2000, *price.PerCallMicros)
	require.Nil(t, price.InputMicros)

	e := f.Lone(t)
	_, err := f.Store.Settle(t.Context(), storetest.Completed(e, f.Admit(t, e, true, true).Fence))
	require.NoError(t, err)
	var call v1.Invocation
	b.do(t, http.MethodGet, "/v1/invocations/"+e.InvocationID, "", key).into(t, &call)
	require.EqualValues(t, 2000, *call.CostMicros)

	var report v1.UsageReport
	b.do(t, http.MethodGet, "/v1/usage?group_by=tool", "", key).into(t, &report)
	require.Equal(t, []string{"tool"}, report.GroupBy)
	require.Equal(t, time.Now().UTC().Format("2006-01")+"-01", report.From)
	require.Len(t, report.Items, 1)
	require.Equal(t, f.Tool.Slug, report.Items[0].Tool)
	require.EqualValues(t, 2000, report.Total.CostMicros)
	require.EqualValues(t, 1, report.Items[0].Calls)
	report = v1.UsageReport{}
	b.do(t, http.MethodGet, "/v1/usage?group_by=agent,day", "", key).into(t, &report)
	require.Len(t, report.Items, 1)
	require.Equal(t, f.Agent.Slug, report.Items[0].Agent)
	require.EqualValues(t, 11, report.Total.InputTokens)
	require.EqualValues(t, 1, report.Total.UnpricedTurns)
	report = v1.UsageReport{}
	b.do(t, http.MethodGet, "/v1/usage?group_by=tool", "", stranger).into(t, &report)
	require.Empty(t, report.Items)
	require.Zero(t, report.Total)

	var run v1.RunUsage
	b.do(t, http.MethodGet, "/v1/runs/"+f.Run.ID+"/usage", "", key).into(t, &run)
	require.EqualValues(t, 2000, run.Total.CostMicros)
	require.Len(t, run.Turns, 1)
	require.Nil(t, run.Turns[0].CostMicros, "its model has no price")

	var prices v1.Page[v1.Price]
	b.do(t, http.MethodGet, "/v1/prices", "", key).into(t, &prices)
	require.Equal(t, price.ID, prices.Items[0].ID)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodDelete, "/v1/prices/"+price.ID, "", stranger).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/prices/"+price.ID, "", key).status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodDelete, "/v1/prices/"+price.ID, "", key).status)
}

// What is wrong with a price or a question is said with the place of it.
func TestUsageIsChecked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("getOrder"))
	for body, says := range map[string]string{
		`{}`: "a tool or of a model",
		`{"tool":"getOrder","model":"a/b","input_micros":1,"output_micros":1}`:                         "a tool or of a model",
		`{"model":"a/b","input_micros":1}`:                                                             "input and output",
		`{"model":"b","input_micros":1,"output_micros":1}`:                                             "provider/name",
		`{"tool":"getOrder","per_unit_micros":1}`:                                                      "JSON Pointer",
		`{"tool":"getOrder","valid_from":"2026-03-02T00:00:00Z","valid_until":"2026-03-01T00:00:00Z"}`: "before it begins",
	} {
		p := b.do(t, http.MethodPost, "/v1/prices", body).problem(t)
		require.Equal(t, tool.Invalid, p.Code, body)
		require.Contains(t, p.Detail, says, body)
	}
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodPost, "/v1/prices", `{"tool":"getOrders"}`).status)
	for query, says := range map[string]string{
		"group_by=week": "day, agent, tool or model", "from=yesterday": "2026-03-12", "to=2026-13-01": "2026-03-12",
		"from=2026-03-02&to=2026-03-01": "before the first",
	} {
		p := b.do(t, http.MethodGet, "/v1/usage?"+query, "").problem(t)
		require.Equal(t, tool.Invalid, p.Code, query)
		require.Contains(t, p.Detail, says, query)
	}
}
