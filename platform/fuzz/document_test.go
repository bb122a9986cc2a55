package fuzz_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"
)

// document is the description of an API.
type document struct {
	raw        string
	root       node
	operations []*operation
	message    *jsonschema.Schema // Of the events of spaces.
	event, end *jsonschema.Schema // Of the events of streams; nil where there is none.
	test       *jsonschema.Schema // Of how a test of a tool went.
	faults     []string           // What is wrong with the description itself.
}

// node is an object of the description: a schema, most often.
type node = map[string]any

// operation is one thing that can be asked of the API.
type operation struct {
	id, method, path string
	parameters       []parameter
	bodies           map[string]node // Schemas by media type; empty for no body.
	bodySchemas      map[string]*jsonschema.Schema
	bodyRequired     bool
	answers          map[string]map[string]*jsonschema.Schema // By status or "default", then by media type.
	secured          bool
	permissions      []string // Of which one is needed; as the text says.
}

// parameter is one part of a request beside its body.
type parameter struct {
	name, in string
	required bool
	schema   node
}

// noun is what the operation is about: the first name of its path.
func (o *operation) noun() string { return o.names()[0] }

// names are the parts of the operation's path, without what all of them or all
// of a protocol begin with.
func (o *operation) names() []string {
	return strings.Split(strings.TrimPrefix(strings.TrimPrefix(o.path, "/v1/"), "mcp/"), "/")
}

// reads reports whether the operation must not change anything.
func (o *operation) reads() bool { return o.method == http.MethodGet || o.method == http.MethodHead }

// may reports whether an actor with the permissions may request it.
func (o *operation) may(permissions []string) bool {
	return !o.secured || slices.ContainsFunc(o.permissions, func(p string) bool {
		return slices.Contains(permissions, p) || slices.Contains(permissions, "*")
	})
}

// document reads the description of the API at an address.
func readDocument(t *testing.T, address string) *document {
	t.Helper()
	got, err := request{method: http.MethodGet, path: "/openapi.json"}.send(t.Context(), address)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.status)
	d, err := parseDocument(got.body)
	require.NoError(t, err)
	require.NotEmpty(t, d.operations)
	return d
}

var permissionPattern = regexp.MustCompile("`([a-z_]+\\.[a-z_]+)`")

func parseDocument(raw []byte) (*document, error) {
	d := &document{raw: string(raw)}
	if err := json.Unmarshal(raw, &d.root); err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat = true
	if err := compiler.AddResource("api.json", bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	for path, item := range object(d.root["paths"]) {
		for method, v := range object(item) {
			raw, ok := v.(node)
			if !ok || method == "parameters" {
				continue
			}
			d.operations = append(d.operations, d.operation(compiler, path, method, raw))
		}
	}
	for name, schema := range map[string]**jsonschema.Schema{
		"ToolEvent": &d.event, "StreamEnd": &d.end, "ToolTest": &d.test, "SpaceMessage": &d.message,
	} {
		if object(object(d.root["components"])["schemas"])[name] != nil {
			*schema = d.compile(compiler, "api.json#/components/schemas/"+name)
		}
	}
	slices.SortFunc(d.operations, func(a, b *operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return d, nil
}

func (d *document) operation(compiler *jsonschema.Compiler, path, method string, raw node) *operation {
	at := "api.json#/paths/" + escape(path) + "/" + method
	o := &operation{
		id: text(raw["operationId"]), method: strings.ToUpper(method), path: path, bodies: map[string]node{},
		bodySchemas: map[string]*jsonschema.Schema{}, answers: map[string]map[string]*jsonschema.Schema{},
		secured: len(list(raw["security"])) > 0,
	}
	if _, permission, ok := strings.Cut(text(raw["description"]), "Permission:"); ok {
		for _, m := range permissionPattern.FindAllStringSubmatch(permission, -1) {
			o.permissions = append(o.permissions, m[1])
		}
	}
	for _, p := range list(raw["parameters"]) {
		p := d.resolve(object(p))
		required, _ := p["required"].(bool)
		o.parameters = append(o.parameters, parameter{
			text(p["name"]), text(p["in"]), required, d.resolve(object(p["schema"])),
		})
	}
	body := object(raw["requestBody"])
	o.bodyRequired, _ = body["required"].(bool)
	for media, content := range object(body["content"]) {
		o.bodies[media] = d.resolve(object(object(content)["schema"]))
		o.bodySchemas[media] = d.compile(compiler, at+"/requestBody/content/"+escape(media)+"/schema")
	}
	for status, answer := range object(raw["responses"]) {
		o.answers[status] = map[string]*jsonschema.Schema{}
		for media, content := range object(object(answer)["content"]) {
			o.answers[status][media] = nil
			if object(content)["schema"] != nil {
				o.answers[status][media] = d.compile(compiler, at+"/responses/"+status+"/content/"+escape(media)+"/schema")
			}
		}
	}
	return o
}

// compile compiles a schema of the description. One that can't be is a fault
// of the description, and nil.
func (d *document) compile(compiler *jsonschema.Compiler, at string) *jsonschema.Schema {
	compiled, err := compiler.Compile(at)
	if err != nil {
		d.faults = append(d.faults, err.Error())
	}
	return compiled
}

// resolve follows a reference within the description.
func (d *document) resolve(n node) node {
	for {
		ref, ok := n["$ref"].(string)
		if !ok {
			return n
		}
		var v any = d.root
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			v = object(v)[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
		n = object(v)
	}
}

// escape makes a name a part of a JSON Pointer in a URL.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}

// object, list and text return what v is, or nothing.
func object(v any) node {
	n, _ := v.(node)
	return n
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
