package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// Pages, by cursor or by skip, hold each tool once and in order.
func TestListToolsPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var definitions, slugs []string
	for i := range 7 {
		slugs = append(slugs, fmt.Sprintf("say%d", i))
		definitions = append(definitions, echo(slugs[i]))
	}
	b.apply(t, definitions...)

	for _, by := range []string{"cursor", "skip"} {
		var seen []string
		query := "?limit=3"
		for {
			var page v1.Page[v1.Tool]
			b.do(t, http.MethodGet, "/v1/tools"+query, "").into(t, &page)
			for _, item := range page.Items {
				seen = append(seen, item.Slug)
			}
			if page.Next == "" {
				break
			}
			query = "?limit=3&cursor=" + page.Next
			if by == "skip" {
				query = fmt.Sprintf("?limit=3&skip=%d", len(seen))
			}
		}
		require.Equal(t, slugs, seen, by)
	}
}

func TestListToolsFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(
		t,
		echo("said"),
		`{"kind":"tool","slug":"fetchIt","implementation_type":"http","implementation_config":{"url":"https://example.com/"}}`,
	)
	for query, want := range map[string][]string{
		"status=draft": {"fetchIt"}, "status=published": {"said"}, "implementation_type=http": {"fetchIt"},
		"tool_type=custom": {"fetchIt", "said"}, "tool_type=mcp": {}, "search=ECHO": {"said"}, "search=nothing": {},
	} {
		var page v1.Page[v1.Tool]
		b.do(t, http.MethodGet, "/v1/tools?"+query, "").into(t, &page)
		got := []string{}
		for _, item := range page.Items {
			got = append(got, item.Slug)
			require.Equal(t, tool.BucketCustom, item.ToolType)
		}
		require.Equal(t, want, got, query)
	}
}

// Secrets in a configuration are not returned.
func TestToolConfigurationIsSanitised(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(
		t,
		`{"kind":"tool","slug":"odd","implementation_type":"custom","implementation_config":{"api_key":"planted","credentials_ref":"shop"}}`,
	)
	for _, path := range []string{"/v1/tools", "/v1/tools/odd"} {
		body := string(b.do(t, http.MethodGet, path, "").body)
		require.NotContains(t, body, "planted")
		require.Contains(t, body, "[redacted]")
		require.Contains(t, body, `"credentials_ref":"shop"`)
	}
}

func TestToolLifecycle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, `{"kind":"tool","slug":"say","implementation_type":"internal","version":"1.0.0"}`)
	post := func(action string) answer { return b.do(t, http.MethodPost, "/v1/tools/say/"+action, "") }

	var published v1.Published
	post("publish").into(t, &published)
	require.Equal(t, tool.Published, published.Tool.Status)
	require.Equal(t, "1.0.0", published.Version.Version)

	low := post("version?new_version=0.9.0")
	require.Equal(t, tool.Conflict, low.problem(t).Code)
	require.Equal(t, http.StatusUnprocessableEntity, post("version").status, "a number is required")
	var version v1.ToolVersion
	post("version?new_version=1.0.1").into(t, &version)
	require.False(t, version.Published)

	var page v1.Page[v1.ToolVersion]
	b.do(t, http.MethodGet, "/v1/tools/say/versions", "").into(t, &page)
	require.Len(t, page.Items, 2)

	var is v1.Tool
	for _, step := range []struct {
		action string
		status tool.Status
	}{{"deprecate", tool.Deprecated}, {"disable", tool.Disabled}, {"enable", tool.Published}} {
		post(step.action).into(t, &is)
		require.Equal(t, step.status, is.Status, step.action)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("say"))
	var e v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/say/explain?version=%5E1.0", "").into(t, &e)
	require.Equal(t, "1.0.0", e.Version)
	require.Empty(t, e.Code)
	require.Contains(t, e.Steps, v1.Step{Rule: "egress_class", Passed: true, Saw: "egress class none"})
	require.Contains(t, e.Steps, v1.Step{Rule: "approval", Passed: true, Saw: "no call needs an approval"})

	// What each call waits for is a rule too.
	b.apply(
		t,
		`{"slug":"change","implementation_type":"internal","version":"1.0.0","publish":true,"egress_class":"write",`+
			`"input_schema":{"type":"object","properties":{},"additionalProperties":false}}`,
	)
	var refused v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/change/explain", "").into(t, &refused)
	require.Equal(t, "1.0.0", refused.Version)
	require.Empty(t, refused.Code)
	require.Contains(t, refused.Detail, "needs approval: the tool writes outside the platform (egress class write)")
	require.Contains(t, refused.Detail, "each call waits until a person has approved it")
	last := refused.Steps[len(refused.Steps)-3:]
	require.Equal(t, v1.Step{Rule: "egress_class", Passed: true, Saw: "egress class write"}, last[0])
	require.Equal(t, "approval", last[1].Rule)
	require.True(t, last[1].Passed)
	require.Contains(t, last[1].Saw, "writes outside")
	require.Equal(t, v1.Step{
		Rule: "taint", Passed: true,
		Saw: "no run is named; the call writes outside, and in tainted runs the tenant's rule is approve",
	}, last[2])

	b.do(t, http.MethodPost, "/v1/tools/say/disable", "")
	b.do(t, http.MethodGet, "/v1/tools/say/explain", "").into(t, &e)
	require.Equal(t, tool.Conflict, e.Code)
	require.Equal(t, "enabled", e.Steps[len(e.Steps)-1].Rule)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/none/explain", "").status)
}

// What models of some provider are not shown of an input schema is explained, for each dialect
// that cannot say all of it.
func TestExplainSaysWhatModelsDoNotSee(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(
		t,
		`{"slug":"pick","implementation_type":"internal","version":"1.0.0","publish":true,`+
			`"input_schema":{"type":"object","properties":{"a":{"not":{"type":"string"}}}}}`,
	)
	b.apply(
		t,
		`{"slug":"plain","implementation_type":"internal","version":"1.0.0","publish":true,`+
			`"input_schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}`,
	)
	var e v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/pick/explain", "").into(t, &e)
	said := make(map[project.Dialect]v1.Weakened)
	for _, w := range e.Weakened {
		said[w.Dialect] = w
	}
	require.Len(t, said, 2, "OpenAI's and Anthropic's models see all of it")
	require.Equal(t, []string{"not at /properties/a"}, said[project.Gemini].Lost)
	require.NotEmpty(t, said[project.OpenAIStrict].Refused)

	var plain v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/plain/explain", "").into(t, &plain)
	require.Equal(t, "1.0.0", plain.Version)
	require.Empty(t, plain.Weakened)
}

// An alias is explained to callers that may know of its tool, and a call by a
// former name works, with a warning.
func TestExplainFurtherNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(
		t,
		`{"kind":"tool","slug":"say","implementation_type":"internal","version":"1.0.0","publish":true,"required_permission":"speak",
		"aliases":["tell"],"former_names":{"utter":"2099-01-01"}}`,
	)
	reader, speaker := b.Key(t, b.tenant, "tools.read"), b.Key(t, b.tenant, "tools.read", "speak")
	for name, saw := range map[string]string{
		"tell":  "no tool has the slug; it is an alias of say",
		"utter": "no tool has the slug; it is a former name of say, until 2099-01-01",
	} {
		hidden := b.do(t, http.MethodGet, "/v1/tools/"+name+"/explain", "", reader)
		absent := b.do(t, http.MethodGet, "/v1/tools/nothing/explain", "", reader)
		requireSameProblem(t, absent, hidden, "nothing", name)
		var e v1.Explanation
		b.do(t, http.MethodGet, "/v1/tools/"+name+"/explain", "", speaker).into(t, &e)
		require.Equal(t, "say", e.Slug)
		require.Contains(t, e.Steps, v1.Step{Rule: "alias", Passed: true, Saw: saw})
	}
}

// A tool that a key may not use is absent from everything it may ask, and
// refused when it is called all the same.
func TestToolsOneMayNotUseAreAbsent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(
		t,
		echo("open"),
		`{"kind":"tool","slug":"vault","implementation_type":"internal","version":"1.0.0","publish":true,"required_permission":"vault.open"}`,
	)
	stranger := b.Key(t, b.tenant, "tools.read", "runs.write")
	holder := b.Key(t, b.tenant, "tools.read", "vault.open")

	require.NotContains(t, string(b.do(t, http.MethodGet, "/v1/tools", "", stranger).body), "vault")
	for _, path := range []string{"", "/versions", "/explain"} {
		hidden := b.do(t, http.MethodGet, "/v1/tools/vault"+path, "", stranger)
		absent := b.do(t, http.MethodGet, "/v1/tools/vaulx"+path, "", stranger)
		require.Equal(t, http.StatusNotFound, hidden.status, path)
		requireSameProblem(t, absent, hidden, "vaulx", "vault")
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools/vault"+path, "", holder).status, path)
	}
	require.Equal(t, tool.Denied, b.do(t, http.MethodPost, "/v1/tools/vault/call", "{}", stranger).problem(t).Code)
}
