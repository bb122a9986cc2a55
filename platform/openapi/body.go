package openapi

import (
	"encoding/json"
	"maps"
	"mime"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/mediatype"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Kinds of bodies.
const (
	jsonBody      = "json"
	formBody      = "form"
	multipartBody = "multipart"
	rawBody       = "raw"
)

// body maps the body of a request.
func (b *builder) body() error {
	hasBody := slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, b.out.Method)
	if hasBody {
		b.config.Body = json.RawMessage("null")
	}
	raw, ok := b.op["requestBody"]
	if !ok {
		return nil
	}
	request, at, err := b.mapper.doc.follow(raw, b.pointer+"/requestBody")
	switch {
	case err != nil:
		return err
	case !hasBody && request.flag("required"):
		return refuse(at, "requests of the method %s have no body", b.out.Method)
	case !hasBody:
		b.lost.add(at, "the body is not sent: requests of the method %s have no body", b.out.Method)
		return nil
	}
	media, kind := b.chooseMedia(request.object("content"))
	if media == "" {
		b.lost.add(at, "the body is not sent: it declares no content")
		return nil
	}
	content, at := request.object("content").object(media), at+"/content/"+jsonpointer.Escape(media)
	m := medium{content, at, media, request}
	switch kind {
	case jsonBody:
		return b.jsonBody(m)
	case formBody:
		return b.formBody(m)
	case multipartBody:
		return b.multipartBody(m)
	default:
		return b.rawBody(m)
	}
}

// medium is a body in one media type.
type medium struct {
	object
	pointer string
	name    string // The media type.
	request object
}

func (m medium) required() bool { return m.request.flag("required") }

func (m medium) schema() any {
	if m.object["schema"] == nil {
		return map[string]any{}
	}
	return m.object["schema"]
}

// chooseMedia chooses one of the media types of a body, in this order: JSON, form,
// multipart, text, any other.
func (b *builder) chooseMedia(content object) (media, kind string) {
	rank := func(name string) (int, string) {
		base := baseType(name)
		switch {
		case base == "application/json":
			return 0, jsonBody
		case isJSON(base):
			return 1, jsonBody
		case (base == "*/*" || base == "application/*") && b.kindOf(content.object(name)["schema"]) != "":
			return 2, jsonBody
		case base == "application/x-www-form-urlencoded":
			return 3, formBody
		case base == "multipart/form-data":
			return 4, multipartBody
		case base == "text/plain":
			return 5, rawBody
		case strings.HasPrefix(base, "text/"):
			return 6, rawBody
		default:
			return 7, rawBody
		}
	}
	best := 8
	for _, name := range sortedKeys(content) {
		if n, k := rank(name); n < best {
			best, media, kind = n, name, k
		}
	}
	return media, kind
}

func baseType(media string) string {
	base, _, err := mime.ParseMediaType(media)
	if err != nil {
		base, _, _ = strings.Cut(strings.ToLower(media), ";")
	}
	return strings.TrimSpace(base)
}

func isJSON(media string) bool { return mediatype.IsJSON(baseType(media)) }

// property is a member of a body that becomes an argument.
type property struct {
	name     string
	schema   any
	pointer  string
	required bool
}

// flatten lists the members of a body that can become separate arguments without
// loss of its schema.
func (b *builder) flatten(m medium) ([]property, bool) {
	members := make(map[string]property)
	required := make(map[string]bool)
	if !b.gather(m.schema(), m.pointer+"/schema", members, required) || len(members) == 0 || len(members) > maxFlat {
		return nil, false
	}
	if !m.required() && len(required) > 0 { // Without a body, none of them is required.
		return nil, false
	}
	list := make([]property, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		p := members[name]
		if b.sent.otherWay(p.schema) {
			delete(required, name)
			continue
		}
		p.required = required[name]
		delete(required, name)
		list = append(list, p)
	}
	return list, len(required) == 0 && len(list) > 0
}

// flatKeywords are the keywords of schemas that can be flattened.
var flatKeywords = []string{
	"type", "properties", "required", "allOf", "title", "description", "example", "examples", "deprecated", "xml",
	"externalDocs",
	"additionalProperties", "nullable", "$comment", "$ref", "readOnly", "writeOnly",
}

// gather collects the members of an object schema and of the schemas that it is
// composed of, and the names of the required ones. It reports whether the
// schema consists of nothing else.
func (b *builder) gather(v any, pointer string, members map[string]property, required map[string]bool) bool {
	return b.mapper.doc.composed(v, pointer, false, func(raw any, o object, at string) bool {
		return b.gatherOne(raw, o, at, members, required)
	})
}

func (b *builder) gatherOne(
	v any, o object, at string, members map[string]property, required map[string]bool,
) bool {
	if beside := asObject(v); beside["$ref"] != nil && !b.mapper.doc.legacy {
		for name := range beside {
			if !slices.Contains(annotations, name) && !strings.HasPrefix(name, "x-") {
				return false
			}
		}
	}
	for name := range o {
		if !slices.Contains(flatKeywords, name) && !strings.HasPrefix(name, "x-") {
			return false
		}
	}
	kind, hasType := o["type"]
	if hasType && kind != "object" || o.flag("nullable") {
		return false
	}
	if more, ok := o["additionalProperties"]; ok && more != false {
		return false
	}
	for name, schema := range o.object("properties") {
		if have, twice := members[name]; twice && !reflect.DeepEqual(have.schema, schema) {
			return false
		}
		members[name] = property{name: name, schema: schema, pointer: at + "/properties/" + jsonpointer.Escape(name)}
	}
	for _, name := range o.list("required") {
		if text, ok := name.(string); ok {
			required[text] = true
		}
	}
	return true
}

// members makes the members of a body arguments, and reports whether it could.
func (b *builder) members(m medium, use func(p property, from *httpcall.Pointer)) (bool, error) {
	list, ok := b.flatten(m)
	if !ok {
		return false, nil
	}
	for _, p := range list {
		schema, err := b.sent.schema(p.schema, p.pointer, &b.lost)
		if err != nil {
			return false, err
		}
		b.arguments = append(b.arguments, &argument{
			place: "body", wire: p.name, schema: schema, required: p.required, field: true,
			use: func(from *httpcall.Pointer) { use(p, from) },
		})
	}
	return true, nil
}

// whole makes the whole body one argument.
func (b *builder) whole(m medium, schema any, use func(from *httpcall.Pointer)) {
	beside := object{"description": m.request["description"]}
	if example, ok := m.object["example"]; ok {
		beside["example"] = example
	}
	b.arguments = append(b.arguments, &argument{
		place: "body", wire: "body", schema: b.described(schema, beside), required: m.required(), use: use,
	})
}

func (b *builder) jsonBody(m medium) error {
	if base := baseType(m.name); base != "application/json" && !strings.Contains(base, "*") {
		put(&b.config.Headers, "Content-Type", httpcall.Value{Literal: m.name})
	}
	template := make(map[string]*reference)
	ok, err := b.members(m, func(p property, from *httpcall.Pointer) {
		template[p.name] = &reference{from.String()}
		b.config.Body = encoded(template)
	})
	if ok || err != nil {
		return err
	}
	schema, err := b.sent.schema(m.schema(), m.pointer+"/schema", &b.lost)
	if err != nil {
		return err
	}
	b.whole(m, schema, func(from *httpcall.Pointer) { b.config.Body = encoded(reference{from.String()}) })
	return nil
}

// reference is a place in a configuration that an argument fills.
type reference struct {
	From string `json:"from"`
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // Impossible: it has strings only.
		return json.RawMessage("null")
	}
	return raw
}

func (b *builder) formBody(m medium) error {
	b.config.BodyType = formBody
	var fields httpcall.Values
	ok, err := b.members(m, func(p property, from *httpcall.Pointer) {
		put(&fields, p.name, httpcall.Value{From: from, Style: b.fieldStyle(m, p)})
		b.config.Body = encoded(fields)
	})
	if ok || err != nil {
		return err
	}
	schema, err := b.sent.schema(m.schema(), m.pointer+"/schema", &b.lost)
	if err != nil {
		return err
	}
	b.lost.add(
		m.pointer+"/schema", "the form is one argument: its lists are repeated fields, its objects are sent as JSON",
	)
	b.whole(m, schema, func(from *httpcall.Pointer) { b.config.Body = encoded(reference{from.String()}) })
	return nil
}

// fieldStyle returns the serialization style of a form field.
func (b *builder) fieldStyle(m medium, p property) httpcall.Style {
	encoding, kind := m.object.object("encoding").object(p.name), b.kindOf(p.schema)
	name := encoding.text("style")
	if name == "" && isJSON(encoding.text("contentType")) && kind != "" {
		return httpcall.StyleJSON
	}
	if name == "" {
		name = "form"
	}
	explode, given := encoding["explode"].(bool)
	if !given {
		explode = name == "form"
	}
	style, known := styleOf(name, kind, explode)
	if !known {
		b.lost.add(m.pointer+"/encoding/"+jsonpointer.Escape(p.name), "the style %s is not supported for %s", clean(name, 40),
			kind)
	}
	return style
}

// part is a part of a body, as a configuration has it.
type part struct {
	From        string     `json:"from"`
	Encoding    string     `json:"encoding,omitempty"`
	FileName    *reference `json:"file_name,omitempty"`
	ContentType string     `json:"content_type,omitempty"`
}

func (b *builder) multipartBody(m medium) error {
	list, ok := b.flatten(m)
	if !ok {
		return refuse(
			m.pointer+"/schema",
			"the parts of the body are unknown: expected an object whose members are the parts, and a body that is "+
				"required if one of them is",
		)
	}
	b.config.BodyType = multipartBody
	parts := make(map[string]*part)
	for _, p := range list {
		schema, err := b.sent.schema(p.schema, p.pointer, &b.lost)
		if err != nil {
			return err
		}
		out := &part{ContentType: b.partType(m, p)}
		parts[p.name] = out
		if b.isBinary(p.schema) {
			out.Encoding, schema = "base64", asBase64(schema)
			b.arguments = append(b.arguments, &argument{
				place: "body", wire: p.name + "_file_name", schema: map[string]any{
					"type": "string", "maxLength": 255, "description": "The name of the file in " + clip(p.name, 60) + ".",
					"examples": []any{"report.pdf"},
				},
				use: func(from *httpcall.Pointer) { out.FileName = &reference{from.String()}; b.config.Body = encoded(parts) },
			})
		}
		b.arguments = append(b.arguments, &argument{
			place: "body", wire: p.name, schema: schema, required: p.required,
			use: func(from *httpcall.Pointer) { out.From = from.String(); b.config.Body = encoded(parts) },
		})
	}
	return nil
}

// partType returns the content type that a part is declared to have.
func (b *builder) partType(m medium, p property) string {
	at := m.pointer + "/encoding/" + jsonpointer.Escape(p.name)
	encoding := m.object.object("encoding").object(p.name)
	if len(encoding.object("headers")) > 0 {
		b.lost.add(at+"/headers", "headers of a part are not sent")
	}
	if encoding.text("style") != "" && b.kindOf(p.schema) != "" {
		b.lost.add(
			at+"/style", "styles of parts are not supported: an object is sent as JSON, an array as a part for each item",
		)
	}
	declared := encoding.text("contentType")
	if declared == "" || strings.Contains(declared, "*") {
		return ""
	}
	first, _, several := strings.Cut(declared, ",")
	if several {
		b.lost.add(at+"/contentType", "of several content types, %s is sent", clean(first, 60))
	}
	return strings.TrimSpace(first)
}

// isBinary reports whether a schema is of bytes, or of a list of them.
func (b *builder) isBinary(schema any) bool {
	o, _, err := b.mapper.doc.follow(schema, "")
	if err != nil {
		return false
	}
	if b.kindOf(schema) == "array" {
		return o["items"] != nil && b.isBinary(o["items"])
	}
	media := o.text("contentMediaType")
	switch {
	case o.text("format") == "binary", o.text("contentEncoding") == "base64" && media != "":
		return true
	case media != "" && !isJSON(media) && !strings.HasPrefix(media, "text/"):
		return o.text("contentEncoding") == ""
	}
	return false
}

// asBase64 changes a schema of bytes to one of a base64 text.
func asBase64(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	m = maps.Clone(m)
	if items, ok := m["items"]; ok {
		m["items"] = asBase64(items)
		return m
	}
	for _, keyword := range []string{"format", "contentMediaType", "$ref", "maxLength", "minLength", "pattern"} {
		delete(m, keyword)
	}
	m["type"], m["contentEncoding"] = "string", "base64"
	text, _ := m["description"].(string)
	m["description"] = strings.TrimSpace(text + " In base64.")
	return m
}

func (b *builder) rawBody(m medium) error {
	b.config.BodyType = rawBody
	base := baseType(m.name)
	out := part{ContentType: m.name}
	schema, err := b.sent.schema(m.schema(), m.pointer+"/schema", &b.lost)
	if err != nil {
		return err
	}
	isText := strings.HasPrefix(base, "text/") || strings.HasSuffix(base, "xml") || strings.Contains(base, "json") ||
		strings.Contains(base, "yaml")
	if strings.Contains(base, "*") {
		out.ContentType = map[bool]string{true: "text/plain", false: "application/octet-stream"}[isText]
		b.lost.add(m.pointer, "the body is sent as %s", out.ContentType)
	}
	switch kind := b.kindOf(m.schema()); {
	case isText && kind != "":
		b.lost.add(m.pointer, "the body is a text of %s: it is not built from an %s", clip(base, 60), kind)
		schema = map[string]any{"type": "string", "description": "The body, as " + clip(base, 60) + "."}
	case isText:
		schema = b.described(map[string]any{"type": "string"}, asObject(schema))
	default:
		out.Encoding, schema = "base64", asBase64(map[string]any{"description": asObject(schema).text("description")})
	}
	b.whole(m, schema, func(from *httpcall.Pointer) {
		out.From = from.String()
		b.config.Body = encoded(out)
	})
	return nil
}
