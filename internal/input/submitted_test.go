package input_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
)

// What a program submits is refused as the page refuses it, with the path of the fault.
func TestSubmissionsThatAreRefused(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ name, spec, result, path, problem string }{
		{"Nothing", questions, `{}`, "/city", "an answer is needed"},
		{"Null", questions, `null`, "", "as an object"},
		{"Text", questions, `"Oslo"`, "", "as an object"},
		{"Blank", questions, `{"city":" \r\n "}`, "/city", "an answer is needed"},
		{"Long", questions, `{"city":"` + strings.Repeat("x", 10_001) + `"}`, "/city", "more than 10000 characters"},
		{"Binary", questions, `{"city":"a\u0000b"}`, "/city", "cannot be kept"},
		{"NoText", questions, `{"city":7}`, "/city", "expected a text"},
		{"NoNumber", questions, `{"city":"a","nights":"2"}`, "/nights", "a number is expected"},
		{"Exponent", questions, `{"city":"a","nights":1e9}`, "/nights", "a number is expected"},
		{"Other", questions, `{"city":"a","town":"b"}`, "", `no field "town"`},
		{"OtherOption", oneOf, `{"choice":"loud"}`, "/choice", "one of the options"},
		{"TwoOfOne", oneOf, `{"choice":["bold","calm"]}`, "/choice", "expected a text"},
		{"OneOfSome", someOf, `{"choice":"calm"}`, "/choice", "expected a list"},
		{"OtherOptions", someOf, `{"choice":["bold","loud"]}`, "/choice", "among the options"},
		{"NoOption", someOf, `{"choice":[]}`, "/choice", "an answer is needed"},
		{"Maybe", approve, `{"approved":"yes"}`, "/approved", "yes or no"},
		{"NotSaid", approve, `{"answer":{"notes":"fine"}}`, "/answer/approved", "an answer is needed"},
		{"Kind", approve, `{"kind":"x","answer":{"approved":true}}`, "/kind", "input_request"},
		{"View", approve, `{"view_id":"w","answer":{"approved":true}}`, "/view_id", "another request"},
		{"More", approve, `{"by":"me","answer":{"approved":true}}`, "", "unknown field"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec := read(t, tt.spec)
			_, err := spec.ReadResult("v", json.RawMessage(tt.result), nil)
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.Contains(t, e.Msg, tt.problem)
		})
	}
}

func TestConfigurations(t *testing.T) {
	t.Parallel()

	c, err := input.ReadConfig(json.RawMessage(`{"image_hosts":["cdn.example.com","img.example.com:8443"]}`))
	require.NoError(t, err)
	for address, shown := range map[string]bool{
		"https://cdn.example.com/a.png": true, "https://CDN.example.com/a.png": true, "https://img.example.com:8443/a": true,
		"https://img.example.com/a": false, "https://cdn.example.com.evil.example/a": false,
		"http://cdn.example.com/a":    false,
		"https://x@cdn.example.com/a": false, "": false,
	} {
		require.Equal(t, shown, c.Shows(address), address)
	}
	for bad, path := range map[string]string{
		`{"image_hosts":["*.example.com"]}`: "/image_hosts/0", `{"image_hosts":["a.example; script-src *"]}`: "/image_hosts/0",
		`{"image_hosts":["https://a.example"]}`: "/image_hosts/0", `{"hosts":[]}`: "", `[]`: "",
		`{"image_hosts":[` + strings.Repeat(`"a.example",`, 16) + `"a.example"]}`: "/image_hosts",
	} {
		_, err := input.ReadConfig(json.RawMessage(bad))
		e := tool.AsError(err)
		require.Equal(t, tool.Invalid, e.Kind, bad)
		require.Equal(t, path, e.Path, bad)
	}
}
