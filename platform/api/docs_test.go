package api_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// described is what the description says of an operation.
type described struct {
	OperationID string
	Summary     string
	Description string
	Parameters  []struct {
		Name    string
		Example json.RawMessage
	}
	RequestBody struct {
		Content map[string]media
	}
	Responses map[string]struct {
		Content map[string]media
	}
}

type media struct {
	Example json.RawMessage
}

func describedOperations(t *testing.T, b *bundle) map[string]described {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]described `json:"paths"`
	}
	b.do(t, http.MethodGet, "/openapi.json", "", "").into(t, &doc)
	out := map[string]described{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			out[strings.ToUpper(method)+" "+path] = op
		}
	}
	require.Greater(t, len(out), 35)
	return out
}

// A client that is made from the description finds the API where a proxy has it.
func TestTheDescriptionNamesItsPlace(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"": "/", "https://tools.example.com": "/", "https://tools.example.com/": "/", "https://example.com/a/b/": "/a/b",
	} {
		b := setup(t, func(c *api.Config) { c.PublicURL = public })
		var doc struct{ Servers []struct{ URL string } }
		b.do(t, http.MethodGet, "/openapi.json", "", "").into(t, &doc)
		require.Len(t, doc.Servers, 1)
		require.Equal(t, want, doc.Servers[0].URL, public)
	}
}

// Every operation says what it is for, and shows what goes in and comes out.
func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for what, op := range describedOperations(t, b) {
		require.NotEmpty(t, op.OperationID, what)
		require.NotEmpty(t, op.Summary, what)
		require.NotEmpty(t, op.Description, what)
		for _, p := range op.Parameters {
			require.NotEmpty(t, p.Example, "%s: %s", what, p.Name)
		}
		for name, m := range op.RequestBody.Content {
			require.NotEmpty(t, m.Example, "%s: %s", what, name)
		}
		require.NotEmpty(t, op.Responses, what)
		for status, r := range op.Responses {
			for name, m := range r.Content {
				if name == "application/json" || name == v1.ProblemType {
					require.NotEmpty(t, m.Example, "%s: %s %s", what, status, name)
				}
			}
		}
	}
}

// The examples of bodies are no decoration: the checks of a body accept them.
func TestExamplesOfBodiesAreValid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tried := 0
	for what, op := range describedOperations(t, b) {
		body := op.RequestBody.Content["application/json"].Example
		if body == nil {
			continue
		}
		method, path, _ := strings.Cut(what, " ")
		got := b.do(t, method, fill(path, "absent"), string(body))
		require.NotEqual(t, http.StatusBadRequest, got.status, "%s: %s\n%s", what, body, got.body)
		require.NotEqual(t, http.StatusUnprocessableEntity, got.status, "%s: %s\n%s", what, body, got.body)
		tried++
	}
	require.Greater(t, tried, 6)
}

// The page for people has all of it, and needs nothing from elsewhere.
func TestDocsPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.do(t, http.MethodGet, "/docs", "", "")
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"))
	require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'")
	page := string(got.body)

	for what, op := range describedOperations(t, b) {
		method, path, _ := strings.Cut(what, " ")
		require.Contains(t, page, `<details id="`+op.OperationID+`"`, what)
		require.Contains(t, page, "<b>"+method+"</b> <code>"+path+"</code>", what)
	}
	for _, class := range v1.ProblemClasses() {
		require.Contains(t, page, `<tr id="problem-`+class.Name+`"`)
	}

	links := regexp.MustCompile(`(?i)\b(?:href|src|srcset|action|data|poster)\s*=\s*"([^"]*)"`).FindAllStringSubmatch(page,
		-1)
	require.NotEmpty(t, links)
	for _, link := range links {
		inside := strings.HasPrefix(link[1], "#") || strings.HasPrefix(link[1], "/") && !strings.HasPrefix(link[1], "//")
		require.True(t, inside, link[0])
		if target, ok := strings.CutPrefix(link[1], "#"); ok {
			require.Contains(t, page, `id="`+target+`"`)
		} else {
			require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, link[1], "", "").status, link[1])
		}
	}
	for _, loader := range []string{"<script", "<link", "<img", "<iframe", "@import", "url("} {
		require.NotContains(t, strings.ToLower(page), loader)
	}
}

// The list of problems is served to everyone, whole and one by one.
func TestProblemList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var page v1.Page[v1.ProblemClass]
	b.do(t, http.MethodGet, v1.ProblemsPath, "", "").into(t, &page)
	require.Equal(t, v1.ProblemClasses(), page.Items)
	var names []string
	for _, class := range page.Items {
		require.NotEmpty(t, class.Title)
		require.NotEmpty(t, class.Description)
		var one v1.ProblemClass
		b.do(t, http.MethodGet, class.Type, "", "").into(t, &one)
		require.Equal(t, class, one)
		names = append(names, class.Name)
	}
	slices.Sort(names)
	require.Len(t, slices.Compact(names), len(page.Items), "names are unique")
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, v1.ProblemsPath+"/none", "", "").status)
}

// The description says where the API is and how each endpoint refuses, and has no
// list that may be null: clients that are generated from it rely on all three.
func TestDescriptionSuitsGenerators(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var doc struct {
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			Responses map[string]any
			Security  []any
		}
		Components struct{ Schemas map[string]any }
	}
	b.do(t, http.MethodGet, "/openapi.json", "").into(t, &doc)
	require.NotEmpty(t, doc.Servers)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if len(op.Security) == 0 {
				continue
			}
			for _, status := range []string{"401", "403", "422", "429", "503"} {
				require.Contains(t, op.Responses, status, "%s %s", method, path)
			}
			require.Equal(t, strings.Contains(path, "{"), op.Responses["404"] != nil, "%s %s", method, path)
		}
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if types, ok := v["type"].([]any); ok && slices.Contains(types, any("array")) {
				require.NotContains(t, types, any("null"), at)
			}
			for name, member := range v {
				walk(at+"/"+name, member)
			}
		case []any:
			for i, item := range v {
				walk(at+"/"+strconv.Itoa(i), item)
			}
		}
	}
	walk("", doc.Components.Schemas)
}
