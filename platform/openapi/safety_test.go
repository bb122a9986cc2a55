package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/tool"
)

// small is a document with one operation, whose members a test may replace.
const small = `{"openapi":"3.0.3","info":{"title":"Small","version":"1"},"servers":[{"url":"https://small.example.com"}],"paths":{"/a":{"get":OPERATION}},"components":COMPONENTS}`

func smallDocument(operation, components string) []byte {
	return []byte(strings.NewReplacer("OPERATION", operation, "COMPONENTS", components).Replace(small))
}

// References that lead out of a document are refused, wherever they stand, and
// nothing is fetched or read.
func TestNothingIsFetched(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(canary.Close)
	secret := filepath.Join(t.TempDir(), "secret.json")
	require.NoError(t, os.WriteFile(secret, []byte(`{"type":"string","description":"PLANTED"}`), 0o600))
	for _, ref := range []string{
		canary.URL + "/schema.json", "//" + strings.TrimPrefix(canary.URL, "http://") + "/x", secret, "file://" + secret,
		"secret.json#/a", "../x.yaml", "schemas.json", "#fragment",
	} {
		quoted := `{"$ref":"` + ref + `"}`
		for place, raw := range map[string][]byte{
			"path item": []byte(strings.Replace(string(smallDocument(`{}`, `{}`)), `{"get":{}}`, quoted, 1)),
			"parameter": smallDocument(`{"parameters":[`+quoted+`],"responses":{}}`, `{}`),
			"schema":    smallDocument(`{"parameters":[{"name":"q","in":"query","schema":`+quoted+`}],"responses":{}}`, `{}`),
			"nested": smallDocument(
				`{"parameters":[{"name":"q","in":"query","schema":{"type":"array","items":`+quoted+`}}],"responses":{}}`, `{}`,
			),
			"component": smallDocument(
				`{"parameters":[{"name":"q","in":"query","schema":{"$ref":"#/components/schemas/s"}}],"responses":{}}`,
				`{"schemas":{"s":`+quoted+`}}`,
			),
			"response": smallDocument(`{"responses":{"200":`+quoted+`}}`, `{}`),
			"output":   smallDocument(`{"responses":{"200":{"content":{"application/json":{"schema":`+quoted+`}}}}}`, `{}`),
			"scheme":   smallDocument(`{"security":[{"k":[]}],"responses":{}}`, `{"securitySchemes":{"k":`+quoted+`}}`),
		} {
			r, err := openapi.Map(t.Context(), raw, openapi.Options{DocumentURL: canary.URL + "/openapi.json"})
			require.NoError(t, err, place)
			var said strings.Builder
			fmt.Fprint(&said, r.Notes)
			for _, o := range r.Operations {
				fmt.Fprint(&said, o.Reason, o.Losses)
				if o.Spec != nil {
					said.Write(o.Spec.InputSchema)
					said.Write(o.Spec.OutputSchema)
				}
			}
			text := said.String()
			require.Regexp(t, "only references within|is not a JSON Pointer|cannot be read", text, "%s: %s", place, ref)
			require.NotContains(t, text, "PLANTED")
		}
	}
	require.Zero(t, hits.Load())
}

// Many schemas that would have the same name are named as fast as others: of
// two operations, the second is still reached in time.
func TestManySchemasOfOneName(t *testing.T) {
	t.Parallel()
	const many = 50_000
	list, refs := make([]string, many), make([]string, many)
	for i := range many {
		list[i], refs[i] = `{"a":{"type":"string"}}`, fmt.Sprintf(`{"$ref":"#/components/x/%d/a"}`, i)
	}
	operation := `{"parameters":[{"name":"q","in":"query","schema":{"anyOf":[` + strings.Join(refs, ",") +
		`]}}],"responses":{}},"head":{"responses":{}}`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := openapi.Map(ctx, smallDocument(operation, `{"x":[`+strings.Join(list, ",")+`]}`), openapi.Options{})
	require.NoError(t, err)
	require.Len(t, r.Operations, 2)
}

// What cannot be read as a whole is refused with a word that says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	many := make(map[string]any)
	for i := range openapi.MaxOperations + 1 {
		many[fmt.Sprintf("/p%d", i)] = map[string]any{"get": map[string]any{"responses": map[string]any{}}}
	}
	tooMany, err := json.Marshal(map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "Many"},
		"servers": []any{map[string]any{"url": "https://x.example"}}, "paths": many,
	})
	require.NoError(t, err)
	var bomb strings.Builder
	bomb.WriteString("openapi: 3.0.3\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	for name, c := range map[string]struct{ raw, want string }{
		"swagger 1.2": {`{"swagger":"1.2","paths":{}}`, "Swagger 2.0, OpenAPI 3.0 and 3.1 are read"},
		"bad swagger": {
			"swagger: '2.0'\ninfo: {title: x}\nhost: x.example\npaths: {/a: {get: 3}}\n", "cannot be read as Swagger 2.0",
		},
		"3.2":           {`{"openapi":"3.2.0","info":{"title":"x"},"paths":{}}`, "3.0 and 3.1 are read"},
		"no version":    {`{"info":{"title":"x"}}`, "is this an OpenAPI document?"},
		"no object":     {`[1]`, "expected an object"},
		"empty":         {``, "it has no document"},
		"no JSON":       {`{"openapi":`, "no JSON"},
		"two documents": {`{"openapi":"3.0.3"} {}`, "more than one JSON value"},
		"no YAML":       {"openapi: [\n", "line"},
		"no paths": {
			`{"openapi":"3.0.3","info":{"title":"x"},"servers":[{"url":"https://x.example"}]}`, "no operations to import",
		},
		"no title": {
			`{"openapi":"3.0.3","info":{},"servers":[{"url":"https://x.example"}],"paths":{}}`, "set the name of the import",
		},
		"relative": {`{"openapi":"3.0.3","info":{"title":"x"},"paths":{"/a":{}}}`, "set the URL of the document"},
		"scheme": {
			`{"openapi":"3.0.3","info":{"title":"x"},"servers":[{"url":"file:///etc"}],"paths":{"/a":{}}}`,
			"expected http or https",
		},
		"user": {
			`{"openapi":"3.0.3","info":{"title":"x"},"servers":[{"url":"https://a:b@x.example"}],"paths":{"/a":{}}}`,
			"and no user",
		},
		"variable": {
			`{"openapi":"3.0.3","info":{"title":"x"},"servers":[{"url":"https://{a}.example"}],"paths":{"/a":{}}}`,
			"server variable a has no default",
		},
		"dialect": {
			`{"openapi":"3.1.0","jsonSchemaDialect":"https://x.example/own","info":{"title":"x"},"paths":{"/a":{}}}`,
			"of the dialect",
		},
		"too many":      {string(tooMany), "more than 2000 operations"},
		"too large":     {strings.Repeat(" ", openapi.MaxDocumentBytes+1), "at most 33554432 are read"},
		"bomb":          {bomb.String(), "after expansion of aliases"},
		"endless alias": {"openapi: 3.0.3\na: &a [*a]\n", "is recursive"},
		"twice":         {"openapi: 3.0.3\ninfo: {}\ninfo: {}\n", "info"},
		"deep JSON":     {`{"openapi":"3.0.3","x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, "deep"},
		"deep YAML":     {"openapi: 3.0.3\nx: " + strings.Repeat("[", 500) + strings.Repeat("]", 500), "deep"},
		"tag":           {"openapi: !env X\n", "has no equivalent in JSON"},
		"not a number":  {"openapi: 3.0.3\nx: .inf\n", "is not a number in JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openapi.Map(t.Context(), []byte(c.raw), openapi.Options{})
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	raw := smallDocument(`{"responses":{}}`, `{}`)
	for path, opts := range map[string]openapi.Options{
		"/prefix":          {Prefix: "1 x"},
		"/document_url":    {DocumentURL: "x.json"},
		"/credentials/key": {Credentials: map[string]string{"key": "a secret!"}},
		"/upstream":        {Upstream: "ftp://x.example"},
		"/servers":         {Upstream: "2"},
		"/name":            {Name: strings.Repeat("x", 201)},
	} {
		_, err := openapi.Map(t.Context(), raw, opts)
		require.Equal(t, tool.Invalid, tool.KindOf(err), path)
		require.Equal(t, path, tool.AsError(err).Path)
	}
}

// An import ends with its context.
func TestMapEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := openapi.Map(ctx, smallDocument(`{"responses":{}}`, `{}`), openapi.Options{})
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
}

// Texts of a document cannot hide anything from readers, nor exceed the limit
// of their length.
func TestTextsAreCleaned(t *testing.T) {
	t.Parallel()
	hidden := "Shown\u202e reversed \U000E0041\U000E0042 tag\u200b \x1b[31mred\x00 end"
	long := strings.Repeat("é", 5000)
	operation, err := json.Marshal(map[string]any{
		"operationId": "get\x1b[2J\u202eThing", "summary": hidden, "description": long,
		"parameters": []any{map[string]any{"name": "q", "in": "query", "description": long, "schema": map[string]any{
			"type": "object",
			"properties": map[string]any{
				"password": map[string]any{"type": "string", "default": "hunter2", "example": "hunter3"},
			},
		}}},
		"responses": map[string]any{},
	})
	require.NoError(t, err)
	r := mapped(t, smallDocument(string(operation), `{}`), openapi.Options{})
	o := r.Operations[0]
	require.NotNil(t, o.Spec, o.Reason)
	require.Equal(t, "Shown reversed tag [31mred end", o.Spec.Name)
	require.Len(t, []rune(o.Spec.Description), openapi.MaxDescription)
	for _, text := range []string{o.Spec.Name, o.Spec.Description, o.ID, string(o.Spec.InputSchema)} {
		require.NotContains(t, text, "\u202e")
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\U000E0041")
	}
	require.NotContains(t, string(o.Spec.InputSchema), "hunter")
	require.Less(t, len(o.Spec.InputSchema), 3*openapi.MaxSchemaDescription)
	require.True(t, tool.ValidSlug(o.Spec.Slug))
}

// Schemas that refer to themselves, and to each other more often than can be
// spelled out, are mapped or skipped, in little time.
func TestSchemasWithoutEnd(t *testing.T) {
	t.Parallel()
	schemas := map[string]any{
		"self": map[string]any{"$ref": "#/components/schemas/self"}, "a": map[string]any{"$ref": "#/components/schemas/b"},
		"b": map[string]any{"$ref": "#/components/schemas/a"},
	}
	for i := range 40 {
		next := map[string]any{"$ref": fmt.Sprintf("#/components/schemas/x%d", i+1)}
		schemas[fmt.Sprintf("x%d", i)] = map[string]any{"type": "object", "properties": map[string]any{"l": next, "r": next}}
	}
	schemas["x40"] = map[string]any{"type": "string"}
	components, err := json.Marshal(map[string]any{"schemas": schemas})
	require.NoError(t, err)
	for _, name := range []string{"self", "a", "x0"} {
		raw := smallDocument(
			`{"parameters":[{"name":"q","in":"query","schema":{"$ref":"#/components/schemas/`+name+
				`"}}],"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/`+name+`"}}}}}}`,
			string(components),
		)
		r := mapped(t, raw, openapi.Options{})
		require.True(t, r.Operations[0].Spec != nil || r.Operations[0].Reason != "", name)
	}
}

// A schema that names another many times, over and over, is looked through once.
func TestComposedSchemasAreVisitedOnce(t *testing.T) {
	t.Parallel()
	refs := func(n int, to string) string {
		return strings.TrimSuffix(strings.Repeat(`{"$ref":"#/components/schemas/`+to+`"},`, n), ",")
	}
	for name, allOf := range map[string]string{
		"itself": `{"S":{"allOf":[` + refs(200, "S") + `]}}`,
		"others": `{"S":{"allOf":[` + refs(200, "A") + `]},"A":{"allOf":[` + refs(200, "B") + `]},"B":{"allOf":[` +
			refs(200, "C") + `]},"C":{"allOf":[` + refs(200, "D") + `]},"D":{"type":"object","properties":{"a":` +
			`{"type":"string","allOf":[` + refs(200, "C") + `]}}}}`,
	} {
		schema := `{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S"}}}}`
		for place, operation := range map[string]string{
			"answer": `{"parameters":[{"name":"cursor","in":"query","schema":{"type":"string"}}],"responses":{"200":` +
				schema + `}}`,
			"body": `{"requestBody":` + schema + `,"responses":{}}`,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			_, err := openapi.Map(ctx, smallDocument(operation, `{"schemas":`+allOf+`}`), openapi.Options{})
			require.NoError(t, ctx.Err(), "%s, %s", name, place)
			if err != nil {
				require.Equal(t, tool.Invalid, tool.KindOf(err), "%s, %s", name, place)
			}
			cancel()
		}
	}
}

// Media types of a document of Swagger 2.0, which are spelled out with each of
// its operations, are bounded.
func TestMediaTypesOfSwaggerAreBounded(t *testing.T) {
	t.Parallel()
	document := func(produces string) []byte {
		return []byte(`{"swagger":"2.0","info":{"title":"Old","version":"1"},"host":"old.example.com","produces":[` +
			produces + `],"paths":{"/a":{"get":{"responses":{"200":{"description":"ok"}}}}}}`)
	}
	_, err := openapi.Map(t.Context(), document(`"application/json","text/plain"`), openapi.Options{})
	require.NoError(t, err)
	for path, produces := range map[string]string{
		"/produces":   `"a/b"` + strings.Repeat(`,"a/b"`, 20),
		"/produces/0": `"a/` + strings.Repeat("b", 200) + `"`,
	} {
		_, err := openapi.Map(t.Context(), document(produces), openapi.Options{})
		require.Equal(t, path, tool.AsError(err).Path, err)
	}
}
