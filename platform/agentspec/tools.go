package agentspec

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

// transform is the built-in that puts inputs and outputs together where bindings can't.
const transform = "json_transform"

// tool returns the slug of a tool of the document. Requests and tools of clients become tools; others have to exist.
func (im *importer) tool(c *component) string {
	switch c.kind() {
	case "RemoteTool":
		inputs, _ := im.properties(c, "inputs")
		if len(inputs) == 0 {
			for _, name := range placeholdersIn(c.fields) {
				inputs = append(inputs, property{name: name, schema: map[string]any{"type": "string"}})
			}
		}
		outputs, _ := im.properties(c, "outputs")
		return im.request(c, inputs, outputs, false)
	case "ClientTool":
		return im.client(c)
	case "ServerTool", "MCPTool", "BuiltinTool":
	default:
		im.fault(c.path+"/"+keyType, "a tool of type %.80q has no counterpart", c.kind())
		return "unknown"
	}
	slug := slugOf(c.text("name"), "tool")
	if given, ok := c.own()["tool"].(string); ok {
		if ref, err := tool.ParseRef(given); err == nil && slugOf(ref.Slug, "") != "" {
			slug = ref.Slug
		}
	}
	switch {
	case c.kind() == "MCPTool":
		im.lose(c.path, Needed, "the tool %q of an MCP server: attach the server, whose address is not taken over", slug)
	default:
		outputs, _ := im.properties(c, "outputs")
		has := ""
		if len(outputs) > 0 {
			var members []string
			for _, p := range outputs {
				members = append(members, p.name)
			}
			has = ", which answers an object with " + strings.Join(members, ", ")
		}
		im.lose(c.path, Needed, "the tool %q%s", slug, has)
	}
	if c.fields["requires_confirmation"] == true {
		im.lose(c.path+"/requires_confirmation", Dropped, "set permission_policy: always_ask of the tool %q", slug)
	}
	return slug
}

// client makes a tool that is answered from outside.
func (im *importer) client(c *component) string {
	slug, fresh := im.claim(c, "clientTool")
	if !fresh {
		return slug
	}
	inputs, _ := im.properties(c, "inputs")
	outputs, _ := im.properties(c, "outputs")
	d := definition{
		Kind: "tool", Slug: slug, Implementation: string(tool.Client), InputSchema: objectSchema(inputs, true),
		Interaction: map[string]any{"intent": "action", "requires_response": true},
	}
	if len(outputs) > 0 {
		d.OutputSchema = objectSchema(outputs, false)
	}
	if c.fields["requires_confirmation"] == true {
		d.PermissionPolicy = string(tool.PermissionAlwaysAsk)
	}
	im.add(c, d)
	return slug
}

var reading = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

// request makes an http tool of a request, of a node or a tool.
func (im *importer) request(c *component, inputs, outputs []property, node bool) string {
	slug, fresh := im.claim(c, "request")
	if !fresh {
		return slug
	}
	config := map[string]any{}
	method := strings.ToUpper(c.text("http_method"))
	if placeholder.MatchString(method) {
		im.fault(c.path+"/http_method", "the method is %.40q: a tool has one method", method)
	}
	config["method"] = method
	config["url"] = im.url(c, config)
	for _, part := range []struct{ member, field string }{{"query_params", "query"}, {"headers", "headers"}} {
		values := map[string]any{}
		given := c.object(part.member)
		for _, name := range sortedKeys(given) {
			if v, ok := im.value(given[name], c.path+"/"+part.member+"/"+name); ok {
				values[name] = v
			}
		}
		if len(values) > 0 {
			config[part.field] = values
		}
	}
	im.payload(c, method, config)
	for _, name := range []string{"api_spec_uri", "sensitive_headers"} {
		if v := c.fields[name]; v != nil && plain(v) != "" && plain(v) != "{}" {
			im.lose(c.path+"/"+name, Dropped, "an http tool has no %s%s", name,
				map[bool]string{true: ": add a credential as auth"}[name == "sensitive_headers"])
		}
	}
	if len(outputs) == 0 && node {
		outputs = []property{{name: "response", schema: map[string]any{}}}
	}
	switch {
	case len(outputs) == 1:
		config["result"] = map[string]any{outputs[0].name: map[string]any{"from": ""}}
	case len(outputs) > 1:
		result := map[string]any{}
		for _, p := range outputs {
			result[p.name] = map[string]any{"from": "/" + p.name}
		}
		config["result"] = result
	}
	d := definition{
		Kind: "tool", Slug: slug, Implementation: string(tool.HTTP), Config: config, EgressClass: string(tool.EgressWrite),
		InputSchema: objectSchema(inputs, true),
	}
	if slices.Contains(reading, method) {
		d.EgressClass, d.Execution = string(tool.EgressReadOnly), map[string]any{"is_pure": true}
	}
	if c.fields["requires_confirmation"] == true {
		d.PermissionPolicy = string(tool.PermissionAlwaysAsk)
	}
	if err := httpcall.CheckConfig(encode(config)); err != nil {
		im.fault(c.path, "the request makes no http tool: %s", tool.AsError(err).Msg)
	}
	im.add(c, d)
	return slug
}

var wholePlaceholder = regexp.MustCompile(`^` + placeholder.String() + `$`)

// value makes a value of a request: a text, or that of an argument.
func (im *importer) value(v any, path string) (any, bool) {
	text, ok := v.(string)
	if !ok {
		return plain(v), true
	}
	if m := wholePlaceholder.FindStringSubmatch(text); m != nil {
		return map[string]any{"from": "/" + m[1]}, true
	}
	if placeholder.MatchString(text) {
		im.lose(path, Dropped, "the value mixes text and placeholders: make it one argument")
		return nil, false
	}
	return text, true
}

// url writes an address with placeholders as a template.
func (im *importer) url(c *component, config map[string]any) string {
	variables := map[string]any{}
	out := placeholder.ReplaceAllStringFunc(c.text("url"), func(found string) string {
		name := placeholder.FindStringSubmatch(found)[1]
		if plainName.MatchString(name) {
			return "{" + name + "}"
		}
		variables[identifier(name)] = map[string]any{"from": "/" + name}
		return "{" + identifier(name) + "}"
	})
	if len(variables) > 0 {
		config["variables"] = variables
	}
	return out
}

// payload makes the body of a request.
func (im *importer) payload(c *component, method string, config map[string]any) {
	data := c.fields["data"]
	if o, ok := data.(map[string]any); data == nil || ok && len(o) == 0 {
		if !slices.Contains(reading, method) {
			config["body"] = nil
		}
		return
	}
	if slices.Contains(reading, method) {
		im.lose(c.path+"/data", Dropped, "a request by %s has no body", method)
		return
	}
	if text, ok := data.(string); ok {
		m := wholePlaceholder.FindStringSubmatch(text)
		if m == nil {
			im.lose(c.path+"/data", Dropped, "the body is a text with placeholders: make it one argument")
			config["body"] = nil
			return
		}
		config["body_type"] = "raw"
		config["body"] = map[string]any{"from": "/" + m[1], "content_type": "text/plain"}
		return
	}
	config["body"] = im.filled(data, c.path+"/data")
}

// filled replaces placeholders in a JSON body.
func (im *importer) filled(v any, path string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range sortedKeys(v) {
			out[key] = im.filled(v[key], path+"/"+key)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = im.filled(v[i], path)
		}
		return out
	case string:
		if b, ok := im.value(v, path); ok {
			return b
		}
		return nil
	}
	return v
}
