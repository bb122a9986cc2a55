package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Tools are counted by what lists are filtered by, and each filter lists as many as were counted.
func TestToolFacetsAgreeWithFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("said"),
		`{"kind":"tool","slug":"fetchIt","category":"web","implementation_type":"http","egress_class":"read_only",
			"implementation_config":{"url":"https://example.com/"}}`,
		`{"kind":"tool","slug":"sendIt","category":"web","implementation_type":"http","egress_class":"write",
			"implementation_config":{"method":"POST","url":"https://example.com/"}}`,
		`{"kind":"tool","slug":"hidden","category":"secret","implementation_type":"internal","required_permission":"secrets.see"}`,
		`{"kind":"tool","slug":"risky","category":"web","implementation_type":"internal","interaction":{"risk":{"level":"high"}}}`)

	facets := as[v1.ToolFacets](t, b.do(t, http.MethodGet, "/v1/tools/facets", ""), http.StatusOK)
	require.True(t, facets.Complete)
	require.Equal(t, 5, facets.Total)
	require.Equal(t, []v1.Facet{{Name: "web", Tools: 3}, {Name: "secret", Tools: 1}}, facets.Categories[:2])
	listed := func(query string) int {
		return len(as[v1.Page[v1.Tool]](t, b.do(t, http.MethodGet, "/v1/tools?limit=100&"+query, ""), http.StatusOK).Items)
	}
	for filter, counts := range map[string][]v1.Facet{
		"tool_type": facets.Buckets, "implementation_type": facets.Subtypes, "status": facets.Statuses,
		"egress_class": facets.EgressClasses, "risk": facets.Risks, "category": facets.Categories,
	} {
		require.NotEmpty(t, counts, filter)
		for _, f := range counts {
			require.Equal(t, f.Tools, listed(filter+"="+f.Name), "%s=%s", filter, f.Name)
		}
	}
	require.Equal(t, 2, listed("risk=high"), "one is declared so, and one writes")
	require.Equal(t, 1, listed("callable=debug&egress_class=read_only"))

	// What a caller may not know of is not counted either.
	reader := b.Key(t, b.tenant, "tools.read")
	facets = as[v1.ToolFacets](t, b.do(t, http.MethodGet, "/v1/tools/facets", "", reader), http.StatusOK)
	require.Equal(t, 4, facets.Total)
	require.NotContains(t, facets.Categories, v1.Facet{Name: "secret", Tools: 1})
	stranger := b.Key(t, b.Tenant(t), "*")
	facets = as[v1.ToolFacets](t, b.do(t, http.MethodGet, "/v1/tools/facets", "", stranger), http.StatusOK)
	require.Zero(t, facets.Total)
}

// Every type that the server runs has words.
func TestTaxonomyIsServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := as[v1.Taxonomy](t, b.do(t, http.MethodGet, "/v1/taxonomy", ""), http.StatusOK)
	require.Equal(t, tool.Taxonomy().Buckets, got.Buckets)
	words := map[string]string{}
	for _, term := range got.Subtypes {
		words[term.Name] = term.Description
	}
	require.NotEmpty(t, got.Runnable)
	for _, name := range got.Runnable {
		require.NotEmpty(t, words[name], name)
	}
}

// A definition is checked as it would be saved, and nothing is.
func TestCheckTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	check := func(definition string) v1.CheckedDefinition {
		return as[v1.CheckedDefinition](t, b.do(t, http.MethodPost, "/v1/tools/check", definition), http.StatusOK)
	}
	good := `{"slug":"findOrder","description":"Orders.","implementation_type":"http","egress_class":"read_only",
		"implementation_config":{"url":"https://shop.example.com/orders"}}`
	got := check(good)
	require.True(t, got.Valid)
	require.False(t, got.Exists)
	require.Nil(t, got.Error)
	var codes []string
	for _, f := range got.Findings {
		codes = append(codes, f.Code)
		require.NotEmpty(t, f.Text)
	}
	require.Contains(t, codes, "description-short")
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/findOrder", "").status)

	for definition, path := range map[string]string{
		`{"slug":"find order","implementation_type":"internal"}`:                        "/slug",
		`{"slug":"find","implementation_type":"internal","input_schema":{"type":"no"}}`: "/input_schema",
		`{"slug":"find","implementation_type":"http","implementation_config":[]}`:       "/implementation_config",
	} {
		got = check(definition)
		require.False(t, got.Valid, definition)
		require.NotNil(t, got.Error, definition)
		require.Contains(t, got.Error.Path, path, definition)
	}
	// Fields and schemas are two notations: a check has the other, also where the rest is wrong.
	got = check(`{"slug":"find order","implementation_type":"internal","input_fields":[{"key":"id","type":"number","integer":true,"max":9223372036854775807},
		{"key":"why","type":"text","required":true,"visible_when":{"field":"id"}}],"output_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}`)
	require.False(t, got.Valid)
	require.Contains(t, string(got.InputSchema), `"maximum":9223372036854775807`)
	require.Contains(t, string(got.InputSchema), `"else":{"properties":{"why":false}}`)
	require.Contains(t, string(got.Input), `"visible_when":[{"field":"id"}]`)
	require.Contains(t, string(got.Output), `"key":"n"`)
	got = check(`{"slug":"find","implementation_type":"internal","input_fields":` + string(got.Input) + `}`)
	require.Nil(t, got.Error)
	require.Contains(t, string(got.InputSchema), `"if":{"required":["id"]}`)
	got = check(`{"slug":"sendIt","implementation_type":"http","interaction":{"is_async":true}}`)
	require.True(t, got.Valid)
	require.Contains(t, strings.Join(got.Warnings, " "), "could be saved and not published")
	b.apply(t, good[:1]+`"kind":"tool",`+good[1:])
	got = check(good)
	require.True(t, got.Valid)
	require.True(t, got.Exists)
	require.Equal(t, http.StatusForbidden,
		b.do(t, http.MethodPost, "/v1/tools/check", good, b.Key(t, b.tenant, "tools.read")).status)
}
