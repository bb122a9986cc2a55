package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

const quoteYAML = `slug: getQuote
name: Quote
description: Says what an order costs.
implementation_type: internal
version: 1.0.0
publish: true
requires_approval: true
input_fields:
  - {key: size, label: Size, type: enum, required: true, options: [s, {value: l, label: Large}], multiple: true}
  - key: lines
    type: array
    display: table
    items: {type: object, fields: [{key: sku, type: text, min_length: 1, max_length: 9, required: true}]}
  - {key: amount, label: Amount, type: number, display: currency, min: 1, below: 1000, step: 0.01, unit: EUR, default: 5, nullable: true}
  - {key: photos, type: media, display: image, accept: [image/png, image/jpeg], multiple: true, max_items: 3}
  - {key: filter, label: Filter, type: object, display: json, schema: {anyOf: [{type: string}, {type: boolean}]}}
output_fields:
  - {key: total, type: number}
output_sections:
  - {key: total, label: Total, type: summary}
`

// The form of a tool is shown as a table, and as JSON.
func TestToolFields(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "quote.yaml", quoteYAML))
	require.Equal(t, `tool         getQuote
name         Quote
description  Says what an order costs.
draft        1.0.0
intent       compute
audience     model
asked first  the tool requires an approval of every call

FIELD        TYPE    SHOWN_AS  REQUIRED  ACCEPTS                                                                    LABEL
size         enum    select    yes       some of "s", "l"                                                           Size
lines        array   table               each object
lines[].sku  text    input     yes       at least 1 characters, at most 9 characters
amount       number  currency            at least 1, less than 1000, multiples of 0.01, in EUR, or null, default 5  Amount
photos       media   image               at most 3 of them, image/png or image/jpeg
filter       object  json                                                                                           Filter

kept as JSON Schema: /properties/filter: no field can express: anyOf

RESULT  SHOWN_AS  LABEL
total   summary   Total
`, s.ok(t, "tool", "fields", "getQuote"))

	var form v1.ToolForm
	require.NoError(
		t, json.Unmarshal([]byte(s.ok(t, "tool", "fields", "getQuote", "--version", "1.0.0", "--json")), &form),
	)
	require.Equal(t, "1.0.0", form.Version)
	require.False(t, form.Draft)
	require.Contains(t, string(form.Input), `"max_items"`)

	s.ok(
		t, "apply", "-f",
		s.write(
			t, "none.yaml",
			"slug: takeNothing\ndescription: Takes nothing.\nimplementation_type: internal\ninput_fields: []\naudience: "+
				"user\nintent: render\n",
		),
	)
	require.Contains(t, s.ok(t, "tool", "fields", "takeNothing"),
		"intent       render\naudience     user\nasked first  no\n\nno fields\n")

	missing := s.run(t, "tool", "fields", "getQuot")
	require.Equal(t, cli.ExitNotFound, missing.code)
	require.Contains(t, missing.err, "getQuote")
	fault := s.run(
		t, "apply", "-f",
		s.write(
			t, "wrong.yaml",
			"slug: getWrong\nimplementation_type: internal\ninput_fields:\n  - {key: a, type: text}\n  - {key: b, type: "+
				"number, min: 2, max: 1}\n",
		),
	)
	require.Equal(t, cli.ExitInvalid, fault.code)
	require.Contains(t, fault.err, "wrong.yaml:5", "the line of the field")
}
