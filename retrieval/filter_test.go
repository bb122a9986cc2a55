package retrieval_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

func TestFiltersAreRead(t *testing.T) {
	t.Parallel()

	f, err := retrieval.ParseFilter("/filter", json.RawMessage(
		`{"year": {"lte": 2026, "gte": 12345678901234567890}, "team": "billing", "tags": {"in": ["a", 1, true]}, "old": {"exists": false}}`))
	require.NoError(t, err)
	require.Equal(t, retrieval.Filter{
		{Field: "old", Comparison: retrieval.Exists, Values: []any{false}},
		{Field: "tags", Comparison: retrieval.In, Values: []any{"a", json.Number("1"), true}},
		{Field: "team", Comparison: retrieval.In, Values: []any{"billing"}},
		{Field: "year", Comparison: retrieval.AtLeast, Values: []any{json.Number("12345678901234567890")}},
		{Field: "year", Comparison: retrieval.AtMost, Values: []any{json.Number("2026")}},
	}, f, "in one order, and with all digits")
	for _, none := range []string{"", " ", "null", "{}"} {
		f, err := retrieval.ParseFilter("/filter", json.RawMessage(none))
		require.NoError(t, err)
		require.Empty(t, f)
	}
}

func TestFiltersAreRefused(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", retrieval.MaxMetadataString+1)
	many := `["a"` + strings.Repeat(`,"a"`, retrieval.MaxFilterValues) + `]`
	wide := map[string]int{}
	for i := range retrieval.MaxConditions + 1 {
		wide["f"+strings.Repeat("x", i)] = i
	}
	tooWide, err := json.Marshal(wide)
	require.NoError(t, err)
	for raw, path := range map[string]string{
		`[]`:                                  "/filter",
		`"team"`:                              "/filter",
		`{"team": 1} {}`:                      "/filter",
		`{"team": null}`:                      "/filter/team",
		`{"team": ["a"]}`:                     "/filter/team",
		`{"team": {}}`:                        "/filter/team",
		`{"team": {"like": "a%"}}`:            "/filter/team",
		`{"team": {"in": "a"}}`:               "/filter/team/in",
		`{"team": {"in": []}}`:                "/filter/team/in",
		`{"team": {"in": [null]}}`:            "/filter/team/in",
		`{"team": {"in": [["a"]]}}`:           "/filter/team/in",
		`{"team": {"in": ` + many + `}}`:      "/filter/team/in",
		`{"team": {"gte": true}}`:             "/filter/team/gte",
		`{"team": {"lte": ["a"]}}`:            "/filter/team/lte",
		`{"team": {"exists": 1}}`:             "/filter/team/exists",
		`{"team": "` + long + `"}`:            "/filter/team",
		`{"team": "a\u0000"}`:                 "/filter/team",
		`{"team": -0.01E-99999}`:              "/filter/team",
		`{"": 1}`:                             "/filter",
		`{"a b": 1}`:                          "/filter",
		`{"a'; drop table documents; --": 1}`: "/filter",
		string(tooWide):                       "/filter",
	} {
		_, err := retrieval.ParseFilter("/filter", json.RawMessage(raw))
		require.Error(t, err, raw)
		e := tool.AsError(err)
		require.Equal(t, tool.Invalid, e.Kind, raw)
		require.Equal(t, path, e.Path, raw)
		require.NotEmpty(t, e.Msg)
	}
}

func TestMetadataIsFlatAndBounded(t *testing.T) {
	t.Parallel()

	var good retrieval.Metadata
	require.NoError(
		t,
		json.Unmarshal(
			[]byte(`{"team": "a", "year": 2026.5, "big": 12345678901234567890, "small": -0.1E-0300, "public": false, "tags": ["a", "b"], "none": []}`),
			&good,
		),
	)
	require.NoError(t, good.Check("/metadata"))
	for raw, path := range map[string]string{
		`{"a": null}`:                            "/metadata/a",
		`{"a": {"b": 1}}`:                        "/metadata/a",
		`{"a": [1]}`:                             "/metadata/a",
		`{"a": "x\u0000"}`:                       "/metadata/a",
		`{"a": 1e999}`:                           "/metadata/a",
		`{"a": 1e-99999}`:                        "/metadata/a",
		`{"1a": 1}`:                              "/metadata",
		`{"a/b": 1}`:                             "/metadata",
		`{"` + strings.Repeat("a", 65) + `": 1}`: "/metadata",
	} {
		var m retrieval.Metadata
		require.NoError(t, json.Unmarshal([]byte(raw), &m))
		err := m.Check("/metadata")
		require.Error(t, err, raw)
		require.Equal(t, path, tool.AsError(err).Path, raw)
	}
}
