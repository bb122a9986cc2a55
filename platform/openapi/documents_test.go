package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

var update = flag.Bool("update", false, "rewrite the golden reports")

// documents are the documents that the tests import, by name.
var documents = []string{"payments.yaml", "crm.json", "chat.yaml", "cloud.json", "codehost.json"}

func document(tb testing.TB, name string) []byte {
	tb.Helper()
	if name == "codehost.json" {
		return codeHost(tb)
	}
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(tb, err)
	return raw
}

func mapped(t *testing.T, raw []byte, opts openapi.Options) *openapi.Result {
	t.Helper()
	r, err := openapi.Map(t.Context(), raw, opts)
	require.NoError(t, err)
	r.Reconcile(nil)
	return r
}

var found = openapi.Options{DocumentURL: "https://docs.example.com/openapi"}

// What becomes of each operation of large documents is written down.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := document(t, name)
			require.Greater(t, bytes.Count(raw, []byte("\n")), 1500)
			got := report(mapped(t, raw, found))
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "run the test with -update if the change is meant")
		})
	}
}

// report writes a result for people to read.
func report(r *openapi.Result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s, OpenAPI %s\nhosts %v\nneeds %v\n", r.Title, r.Version, r.OpenAPI, r.Hosts, r.Needs)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note %s: %s\n", note.Pointer, note.Reason)
	}
	for _, o := range r.Operations {
		fmt.Fprintf(&b, "\n%s %s %s\n", o.Method, o.Path, o.State)
		if o.Reason != "" {
			fmt.Fprintf(&b, "  because %s\n", o.Reason)
		}
		if o.Spec != nil {
			fmt.Fprintf(&b, "  tool %s, egress %s\n  input %s\n  config %s\n", o.Spec.Slug, o.Spec.EgressClass,
				o.Spec.InputSchema, o.Spec.Config)
			if len(o.Spec.OutputSchema) > 0 {
				fmt.Fprintf(&b, "  output of %d bytes\n", len(o.Spec.OutputSchema))
			}
		}
		for _, loss := range o.Losses {
			fmt.Fprintf(&b, "  lost %s: %s\n", loss.Pointer, loss.Reason)
		}
	}
	return b.Bytes()
}

// Whatever is mapped is a draft that the registry takes and that can be
// published: a slug, schemas, a configuration, and the policy of its method.
func TestMappedToolsAreValid(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slugs := make(map[string]bool)
			for _, o := range mapped(t, document(t, name), found).Operations {
				if o.Spec == nil {
					continue
				}
				what := o.Method + " " + o.Path
				require.True(t, tool.ValidSlug(o.Spec.Slug), what)
				require.False(t, slugs[o.Spec.Slug], "%s: %s twice", what, o.Spec.Slug)
				slugs[o.Spec.Slug] = true
				require.NoError(t, schema.CheckInput(o.Spec.InputSchema), what)
				require.NoError(t, schema.Check(o.Spec.OutputSchema), what)
				require.NoError(t, httpcall.CheckConfig(o.Spec.Config), what)
				require.NotEmpty(t, o.Spec.Name, what)
				require.NotEmpty(t, o.Spec.Description, what)
				reads := o.Method == http.MethodGet || o.Method == http.MethodHead || o.Method == http.MethodOptions
				require.Equal(t, reads, o.Spec.EgressClass == tool.EgressReadOnly, what)
				require.Equal(t, o.Method == http.MethodGet || o.Method == http.MethodHead, o.Spec.Execution.Pure, what)
				require.False(t, o.Spec.Execution.Idempotent, what)
				require.False(t, o.Spec.Publish, what)
				require.Empty(t, o.Spec.Status, what)
			}
			require.Greater(t, len(slugs), 40)
		})
	}
}

// codeHost makes the document of a host of code with hundreds of operations.
func codeHost(tb testing.TB) []byte {
	tb.Helper()
	type m = map[string]any
	ref := func(name string) m { return m{"$ref": "#/components/schemas/" + name} }
	text := m{"type": "string"}
	user := m{"type": "object", "required": []any{"login", "id"}, "properties": m{
		"login": text, "id": m{"type": "integer", "format": "int64"}, "url": m{"type": "string", "format": "uri"},
		"site_admin": m{"type": "boolean"},
		"name":       m{"type": "string", "nullable": true},
		"plan":       m{"type": "object", "properties": m{"name": text, "seats": m{"type": "integer"}}},
	}}
	schemas := m{"user": user, "validation_error": m{"type": "object", "properties": m{"message": text}}}
	header := func(name string) m {
		return m{"description": name, "schema": text, "example": `<https://codehost.example/r?page=2>; rel="next"`}
	}
	parameters := m{
		"owner": m{
			"name": "owner", "in": "path", "required": true, "description": "The account that owns the repository.",
			"schema": text,
		},
		"repo": m{
			"name": "repo", "in": "path", "required": true, "description": "The repository, without its owner.", "schema": text,
		},
		"org":  m{"name": "org", "in": "path", "required": true, "schema": text},
		"page": m{"name": "page", "in": "query", "schema": m{"type": "integer", "default": 1}},
		"size": m{"name": "per_page", "in": "query", "schema": m{"type": "integer", "default": 30, "maximum": 100}},
		"since": m{
			"name": "since", "in": "query",
			"schema": m{"type": "string", "format": "date-time", "example": "2026-01-01T00:00:00Z"},
		},
	}
	param := func(name string) m { return m{"$ref": "#/components/parameters/" + name} }
	body := func(of m) m { return m{"content": m{"application/json": m{"schema": of}}} }
	answers := func(status string, of m, paged bool) m {
		response := body(of)
		response["description"] = "Response"
		if paged {
			response["headers"] = m{"Link": header("Link")}
		}
		return m{
			status: response,
			"422": m{
				"description": "Validation failed", "content": m{"application/json": m{"schema": ref("validation_error")}},
			},
		}
	}
	nouns := []string{
		"issue", "pull", "release", "label", "milestone", "branch", "commit", "tag", "deployment", "environment", "hook",
		"key", "runner",
		"secret-scan", "workflow", "artifact", "cache", "check-run", "check-suite", "codespace", "collaborator", "comment",
		"discussion", "fork",
	}
	paths := m{}
	for i, noun := range nouns {
		name, tag := "repo-"+noun, noun+"s"
		schemas[name] = m{"type": "object", "title": noun, "required": []any{"id", "author"}, "properties": m{
			"id": m{"type": "integer", "readOnly": true}, "node_id": m{"type": "string", "readOnly": true},
			"title": m{"type": "string", "maxLength": 256},
			"body":  m{"type": "string", "nullable": true}, "author": ref("user"),
			"assignees":  m{"type": "array", "items": ref("user"), "nullable": true},
			"state":      m{"type": "string", "enum": []any{"open", "closed"}, "default": "open"},
			"parent":     m{"allOf": []any{ref(name)}, "nullable": true},
			"related":    m{"type": "array", "items": ref("repo-" + nouns[(i+1)%len(nouns)])},
			"created_at": m{"type": "string", "format": "date-time", "readOnly": true},
		}}
		write := m{"type": "object", "properties": m{
			"title": m{"oneOf": []any{text, m{"type": "integer"}}}, "body": text,
			"labels": m{"type": "array", "items": m{"anyOf": []any{
				text, m{"type": "object", "properties": m{"name": text, "color": m{"type": "string", "nullable": true}}},
			}}}, "milestone": m{"type": "integer", "nullable": true},
			"state": m{"type": "string", "enum": []any{"open", "closed"}},
		}}
		create := m{"type": "object", "required": []any{"title"}, "properties": write["properties"]}
		number := m{"name": "number", "in": "path", "required": true, "schema": m{"type": "integer", "example": 7}}
		for _, scope := range []struct{ id, path string }{
			{"repos", "/repos/{owner}/{repo}/" + tag}, {"orgs", "/orgs/{org}/" + tag},
		} {
			at := []any{param("owner"), param("repo")}
			if scope.id == "orgs" {
				at = []any{param("org")}
			}
			op := func(verb, summary string, more []any, extra m) m {
				out := m{
					"operationId": scope.id + "/" + verb + "-" + noun, "summary": summary, "tags": []any{tag},
					"description":  summary + ".\n\nThe token needs to be allowed to do so.",
					"externalDocs": m{"url": "https://docs.codehost.example/rest/" + tag}, "x-codehost": m{"category": tag},
					"parameters": append(append([]any{}, at...), more...),
				}
				maps.Copy(out, extra)
				return out
			}
			list := m{"type": "array", "items": ref(name)}
			paths[scope.path] = m{
				"get": op("list", "List "+
					tag, []any{param("since"), param("page"), param("size")}, m{"responses": answers("200", list, true)}),
				"post": op("create", "Create a "+
					noun, nil,
					m{
						"responses":   answers("201", ref(name), false),
						"requestBody": m{"required": true, "content": body(create)["content"]},
					}),
			}
			item := m{
				"get": op("get", "Get a "+noun, []any{number}, m{"responses": answers("200", ref(name), false)}),
				"patch": op("update", "Update a "+
					noun, []any{number}, m{"responses": answers("200", ref(name), false), "requestBody": body(write)}),
				"delete": op("delete", "Delete a "+noun, []any{number}, m{"responses": m{"204": m{"description": "Gone"}}}),
			}
			if scope.id == "orgs" {
				delete(item, "patch")
			}
			paths[scope.path+"/{number}"] = item
		}
	}
	raw, err := json.MarshalIndent(m{
		"openapi": "3.0.3", "info": m{"title": "Code Host", "version": "2026-04-01"},
		"servers": []any{m{"url": "https://api.codehost.example"}},
		"paths":   paths, "security": []any{m{"token": []any{}}},
		"components": m{
			"schemas": schemas, "parameters": parameters, "securitySchemes": m{"token": m{"type": "http", "scheme": "bearer"}},
		},
	}, "", " ")
	require.NoError(tb, err)
	return raw
}
