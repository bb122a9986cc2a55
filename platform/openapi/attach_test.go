package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/tool"
)

const partlySecured = `
openapi: 3.0.3
info: {title: Partly, version: "1"}
servers: [{url: "https://partly.example"}]
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    cert: {type: mutualTLS}
paths:
  /silent: {get: {operationId: getSilent, responses: {}}}
  /public: {get: {operationId: getPublic, security: [], responses: {}}}
  /keyed: {get: {operationId: getKeyed, security: [{key: []}], responses: {}}}
  /cert: {get: {operationId: getCert, security: [{cert: []}], responses: {}}}
`

func authOf(t *testing.T, o openapi.Operation) string {
	t.Helper()
	var c httpcall.Config
	require.NotNil(t, o.Spec, o.Reason)
	require.NoError(t, json.Unmarshal(o.Spec.Config, &c))
	if c.Auth == nil {
		return ""
	}
	return c.Auth.Type + ":" + c.Auth.CredentialsRef
}

// A credential is attached where the document declares none that can be sent, and
// stays when the document is imported again without one.
func TestAuthIsAttached(t *testing.T) {
	t.Parallel()
	opts := openapi.Options{Auth: &httpcall.Auth{Type: "bearer", CredentialsRef: "mine"}}
	first, _ := imported(t, partlySecured, opts, nil)
	want := map[string]string{"getSilent": "bearer:mine", "getPublic": "", "getKeyed": "", "getCert": "bearer:mine"}
	for slug, auth := range want {
		require.Equal(t, auth, authOf(t, first[slug]), slug)
	}
	known := stored(mapped(t, []byte(partlySecured), opts))
	again, _ := imported(t, partlySecured, openapi.Options{}, known)
	for slug, auth := range want {
		require.Equal(t, auth, authOf(t, again[slug]), slug)
	}
	declared := strings.Replace(partlySecured, "operationId: getSilent,", "operationId: getSilent, security: [{key: []}],",
		1)
	later, _ := imported(t, declared, openapi.Options{}, known)
	require.Empty(t, authOf(t, later["getSilent"]), "what the document declares now counts")
	o := later["getSilent"]
	require.Equal(t, "key", o.Needs())

	_, err := openapi.Map(t.Context(), []byte(partlySecured), openapi.Options{
		Auth: &httpcall.Auth{Type: "header", CredentialsRef: "mine"},
	})
	require.Equal(t, "/auth", tool.AsError(err).Path)
}

// Pagination is derived where the document leaves no doubt, and not else.
func TestPaginationIsCertain(t *testing.T) {
	t.Parallel()
	things := `"things":{"type":"array","items":{"type":"object"}}`
	get := func(parameters, schema, headers string) string {
		return `{"parameters":[` + parameters + `],"responses":{"200":{"headers":{` + headers +
			`},"content":{"application/json":{"schema":` + schema + `}}}}}`
	}
	query := func(name, schema string) string {
		return `{"in":"query","name":"` + name + `","schema":` + schema + `}`
	}
	cursor, size := query("page_token", `{"type":"string"}`), query("per_page", `{"type":"integer"}`)
	for name, c := range map[string]struct{ operation, want string }{
		"cursor": {
			get(cursor, `{"type":"object","properties":{`+things+`,"next_page_token":{"type":"string"}}}`, ""), "cursor",
		},
		"cursor in an envelope": {
			get(
				query("cursor", `{"type":"string"}`),
				`{"type":"object","properties":{`+things+
					`,"meta":{"type":"object","properties":{"nextCursor":{"type":"string"}}}}}`,
				"",
			),
			"cursor",
		},
		"two cursors": {
			get(
				cursor,
				`{"type":"object","properties":{`+things+
					`,"next_page_token":{"type":"string"},"meta":{"type":"object","properties":{"nextPageToken":{"type":"string"}}}}}`,
				"",
			),
			"",
		},
		"another cursor": {
			get(cursor, `{"type":"object","properties":{`+things+`,"cursor":{"type":"string"}}}`, ""), "",
		},
		"two lists": {
			get(
				cursor,
				`{"type":"object","properties":{`+things+
					`,"more":{"type":"array","items":{"type":"object"}},"next_page_token":{"type":"string"}}}`,
				"",
			),
			"",
		},
		"a list of texts beside": {
			get(
				cursor,
				`{"type":"object","properties":{`+things+
					`,"warnings":{"type":"array","items":{"type":"string"}},"next_page_token":{"type":"string"}}}`,
				"",
			),
			"cursor",
		},
		"numbers from one": {
			get(query("page", `{"type":"integer","default":1}`)+","+size, `{"type":"array","items":{"type":"object"}}`, ""),
			"page",
		},
		"numbers from zero": {
			get(query("page", `{"type":"integer","minimum":0}`)+","+size, `{"type":"object","properties":{`+things+`}}`, ""),
			"page",
		},
		"numbers from anywhere": {
			get(query("page", `{"type":"integer"}`)+","+size, `{"type":"array","items":{"type":"object"}}`, ""), "",
		},
		"no size": {
			get(query("page", `{"type":"integer","default":1}`), `{"type":"array","items":{"type":"object"}}`, ""), "",
		},
		"link": {
			get(size, `{"type":"array","items":{"type":"object"}}`, `"link":{"schema":{"type":"string"}}`), "link",
		},
		"a link of one thing": {
			get(size, `{"type":"object","properties":{"id":{"type":"string"}}}`, `"Link":{"schema":{"type":"string"}}`), "",
		},
		"a link without pages": {
			get("", `{"type":"array","items":{"type":"object"}}`, `"Link":{"schema":{"type":"string"}}`), "",
		},
		"URL": {
			get(size, `{"type":"object","properties":{`+things+`,"next":{"type":"string","format":"uri"}}}`, ""), "next_url",
		},
		"next that is no URL": {get(size, `{"type":"object","properties":{`+things+`,"next":{"type":"string"}}}`, ""), ""},
		"no schema":           {`{"responses":{"200":{"content":{"application/json":{}}}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mapped(t, smallDocument(c.operation, `{}`), openapi.Options{}).Operations[0]
			require.NotNil(t, o.Spec, o.Reason)
			require.Equal(t, c.want, o.Pagination)
			require.Equal(t, c.want != "", strings.Contains(string(o.Spec.OutputSchema), `"complete"`))
			one := mapped(t, smallDocument(c.operation, `{}`), openapi.Options{OnePage: true}).Operations[0]
			require.Empty(t, one.Pagination)
			require.NotContains(t, string(one.Spec.Config), "pagination")
		})
	}
}

// An operation that no tool can have is named all the same, to be chosen by.
func TestSkippedOperationsAreNamed(t *testing.T) {
	t.Parallel()
	raw := strings.Replace(partlySecured, "/silent: {get: {operationId: getSilent,", "/silent: {trace: {", 1)
	r := mapped(t, []byte(raw), openapi.Options{
		Prefix: "shop", Only: openapi.Selection{Match: []string{"shopTraceSilent"}},
	})
	require.Len(t, r.Operations, 1)
	require.Equal(t, openapi.Skipped, r.Operations[0].State)
}

// Patterns choose by id, path, method and path, or slug.
func TestSelectionByPattern(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]int{
		"getSilent": 1, "get*": 4, "/c*": 1, "GET /public": 1, "GET *": 4, "*e*": 4, "*": 4, "get*t": 2,
	} {
		r := mapped(t, []byte(partlySecured), openapi.Options{Only: openapi.Selection{Match: []string{pattern}}})
		require.Len(t, r.Operations, want, pattern)
		rest := mapped(t, []byte(partlySecured), openapi.Options{Except: openapi.Selection{Match: []string{pattern}}})
		require.Len(t, rest.Operations, 4-want, pattern)
	}
}

// A document near the limit of bytes is mapped, and one of more operations than
// an import maps is imported in parts.
func TestLargeDocument(t *testing.T) {
	t.Parallel()
	paths := m{}
	text := strings.Repeat("All of it is mapped. ", 290)
	for i := range 5000 {
		paths["/things/"+tag(i)] = m{
			"get": m{"operationId": "getThing" + tag(i), "tags": l{"t" + tag(i%10)}, "description": text, "responses": m{}},
		}
	}
	raw, err := json.Marshal(m{
		"openapi": "3.1.0", "info": m{"title": "Large"}, "servers": l{m{"url": "https://large.example"}}, "paths": paths,
	})
	require.NoError(t, err)
	require.Greater(t, len(raw), 28<<20)
	require.Less(t, len(raw), openapi.MaxDocumentBytes)
	_, err = openapi.Map(t.Context(), raw, openapi.Options{})
	require.ErrorContains(t, err, "more than 2000 operations are selected")
	r := mapped(t, raw, openapi.Options{Only: openapi.Selection{Tags: []string{"t" + tag(3)}}})
	require.Len(t, r.Operations, 500)
	require.Equal(t, 4500, r.Unselected)
}

func tag(i int) string {
	return strings.Repeat("x", i/26/26) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
}
