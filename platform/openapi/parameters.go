package openapi

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// places are the locations of parameters, in the order in which they are
// mapped.
var places = []string{"path", "query", "header", "cookie"}

// platformHeaders are set by the platform, the protocol or other parts of the
// document.
var platformHeaders = map[string]string{
	"Accept": "it follows from the answers", "Content-Type": "it follows from the body",
	"Authorization":   "it follows from the security schemes",
	"Idempotency-Key": "the platform sets it, the same for all attempts of a call",
	"Cookie":          "cookies are parameters of their own",
	"Accept-Encoding": "", "Connection": "", "Content-Length": "", "Expect": "", "Host": "", "Keep-Alive": "", "Te": "",
	"Trailer":           "",
	"Transfer-Encoding": "", "Upgrade": "",
}

// parameter is a parameter of a document.
type parameter struct {
	object
	pointer string
}

// parameters reads the parameters of the path and of the operation, of which
// the latter replace the former.
func (b *builder) parameters() error {
	found := make(map[string]parameter)
	for _, from := range []struct {
		list    []any
		pointer string
	}{
		{b.item.list("parameters"), b.pointer[:strings.LastIndexByte(b.pointer, '/')] + "/parameters"},
		{b.op.list("parameters"), b.pointer + "/parameters"},
	} {
		for i, raw := range from.list {
			o, at, err := b.mapper.doc.follow(raw, from.pointer+"/"+itoa(i))
			if err != nil {
				return err
			}
			name, in := o.text("name"), o.text("in")
			if name == "" || !slices.Contains(places, in) {
				return refuse(at, "expected a parameter with a name, in path, query, header or cookie")
			}
			found[in+" "+name] = parameter{o, at}
		}
	}
	for _, place := range places {
		for _, id := range slices.Sorted(maps.Keys(found)) {
			if found[id].text("in") != place {
				continue
			}
			if err := b.parameter(place, found[id]); err != nil {
				return err
			}
		}
	}
	return b.undeclared()
}

func (b *builder) parameter(place string, p parameter) error {
	wire, required := p.text("name"), p.flag("required")
	if len(wire) > 200 || clean(wire, 200) != wire {
		return refuse(p.pointer, "the parameter has a name that cannot be sent")
	}
	switch place {
	case "path":
		if !strings.Contains(b.path, "{"+wire+"}") {
			b.lost.add(p.pointer, "the path has no {%s}", wire)
			return nil
		}
		required = true
	case "header":
		if reason, set := platformHeaders[http.CanonicalHeaderKey(wire)]; set ||
			strings.HasPrefix(http.CanonicalHeaderKey(wire), "Proxy-") {
			if reason == "" {
				reason = "the protocol sets it"
			}
			b.lost.add(p.pointer, "the header %s is not an argument: %s", http.CanonicalHeaderKey(wire), reason)
			return nil
		}
	}
	if (place == "header" || place == "cookie") && secret.SensitiveKey(wire) || place == "query" && b.authenticates(wire) {
		b.mapper.secretNames[wire] = true
		b.secrets = append(b.secrets, secretParameter{place, wire, required, p.pointer})
		return nil
	}
	schema, asJSON, err := b.parameterSchema(p)
	if err != nil {
		return err
	}
	a := &argument{place: place, wire: wire, schema: schema, required: required}
	if place == "path" { // The URL template defines its style.
		if asJSON {
			return refuse(p.pointer, "the path parameter %s is JSON, which URL templates do not support", wire)
		}
		b.arguments = append(b.arguments, a)
		return nil
	}
	style := b.style(place, p, asJSON)
	switch place {
	case "query":
		a.use = func(from *httpcall.Pointer) { put(&b.config.Query, wire, httpcall.Value{From: from, Style: style}) }
	case "header":
		a.use = func(from *httpcall.Pointer) { put(&b.config.Headers, wire, httpcall.Value{From: from, Style: style}) }
	case "cookie":
		a.use = func(from *httpcall.Pointer) { put(&b.config.Cookies, wire, httpcall.Value{From: from, Style: style}) }
	}
	b.arguments = append(b.arguments, a)
	return nil
}

func put(values *httpcall.Values, name string, v httpcall.Value) {
	if *values == nil {
		*values = make(httpcall.Values)
	}
	(*values)[name] = v
}

// parameterSchema converts the schema of a parameter. asJSON reports whether
// its value is written as JSON.
func (b *builder) parameterSchema(p parameter) (schema any, asJSON bool, err error) {
	raw, at := p.object["schema"], p.pointer+"/schema"
	if content := p.object.object("content"); len(content) > 0 {
		media := slices.Sorted(maps.Keys(content))[0]
		raw, at, asJSON = content.object(media)["schema"], p.pointer+"/content/"+jsonpointer.Escape(media)+
			"/schema", isJSON(media)
		if !asJSON {
			b.lost.add(p.pointer+"/content", "the parameter is sent as text: %s is not supported", clip(media, 60))
		}
	}
	if raw == nil {
		raw = map[string]any{}
		if p.object["type"] != nil {
			b.lost.add(p.pointer, "it has no schema")
		}
	}
	schema, err = b.sent.schema(raw, at, &b.lost)
	if err != nil {
		return nil, false, err
	}
	return b.described(schema, p.object), asJSON, nil
}

// described adds to a schema the annotations beside it, such as the description.
func (b *builder) described(schema any, o object) any {
	m, ok := schema.(map[string]any)
	if !ok {
		m = map[string]any{}
		if schema == false {
			m = map[string]any{"not": map[string]any{}}
		}
	}
	m = maps.Clone(m)
	if text := prose(o.text("description"), MaxSchemaDescription); text != "" {
		m["description"] = text
	}
	if o.flag("deprecated") {
		m["deprecated"] = true
	}
	if v, ok := o["example"]; ok && small(v) {
		m["examples"] = []any{v}
	}
	return m
}

// style returns the serialization style of an array or object.
func (b *builder) style(place string, p parameter, asJSON bool) httpcall.Style {
	if asJSON {
		return httpcall.StyleJSON
	}
	name, kind := p.text("style"), b.kindOf(p.object["schema"])
	if name == "" {
		name = map[string]string{"path": "simple", "header": "simple", "query": "form", "cookie": "form"}[place]
	}
	explode, given := p.object["explode"].(bool)
	if !given {
		explode = name == "form"
	}
	if p.flag("allowReserved") {
		b.lost.add(p.pointer+"/allowReserved", "reserved characters are escaped anyway")
	}
	style, known := styleOf(name, kind, explode)
	switch {
	case name == "deepObject" && kind == "array":
		b.lost.add(p.pointer+"/style", "OpenAPI does not define deepObject for lists: it is written as %s[]=…",
			clip(p.text("name"), 60))
	case !known && kind != "":
		b.lost.add(p.pointer+"/style", "the style %s is not supported for %s", clean(name, 40), clean(kind, 20))
	}
	if place == "query" || style == "" {
		return style
	}
	if place == "cookie" && explode && style == httpcall.StyleRepeat {
		b.lost.add(p.pointer+"/explode", "items of a cookie are joined by commas")
		return ""
	}
	if style == httpcall.StyleRepeat {
		return httpcall.StyleComma // One header for all items.
	}
	return style
}

// styleOf translates OpenAPI's styles of arrays and objects.
func styleOf(name, kind string, explode bool) (httpcall.Style, bool) {
	isObject, isArray := kind == "object", kind == "array"
	if !isObject && !isArray {
		return "", true
	}
	switch {
	case name == "deepObject":
		return httpcall.StyleDeep, isObject
	case explode && isObject:
		return httpcall.StylePairs, name == "form" || name == "simple"
	case explode:
		return httpcall.StyleRepeat, true
	case name == "form", name == "simple":
		return httpcall.StyleComma, true
	case name == "spaceDelimited":
		return httpcall.StyleSpace, isArray
	case name == "pipeDelimited":
		return httpcall.StylePipe, isArray
	default:
		return "", false
	}
}

// kindOf returns "array" or "object" for a schema that admits one of them, and
// else nothing.
func (b *builder) kindOf(schema any) string {
	o, _, err := b.mapper.doc.follow(schema, "")
	if err != nil {
		return ""
	}
	for _, name := range typeNames(o) {
		if name == "array" || name == "object" {
			return name
		}
	}
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		for _, part := range o.list(keyword) {
			of, _, err := b.mapper.doc.follow(part, "")
			if err != nil {
				continue
			}
			for _, name := range typeNames(of) {
				if name == "array" || name == "object" {
					return name
				}
			}
		}
	}
	switch {
	case o["properties"] != nil:
		return "object"
	case o["items"] != nil:
		return "array"
	default:
		return ""
	}
}

var inPath = regexp.MustCompile(`\{([^{}]*)\}`)

// undeclared adds the variables of the path that no parameter declares.
func (b *builder) undeclared() error {
	if strings.ContainsAny(inPath.ReplaceAllString(b.path, ""), "{}") {
		return refuse(b.pointer, "its path has an unmatched brace")
	}
	for _, match := range inPath.FindAllStringSubmatch(b.path, -1) {
		if slices.ContainsFunc(b.arguments, func(a *argument) bool { return a.place == "path" && a.wire == match[1] }) {
			continue
		}
		b.lost.add(b.pointer+"/parameters", "no parameter declares {%s} of the path: it takes any text", match[1])
		b.arguments = append(
			b.arguments, &argument{place: "path", wire: match[1], required: true, schema: map[string]any{"type": "string"}},
		)
	}
	return nil
}

// pathStyle returns how a path parameter is written by RFC 6570: what goes
// before its name and after it.
func (b *builder) pathStyle(wire string) (before, after string) {
	for _, list := range [][]any{b.op.list("parameters"), b.item.list("parameters")} {
		for _, raw := range list {
			o, _, err := b.mapper.doc.follow(raw, "")
			if err != nil || o.text("in") != "path" || o.text("name") != wire {
				continue
			}
			if o.flag("explode") && b.kindOf(o["schema"]) != "" {
				after = "*"
			}
			return map[string]string{"label": ".", "matrix": ";"}[o.text("style")], after
		}
	}
	return "", ""
}

var variableName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// useArguments fills in the configuration.
func (b *builder) useArguments(server string) error {
	var failed error
	expressions := make(map[string]string)
	for _, a := range b.arguments {
		from, err := httpcall.ParsePointer("/" + jsonpointer.Escape(a.name))
		if err != nil {
			return err
		}
		if a.use != nil {
			a.use(&from)
			continue
		}
		before, after := b.pathStyle(a.wire)
		variable := a.name
		if before == ";" && a.wire != a.name { // Matrix style writes the name itself.
			if !variableName.MatchString(a.wire) {
				failed = refuse(b.pointer, "the path parameter %s in the style matrix is not supported by URL templates",
					clean(a.wire, 60))
			}
			variable = a.wire
			put(&b.config.Variables, variable, httpcall.Value{From: &from})
		}
		expressions[a.wire] = "{" + before + variable + after + "}"
	}
	var url strings.Builder
	last := 0
	for _, span := range inPath.FindAllStringSubmatchIndex(b.path, -1) {
		url.WriteString(literalPath(b.path[last:span[0]]) + expressions[b.path[span[2]:span[3]]])
		last = span[1]
	}
	url.WriteString(literalPath(b.path[last:]))
	b.config.URL = server + url.String()
	return failed
}

// literalPath escapes characters that are not allowed in a path.
func literalPath(text string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		if c == '%' || c == '/' || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0 ||
			c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			out.WriteByte(c)
		} else {
			_, _ = fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// inputSchema returns the schema of the arguments.
func (b *builder) inputSchema() ([]byte, error) {
	properties := make(map[string]any, len(b.arguments))
	required := []any{}
	for _, a := range b.arguments {
		properties[a.name] = a.saying()
		if a.required {
			required = append(required, a.name)
		}
	}
	root := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		root["required"] = required
	}
	root, err := b.sent.assemble(root, &b.lost)
	if err != nil {
		return nil, err
	}
	raw, err := b.sent.finish(root, &b.lost)
	if err != nil {
		return nil, refuse(b.pointer, "its input: %s", strings.TrimPrefix(tool.AsError(err).Msg, "the document: "))
	}
	return raw, nil
}

func sortedKeys(o object) []string { return slices.Sorted(maps.Keys(o)) }
