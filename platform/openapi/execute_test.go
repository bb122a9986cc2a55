package openapi_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// upstream is a server that holds requests to the document they were made of.
type upstream struct {
	executor *httpcall.Executor
	url      string
	router   routers.Router

	mu   sync.Mutex
	seen map[string]string // The last request to each operation, as it stood on the wire.
}

// serveDocument starts a server for a document whose requests it validates.
func serveDocument(t *testing.T, raw []byte) *upstream {
	t.Helper()
	u := &upstream{seen: make(map[string]string)}
	server := httptest.NewServer(http.HandlerFunc(u.serve))
	t.Cleanup(server.Close)
	u.url = server.URL

	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = false
	doc, err := loader.LoadFromData(raw)
	require.NoError(t, err)
	doc.Servers = openapi3.Servers{{URL: server.URL}}
	for _, item := range doc.Paths.Map() {
		item.Servers = nil
	}
	u.router, err = gorillamux.NewRouter(doc)
	require.NoError(t, err)

	host := strings.TrimPrefix(server.URL, "http://")
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: []string{host}} },
	})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	vars := map[string]string{
		"TOOLCRIB_SECRET_TOKEN": "planted-token", "TOOLCRIB_SECRET_TOKEN_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_LOGIN": "ada:planted-login", "TOOLCRIB_SECRET_LOGIN_HOSTS": "127.0.0.1",
	}
	u.executor = httpcall.New(gate, secret.Env{
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	})
	return u
}

func (u *upstream) serve(w http.ResponseWriter, r *http.Request) {
	route, params, err := u.router.FindRoute(r)
	if err != nil {
		http.Error(w, "no such operation: "+err.Error(), http.StatusBadRequest)
		return
	}
	line := r.Method + " " + r.RequestURI
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, ExcludeReadOnlyValidations: true,
		},
	}
	if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
		http.Error(w, line+"\n"+string(body)+"\n"+err.Error(), http.StatusBadRequest)
		return
	}
	u.mu.Lock()
	u.seen[route.Operation.OperationID] = line + "\n" + strings.Join(headersOf(r), "\n") + "\n\n" + string(body)
	u.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func headersOf(r *http.Request) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lines = append(lines, name+": "+strings.Join(r.Header[name], "|"))
	}
	return lines
}

func (u *upstream) call(ctx context.Context, o *openapi.Operation, arguments json.RawMessage) (*tool.Result, error) {
	d := o.Spec.Definition
	d.OutputSchema = nil
	return u.executor.Execute(ctx, &tool.Call{
		CallIdentity: tool.CallIdentity{CallID: "call", EffectID: "effect", Principal: tool.Principal{Tenant: "t"}},
		Attempt:      1,
		Egress:       o.Spec.EgressClass,
		Arguments:    arguments,
		Version:      &tool.Version{Slug: o.Spec.Slug, Number: "1.0.0", Snapshot: tool.Snapshot{Definition: d}},
	})
}

// Arguments that a tool's schema takes make a request that the document it
// came from takes: for each operation of each document.
func TestRequestsAreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := document(t, name)
			u := serveDocument(t, servable(t, name, raw))
			r := mapped(t, raw, openapi.Options{Upstream: u.url})
			called := 0
			for i := range r.Operations {
				o := &r.Operations[i]
				if o.Spec == nil {
					continue
				}
				what := o.Method + " " + o.Path
				for _, all := range []bool{true, false} {
					arguments := sampleArguments(t, o.Spec.InputSchema, all)
					compiled, err := schema.New(4).Compile(o.Spec.InputSchema)
					require.NoError(t, err, what)
					require.NoError(t, compiled.Validate(t.Context(), arguments), "%s: %s", what, arguments)
					got, err := u.call(t.Context(), o, arguments)
					require.NoError(t, err, "%s: %s", what, arguments)
					require.False(t, got.IsError, "%s: %s\n%s", what, arguments, textOf(got))
					called++
				}
			}
			require.Greater(t, called, 80)
		})
	}
}

func textOf(r *tool.Result) string {
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}

// servable returns a document as the validator reads it. It knows neither
// lists in the style deepObject, which are written as name[]=…, nor what
// OpenAPI 3.1 says of required members that are read only, nor JSON in the
// field of a form; and it reads no document with references that lead out.
func servable(t *testing.T, name string, raw []byte) []byte {
	t.Helper()
	text := string(raw)
	if name == "chat.yaml" {
		text = strings.NewReplacer(`{$ref: "https://schemas.parley.example/remote.json"}`, "{}",
			`{$ref: "./shared.yaml#/Remote"}`, "{}",
			"device: {type: object, properties: {os: {type: string}, model: {type: string}}}", "device: {type: string}",
			", device: {contentType: application/json}", "").Replace(text)
		text = strings.ReplaceAll(text, "  /users/{user_id}:\n",
			"  /users/{user_id}:\n    parameters: [{name: user_id, in: path, required: true, schema: {type: string}}]\n")
	}
	var doc any
	require.NoError(t, yaml.Unmarshal([]byte(text), &doc))
	out, err := json.Marshal(serve(doc))
	require.NoError(t, err)
	return out
}

func serve(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = serve(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = serve(v[name])
		}
		properties, _ := v["properties"].(map[string]any)
		if required, ok := v["required"].([]any); ok {
			v["required"] = slices.DeleteFunc(required, func(name any) bool {
				text, _ := name.(string)
				property, _ := properties[text].(map[string]any)
				return property["readOnly"] == true
			})
		}
		if v["style"] == "deepObject" && v["name"] == "expand" {
			v["name"], v["style"] = "expand[]", "form"
		}
	}
	return v
}

// sampler makes arguments of a schema.
type sampler struct {
	root map[string]any
	all  bool // Also of optional members.
}

func sampleArguments(t *testing.T, raw json.RawMessage, all bool) json.RawMessage {
	t.Helper()
	var root map[string]any
	require.NoError(t, json.Unmarshal(raw, &root))
	s := sampler{root, all}
	out, err := json.Marshal(s.value(root, 0))
	require.NoError(t, err)
	return out
}

func (s sampler) value(v any, depth int) any {
	m, ok := v.(map[string]any)
	if !ok {
		return "text"
	}
	if ref, ok := m["$ref"].(string); ok {
		defs, _ := s.root["$defs"].(map[string]any)
		return s.value(defs[strings.TrimPrefix(ref, "#/$defs/")], depth+1)
	}
	if examples, ok := m["examples"].([]any); ok {
		return examples[0]
	}
	if value, ok := m["const"]; ok {
		return value
	}
	if enum, ok := m["enum"].([]any); ok {
		return enum[0]
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if list, ok := m[keyword].([]any); ok && m["properties"] == nil {
			return s.value(list[0], depth+1)
		}
	}
	out := make(map[string]any)
	if list, ok := m["allOf"].([]any); ok {
		for _, part := range list {
			made, isObject := s.value(part, depth+1).(map[string]any)
			if !isObject {
				return s.value(part, depth+1)
			}
			maps.Copy(out, made)
		}
	}
	kind, _ := m["type"].(string)
	if kinds, ok := m["type"].([]any); ok {
		kind, _ = kinds[0].(string)
	}
	switch {
	case kind == "object" || m["properties"] != nil || len(out) > 0:
		return s.object(m, out, depth)
	case kind == "array":
		return s.array(m, depth)
	default:
		return scalarOf(kind, m)
	}
}

func (s sampler) object(m, out map[string]any, depth int) any {
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || s.all && depth < 3 {
			out[name] = s.value(properties[name], depth+1)
		}
	}
	if more, ok := m["additionalProperties"].(map[string]any); ok && len(properties) == 0 && s.all && depth < 3 {
		out["key"] = s.value(more, depth+1)
	}
	return out
}

func (s sampler) array(m map[string]any, depth int) any {
	least, _ := m["minItems"].(float64)
	if depth > 3 && least == 0 {
		return []any{}
	}
	out := []any{s.value(m["items"], depth+1)}
	if unique, _ := m["uniqueItems"].(bool); !unique && least == 0 && s.all {
		out = append(out, s.value(m["items"], depth+1))
	}
	return out
}

func scalarOf(kind string, m map[string]any) any {
	least, _ := m["minimum"].(float64)
	if exclusive, ok := m["exclusiveMinimum"].(float64); ok {
		least = exclusive + 1
	}
	switch kind {
	case "integer":
		return max(int(least), 3)
	case "number":
		return max(least, 0.5)
	case "boolean":
		return true
	case "null":
		return nil
	}
	if m["contentEncoding"] == "base64" || m["format"] == "byte" {
		return "aGVsbG8gd29ybGQ="
	}
	switch m["format"] {
	case "date":
		return "2026-05-01"
	case "date-time":
		return "2026-05-01T12:00:00Z"
	case "email":
		return "ada@example.com"
	case "uri":
		return "https://example.com/a"
	case "uuid":
		return "7b0d1c1e-3b0c-4f39-9a51-0d5f0a3c7a11"
	case "ipv4":
		return "10.0.0.4"
	}
	text := "a b/ü&=1"
	if n, ok := m["maxLength"].(float64); ok && int(n) < len([]rune(text)) {
		text = "abcdefgh"[:int(n)]
	}
	if n, ok := m["minLength"].(float64); ok && len(text) < int(n) {
		text += strings.Repeat("x", int(n)-len(text))
	}
	return text
}

// Each parameter style and kind of body stands on the wire as the document
// says.
func TestStylesAndBodies(t *testing.T) {
	t.Parallel()
	raw := []byte(stylesDocument)
	u := serveDocument(t, raw)
	r := mapped(t, raw, openapi.Options{
		Upstream: u.url,
		Credentials: map[string]string{
			"bearer": "token", "login": "login", "inHeader": "token", "inQuery": "token", "inCookie": "token",
		},
	})
	byID := make(map[string]*openapi.Operation)
	for i := range r.Operations {
		byID[r.Operations[i].ID] = &r.Operations[i]
	}
	for id, c := range map[string]struct {
		arguments string
		want      []string
	}{
		"query": {
			`{"list":["a b","c"],"commas":["a","b"],"spaces":["a","b"],"pipes":["a","b"],"object":{"k":"v","n":2},"deep":{"a":"x","b":"y"},"json":{"a":[1]}}`,
			[]string{
				"list=a+b&list=c", "commas=a,b", "spaces=a%20b", "pipes=a%7Cb", "k=v&", "n=2", "deep%5Ba%5D=x", "deep%5Bb%5D=y",
				"json=%7B%22a%22%3A%5B1%5D%7D",
			},
		},
		"paths": {
			`{"simple":["a","b"],"label":["c","d"],"matrix":"e","pairs":{"k":"v"}}`, []string{"/paths/a,b/.c,d/;matrix=e/k=v"},
		},
		"headers": {
			`{"X_List":["a","b"],"X_Pairs":{"k":"v"},"X_Text":"t","mode":"dark"}`,
			[]string{"X-List: a,b", "X-Pairs: k=v", "X-Text: t", "Cookie: mode=dark"},
		},
		"collide": {
			`{"path_id":"p","query_id":"q","header_id":"h","body_id":"b"}`, []string{"/collide/p?id=q", "Id: h", `{"id":"b"}`},
		},
		"jsonBody": {`{"body":{"free":true}}`, []string{"Content-Type: application/vnd.acme+json", `{"free":true}`}},
		"form": {
			`{"list":["a","b"],"deep":{"x":"1"},"text":"a&b"}`,
			[]string{"application/x-www-form-urlencoded", "list=a&list=b", "deep%5Bx%5D=1", "text=a%26b"},
		},
		"multipart": {
			`{"file":"aGVsbG8=","file_file_name":"hello.txt","note":"n","info":{"a":1}}`,
			[]string{"multipart/form-data", `filename="hello.txt"`, "hello", `{"a":1}`},
		},
		"bytes":    {`{"body":"aGVsbG8="}`, []string{"Content-Type: application/octet-stream", "\n\nhello"}},
		"text":     {`{"body":"a,b"}`, []string{"Content-Type: text/csv", "\n\na,b"}},
		"none":     {`{}`, []string{"POST /none\n"}},
		"bearer":   {`{}`, []string{"Authorization: Bearer planted-token"}},
		"login":    {`{}`, []string{"Authorization: Basic "}},
		"inHeader": {`{}`, []string{"X-Api-Key: planted-token"}},
		"inQuery":  {`{}`, []string{"?api_key=planted-token"}},
		"inCookie": {`{}`, []string{"Cookie: sid=planted-token"}},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			o := byID[id]
			require.NotNil(t, o)
			require.NotNil(t, o.Spec, o.Reason)
			got, err := u.call(t.Context(), o, json.RawMessage(c.arguments))
			require.NoError(t, err)
			require.False(t, got.IsError, textOf(got))
			u.mu.Lock()
			seen := u.seen[id]
			u.mu.Unlock()
			for _, want := range c.want {
				require.Contains(t, seen, want)
			}
		})
	}
	require.Equal(t, []openapi.Need{{Scheme: "X-Auth-Token", Kind: "the value of the header", Operations: 1}}, r.Needs)
}

// A token is asked for where the document says, and a relative token URL is
// resolved.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	raw := document(t, "crm.json")
	r := mapped(t, raw, openapi.Options{Credentials: map[string]string{"oauth": "crm"}})
	require.Empty(t, r.Needs)
	var c httpcall.Config
	for _, o := range r.Operations {
		if o.ID == "deals_create" {
			require.NoError(t, json.Unmarshal(o.Spec.Config, &c))
		}
	}
	require.Equal(t, &httpcall.Auth{
		Type: "oauth2_client_credentials", CredentialsRef: "crm", TokenURL: "https://login.lantern-crm.example/oauth/token",
		Scopes: []string{"crm.write"},
	}, c.Auth)

	relative := strings.Replace(string(raw), "https://login.lantern-crm.example/oauth/token", "/oauth/token", 1)
	r = mapped(t, []byte(relative), openapi.Options{
		Credentials: map[string]string{"oauth": "crm"}, DocumentURL: "https://docs.example.com/a/openapi.json",
	})
	require.NoError(t, json.Unmarshal(r.Operations[0].Spec.Config, &c))
	u, err := url.Parse(c.Auth.TokenURL)
	require.NoError(t, err)
	require.Equal(t, "https://docs.example.com/oauth/token", u.String())
}

const stylesDocument = `
openapi: 3.0.3
info: {title: Styles, version: "1"}
servers: [{url: "https://styles.example.com"}]
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer}
    login: {type: http, scheme: basic}
    inHeader: {type: apiKey, in: header, name: X-Api-Key}
    inQuery: {type: apiKey, in: query, name: api_key}
    inCookie: {type: apiKey, in: cookie, name: sid}
  schemas:
    texts: {type: array, items: {type: string}}
    pairs: {type: object, additionalProperties: {type: string}}
paths:
  /query:
    get:
      operationId: query
      parameters:
        - {name: list, in: query, schema: {$ref: '#/components/schemas/texts'}}
        - {name: commas, in: query, explode: false, schema: {$ref: '#/components/schemas/texts'}}
        - {name: spaces, in: query, style: spaceDelimited, explode: false, schema: {$ref: '#/components/schemas/texts'}}
        - {name: pipes, in: query, style: pipeDelimited, explode: false, schema: {$ref: '#/components/schemas/texts'}}
        - {name: object, in: query, schema: {type: object, properties: {k: {type: string}, n: {type: integer}}}}
        - {name: deep, in: query, style: deepObject, explode: true, schema: {type: object, properties: {a: {type: string}, b: {type: string}}}}
        - {name: json, in: query, content: {application/json: {schema: {type: object}}}}
      responses: {"204": {description: Done.}}
  /paths/{simple}/{label}/{matrix}/{pairs}:
    get:
      operationId: paths
      parameters:
        - {name: simple, in: path, required: true, schema: {$ref: '#/components/schemas/texts'}}
        - {name: label, in: path, required: true, style: label, schema: {$ref: '#/components/schemas/texts'}}
        - {name: matrix, in: path, required: true, style: matrix, schema: {type: string}}
        - {name: pairs, in: path, required: true, explode: true, schema: {$ref: '#/components/schemas/pairs'}}
      responses: {"204": {description: Done.}}
  /headers:
    get:
      operationId: headers
      parameters:
        - {name: X-List, in: header, schema: {$ref: '#/components/schemas/texts'}}
        - {name: X-Pairs, in: header, explode: true, schema: {$ref: '#/components/schemas/pairs'}}
        - {name: X-Text, in: header, schema: {type: string}}
        - {name: mode, in: cookie, schema: {type: string}}
      responses: {"204": {description: Done.}}
  /collide/{id}:
    post:
      operationId: collide
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: id, in: query, schema: {type: string}}
        - {name: id, in: header, schema: {type: string}}
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}
      responses: {"204": {description: Done.}}
  /json:
    post:
      operationId: jsonBody
      requestBody: {content: {application/vnd.acme+json: {schema: {type: object, additionalProperties: true}}, application/xml: {}}}
      responses: {"204": {description: Done.}}
  /form:
    post:
      operationId: form
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {list: {$ref: '#/components/schemas/texts'}, deep: {$ref: '#/components/schemas/pairs'}, text: {type: string}}}
            encoding: {deep: {style: deepObject, explode: true}}
      responses: {"204": {description: Done.}}
  /multipart:
    post:
      operationId: multipart
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema: {type: object, required: [file], properties: {file: {type: string, format: binary}, note: {type: string}, info: {type: object, properties: {a: {type: integer}}}}}
      responses: {"204": {description: Done.}}
  /bytes:
    put: {operationId: bytes, requestBody: {required: true, content: {application/octet-stream: {schema: {type: string, format: binary}}}}, responses: {"204": {description: Done.}}}
  /text:
    put: {operationId: text, requestBody: {required: true, content: {text/csv: {schema: {type: string}}}}, responses: {"204": {description: Done.}}}
  /none:
    post: {operationId: none, responses: {"204": {description: Done.}}}
  /secret:
    get:
      operationId: secret
      parameters: [{name: X-Auth-Token, in: header, required: true, schema: {type: string}}]
      responses: {"204": {description: Done.}}
  /bearer: {get: {operationId: bearer, security: [{bearer: []}], responses: {"204": {description: Done.}}}}
  /login: {get: {operationId: login, security: [{login: []}], responses: {"204": {description: Done.}}}}
  /in-header: {get: {operationId: inHeader, security: [{inHeader: []}], responses: {"204": {description: Done.}}}}
  /in-query: {get: {operationId: inQuery, security: [{inQuery: []}], responses: {"204": {description: Done.}}}}
  /in-cookie: {get: {operationId: inCookie, security: [{inCookie: []}], responses: {"204": {description: Done.}}}}
`
