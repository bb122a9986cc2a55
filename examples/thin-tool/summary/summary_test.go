package summary_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/examples/thin-tool/summary"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

const tenant tool.TenantID = "0198c0de-0000-7000-8000-000000000001"

func open(t *testing.T) *summary.Records {
	t.Helper()
	records, err := summary.Open(t.TempDir(), tenant)
	require.NoError(t, err)
	return records
}

// Each refusal has its name, and leaves nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()

	for code, c := range map[summary.Code]struct {
		tenant     tool.TenantID
		engagement string
	}{
		summary.BundleNotInstalled: {"00000000-0000-7000-8000-0000000000ff", "ENG-9"},
		summary.EngagementNotFound: {tenant, "ENG-7"},
		summary.ForeignEngagement:  {tenant, "ENG-9"},
		summary.ForeignWorkspace:   {tenant, "ENG-3"},
		summary.InsufficientGraph:  {tenant, "ENG-2"},
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			got, err := summary.Generate(t.Context(), summary.ExecuteContext{
				Principal: tool.Principal{Tenant: c.tenant, Subject: "user:ada"}, EffectID: "e", Records: open(t),
				Fill: func(context.Context, summary.Summary) error {
					t.Error("it is filled")
					return nil
				},
			}, summary.Input{EngagementID: c.engagement})
			require.NoError(t, err)
			require.NotNil(t, got.Error)
			require.Equal(t, code, got.Error.Code)
			require.NotEmpty(t, got.Error.Message)
			require.NotContains(t, got.Error.Message, "Mug")
			require.Empty(t, got.EntityID)
			require.Empty(t, got.BriefURL)
		})
	}
}

// A summary is created once for each call, and has the tenant's settings.
func TestGenerate(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	records, err := summary.Open(dir, tenant)
	require.NoError(t, err)
	began := 0
	down := errors.New("down")
	x := summary.ExecuteContext{
		Principal: tool.Principal{Tenant: tenant, Subject: "user:ada"}, EffectID: "e1", Records: records, Site: "http://x",
		Fill: func(_ context.Context, s summary.Summary) error {
			began++
			if began == 1 {
				return down
			}
			return nil
		},
	}
	_, err = summary.Generate(t.Context(), x, summary.Input{EngagementID: "ENG-1"})
	require.ErrorIs(t, err, down)
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	got, err := summary.Generate(t.Context(), x, summary.Input{EngagementID: "ENG-1"})
	require.NoError(t, err)
	require.Nil(t, got.Error)
	require.Equal(t, 5, got.SourceCount)
	require.Equal(t, "http://x/summaries/"+got.EntityID, got.BriefURL)
	again, err := summary.Generate(t.Context(), x, summary.Input{EngagementID: "ENG-1"})
	require.NoError(t, err)
	require.Equal(t, got, again)
	x.EffectID = "e2"
	other, err := summary.Generate(t.Context(), x, summary.Input{EngagementID: "ENG-1"})
	require.NoError(t, err)
	require.NotEqual(t, got.EntityID, other.EntityID)

	records, err = summary.Open(dir, tenant) // As after a restart.
	require.NoError(t, err)
	s, ok := records.Summary(got.EntityID)
	require.True(t, ok)
	require.Equal(t, summary.Filling, s.Status)
	require.Equal(t, "confidential", s.Settings.Classification)
}

// Claims cite entities of the engagement, and at least one each.
func TestCheckCitations(t *testing.T) {
	t.Parallel()

	sources := []summary.Entity{{ID: "a"}, {ID: "b"}}
	require.NoError(t, summary.CheckCitations([]summary.Claim{{Text: "x", Sources: []string{"a", "b"}}}, sources))
	for want, claims := range map[string][]summary.Claim{
		"there is no claim":                  nil,
		"claim 2 rests on no entity":         {{Text: "x", Sources: []string{"a"}}, {Text: "y"}},
		`claim 1 rests on "c", which is not`: {{Text: "x", Sources: []string{"a", "c"}}},
		"claim 1 says nothing":               {{Sources: []string{"a"}}},
	} {
		require.ErrorContains(t, summary.CheckCitations(claims, sources), want)
	}
}

// The functions of another tenant are not there, and a refusal is an answer "no".
func TestFunctions(t *testing.T) {
	t.Parallel()

	app := &summary.App{Records: open(t)}
	functions := function.NewRegistry()
	require.NoError(t, app.Define(functions, tenant))
	for _, name := range functions.Names() {
		defined, ok := functions.Tool(name)
		require.True(t, ok)
		require.Equal(t, []tool.TenantID{tenant}, defined.Tenants, name)
	}
	result, err := functions.Run(t.Context(), "generateExecutiveSummary", json.RawMessage(`{"engagement_id":"ENG-1"}`))
	require.NoError(t, err)
	require.True(t, result.IsError, "a call without a tenant has no bundle")
	require.JSONEq(t, `{"entity_id":"","brief_url":"","source_entity_count":0,"error":{"code":"bundle_not_installed",
		"message":"the bundle cbt-ai-tech-consulting is not installed"}}`, string(result.Structured))
}

// The composer answers every field of the example with claims that are sound.
func TestComposer(t *testing.T) {
	t.Parallel()

	e, ok := open(t).Engagement("ENG-1")
	require.True(t, ok)
	for _, f := range summary.Fields {
		raw, err := json.Marshal(summary.Question{Field: f.Name, Sources: e.Entities})
		require.NoError(t, err)
		got, err := summary.Composer{}.Generate(t.Context(), &agent.ModelRequest{
			Messages: []agent.Message{{Role: agent.RoleUser, Content: []tool.Content{tool.Text(string(raw))}}},
		})
		require.NoError(t, err)
		var a struct{ Claims []summary.Claim }
		require.NoError(t, json.Unmarshal([]byte(got.Text), &a))
		require.NoError(t, summary.CheckCitations(a.Claims, e.Entities), f.Name)
	}
}

// A page shows the summary as far as it is, and escapes what models wrote.
func TestPage(t *testing.T) {
	t.Parallel()

	app := &summary.App{Records: open(t)}
	require.NoError(t, app.Records.Create(summary.Summary{
		ID: "sum-1", Tenant: tenant, Engagement: "ENG-1", Status: summary.Filling,
		Fields: map[string][]summary.Claim{"risks": {{Text: "<b>late</b>", Sources: []string{"ent-plan"}}}},
	}))
	mux := http.NewServeMux()
	mux.Handle("GET /summaries/{id}", app)
	for path, want := range map[string]int{"/summaries/sum-1": http.StatusOK, "/summaries/sum-2": http.StatusNotFound} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, want, answer.Code)
		if want == http.StatusOK {
			require.Contains(t, answer.Body.String(), "&lt;b&gt;late&lt;/b&gt;")
			require.Contains(t, answer.Body.String(), "[ent-plan]")
			require.Contains(t, answer.Body.String(), `http-equiv="refresh"`)
		}
	}
}
