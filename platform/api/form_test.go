package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

const quote = `{"kind":"tool","slug":"getQuote","name":"Quote","description":"Says what an order costs.","implementation_type":"internal","version":"1.0.0",
	"publish":true,"egress_class":"write","intent":"action","annotations":{"color":"green"},
	"input_fields":[{"key":"size","label":"Size","type":"enum","display":"radio","required":true,"options":["s","l"]},{"key":"amount","type":"number","integer":true,"min":1}],
	"output_fields":[{"key":"total","type":"number","display":"currency","unit":"EUR"},{"key":"lines","type":"array","items":{"type":"text"}}],
	"output_sections":[{"key":"total","label":"Total","type":"summary"},{"key":"lines","type":"table","config":{"dense":true}}]}`

// One definition is an agent's schema and a person's form.
func TestToolFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, quote)
	form := func(query string) (v1.ToolForm, field.Form) {
		got := b.do(t, http.MethodGet, "/v1/tools/getQuote/fields"+query, "")
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		var answer v1.ToolForm
		got.into(t, &answer)
		var input field.Form
		require.NoError(t, json.Unmarshal(answer.Input, &input))
		return answer, input
	}
	one := 1
	want := []field.Field{
		{
			Key: "size", Label: "Size", Type: field.Enum, Display: field.Radio, Required: true,
			Options: []field.Option{{Value: json.RawMessage(`"s"`)}, {Value: json.RawMessage(`"l"`)}},
		},
		{Key: "amount", Type: field.Number, Display: field.Input, Integer: true, Min: json.Number("1")},
	}
	answer, input := form("")
	require.Equal(t, want, input.Fields, "in the order in which they were written")
	require.Empty(t, input.Kept)
	require.True(t, answer.Draft)
	require.Equal(t, "1.0.0", answer.Version)
	require.Equal(t, tool.Act, answer.Intent)
	require.Equal(t, tool.AudienceModel, answer.Audience)
	require.Equal(t, v1.Confirm{Required: true, Reasons: []string{"it changes an external system"}}, answer.Confirm)
	require.JSONEq(t, `{"color":"green"}`, string(answer.Annotations))
	require.Contains(t, string(answer.Output), `"unit":"EUR"`)
	require.Equal(t, []tool.OutputSection{
		{Key: "total", Label: "Total", Type: tool.SectionSummary},
		{Key: "lines", Type: tool.SectionTable, Config: json.RawMessage(`{"dense":true}`)},
	}, compacted(t, answer.OutputSections))

	// A form that was answered may be edited and sent back.
	input.Fields[1].MinLength = &one
	body := func() string {
		raw, err := json.Marshal(input)
		require.NoError(t, err)
		return `{"implementation_type":"internal","description":"Says what an order costs.","version":"1.1.0","input_fields":` + string(
			raw,
		) + `}`
	}
	p := b.do(t, http.MethodPut, "/v1/tools/getQuote", body()).problem(t)
	require.Equal(t, "/input_fields/fields/1/min_length", p.Path)
	input.Fields[1].MinLength = nil
	input.Fields = append(input.Fields, field.Field{Key: "due", Type: field.Date})
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPut, "/v1/tools/getQuote", body()).status)

	answer, input = form("")
	require.Len(t, input.Fields, 3)
	require.Equal(t, field.Day, input.Fields[2].Display)
	require.Equal(t, tool.Compute, answer.Intent)
	require.False(t, answer.Confirm.Required)
	require.Empty(t, answer.Confirm.Reasons)
	answer, input = form("?version=1.0.0")
	require.Equal(t, want, input.Fields, "a version keeps its form")
	require.False(t, answer.Draft)
	require.Len(t, answer.OutputSections, 2)

	require.Equal(
		t,
		tool.NotFound,
		b.do(t, http.MethodGet, "/v1/tools/getQuote/fields?version=9.0.0", "").problem(t).Code,
	)
	require.Equal(t, tool.NotFound, b.do(t, http.MethodGet, "/v1/tools/getNothing/fields", "").problem(t).Code)
	both := b.do(
		t, http.MethodPost, "/v1/tools",
		`{"slug":"getBoth","implementation_type":"internal","input_fields":[],"input_schema":{"type":"object"}}`,
	).problem(t)
	require.Equal(t, "/input_fields", both.Path)
}

// Every tool has a form: that of a schema which fields cannot say keeps it.
func TestToolFieldsOfAnySchema(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(
		t,
		`{"kind":"tool","slug":"findAny","description":"Finds.","implementation_type":"internal","audience":"user","requires_approval":true,
		"input_schema":{"type":"object","properties":{"filter":{"anyOf":[{"type":"string"},{"type":"array"}]}}}}`,
	)
	var answer v1.ToolForm
	b.do(t, http.MethodGet, "/v1/tools/findAny/fields", "").into(t, &answer)
	require.JSONEq(
		t,
		`{"open":true,"fields":[{"key":"filter","type":"object","display":"json","schema":{"anyOf":[{"type":"string"},{"type":"array"}]}}],
		"kept":[{"pointer":"/properties/filter","reason":"no field can express: anyOf"}]}`,
		string(answer.Input),
	)
	require.Equal(t, tool.AudienceUser, answer.Audience)
	require.Equal(t, []string{"the tool requires an approval of every call"}, answer.Confirm.Reasons)
	require.Empty(t, answer.Output)
}

// compacted drops the white space that a database puts into JSON.
func compacted(t *testing.T, sections []tool.OutputSection) []tool.OutputSection {
	t.Helper()
	for i := range sections {
		raw, err := tool.Canonical(sections[i].Config)
		require.NoError(t, err)
		if len(sections[i].Config) > 0 {
			sections[i].Config = raw
		}
	}
	return sections
}
