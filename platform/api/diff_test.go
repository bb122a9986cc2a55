package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

func greet(version, description, properties, required string) string {
	ttl := "5m"
	if description != "Greets." {
		ttl = "1h"
	}
	return `{"kind":"tool","slug":"greet","description":"` + description +
		`","implementation_type":"internal","version":"` + version +
		`","publish":true,"implementation_config":{"token":"planted-` + description + `"},
		"provider_options":{"anthropic":{"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}}},"execution":{"timeout_s":3},
		"input_schema":{"type":"object","properties":` + properties + `,"required":` + required + `}}`
}

// Two versions are compared by the rules that publishing applies, and no value
// of a configuration is disclosed.
func TestDiffTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, greet("1.0.0", "Greets.", `{"name":{"type":"string"}}`, `[]`))
	b.apply(t, greet("1.1.0", "Greets.", `{"name":{"type":"string"},"loud":{"type":"boolean"}}`, `[]`))
	b.apply(t, greet("2.0.0", "Greets people.", `{"name":{"type":"integer"},"loud":{"type":"boolean"}}`, `["name"]`))
	diff := func(query string) v1.Diff {
		got := b.do(t, http.MethodGet, "/v1/tools/greet/diff"+query, "")
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		require.NotContains(t, string(got.body), "planted")
		var d v1.Diff
		got.into(t, &d)
		return d
	}

	require.Equal(t, v1.Diff{
		Tool: "greet", From: "1.0.0", To: "1.1.0", Number: "1.1.0", Bump: "minor", Least: "1.1.0", Enough: true,
		Changes: []v1.Change{{Path: "input/loud", Bump: "minor", Reason: "the property was added"}},
	}, diff("?from=1.0.0&to=1.1.0"))
	require.Equal(t, v1.Diff{
		Tool: "greet", From: "1.1.0", To: "2.0.0", Number: "2.0.0", Bump: "major", Least: "2.0.0", Enough: true,
		Changes: []v1.Change{
			{Path: "input/name", Bump: "major", Reason: "type string is no longer accepted"},
			{Path: "input/name", Bump: "minor", Reason: "type integer is accepted now"},
			{Path: "input/name", Bump: "major", Reason: "the property is required now"},
			{Path: "description", Bump: "patch", Reason: `it went from "Greets." to "Greets people."`},
			{Path: "implementation_config/token", Bump: "patch", Reason: "it changed"},
			{Path: "interaction/provider_options/anthropic/cache_control/ttl", Bump: "patch", Reason: "it changed"},
		},
	}, diff("?from=1.1.0&to=2.0.0"))
	require.Equal(t, v1.Diff{
		Tool: "greet", From: "2.0.0", To: "draft", Number: "2.0.0", Bump: "none", Least: "2.0.0", Enough: true,
		Changes: []v1.Change{},
	}, diff(""))
	require.Equal(t, "1.1.0", diff("?from=2.0.0&to=1.1.0").To)

	for query, path := range map[string]string{"?from=3.0.0": "from", "?to=x": "to"} {
		p := b.do(t, http.MethodGet, "/v1/tools/greet/diff"+query, "").problem(t)
		require.Equal(t, tool.NotFound, p.Code)
		require.Equal(t, path, p.Path)
		require.Contains(t, p.Detail, "it has 2.0.0, 1.1.0, 1.0.0")
	}
}

// A definition is compared with what is there, and nothing is written.
func TestDiffDefinition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	diff := func(definition, from string) v1.Diff {
		raw, err := json.Marshal(v1.NewDiff{Definition: json.RawMessage(definition), From: from})
		require.NoError(t, err)
		got := b.do(t, http.MethodPost, "/v1/diff", string(raw))
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		var d v1.Diff
		got.into(t, &d)
		return d
	}
	first := greet("1.0.0", "Greets.", `{"name":{"type":"string"}}`, `[]`)
	require.Equal(
		t, v1.Diff{Tool: "greet", To: "definition", Number: "1.0.0", Bump: "none", Enough: true, Changes: []v1.Change{}},
		diff(first, ""),
	)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/greet", "").status)
	b.apply(t, first)

	d := diff(greet("1.0.1", "Greets.", `{"name":{"type":"string","maxLength":5}}`, `[]`), "")
	require.False(t, d.Enough)
	require.Equal(t, "2.0.0", d.Least)
	require.Equal(
		t,
		"version 1.0.1: the change since 1.0.0 is major and needs at least 2.0.0 (input/name: maxLength 5 applies "+
			"now (major))",
		d.Refusal,
	)

	d = diff(
		`{"slug":"greet","description":"Greets.","implementation_type":"internal","egress_class":"write","execution":{"timeout_s":4}}`,
		"draft",
	)
	require.Contains(t, d.Changes, v1.Change{Path: "execution/timeout_s", Bump: "patch", Reason: "it went from 3 to 4"})
	require.Contains(t, d.Changes, v1.Change{Path: "egress_class", Bump: "none", Reason: `it went from "none" to "write"`})
	require.Equal(t, "2.0.0", d.Number, "a definition without a number gets the least that its change demands")
	require.True(t, d.Enough)

	require.Equal(
		t, http.StatusUnprocessableEntity,
		b.do(t, http.MethodPost, "/v1/diff", `{"definition":`+desk("desk", "[]")+`}`).status,
	)
	require.Equal(
		t, http.StatusForbidden,
		b.do(t, http.MethodPost, "/v1/diff", `{"definition":`+first+`}`, b.Key(t, b.tenant, "tools.read")).status,
	)
	stranger := b.Key(t, b.Tenant(t), "*")
	var none v1.Diff
	b.do(t, http.MethodPost, "/v1/diff", `{"definition":`+first+`}`, stranger).into(t, &none)
	require.Empty(t, none.From, "another tenant's tool of that name is not there")
}
