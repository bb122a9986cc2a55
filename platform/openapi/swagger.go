package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// swaggerVersion is the version of OpenAPI that is converted to 3.0.
const swaggerVersion = "2.0"

// convertSwagger converts a document from Swagger 2.0 to OpenAPI 3.0. A path that
// cannot be converted is left out, with a note. Pointers in the result refer to
// the converted document.
func (d *document) convertSwagger() error {
	d.version, d.legacy = swaggerVersion, true
	d.notes = append(d.notes, Loss{
		"/swagger", "it is Swagger 2.0, converted to OpenAPI 3.0: pointers refer to the converted document",
	})
	paths := d.root.object("paths")
	if err := d.boundSwagger(paths); err != nil {
		return err
	}
	for _, path := range sortedKeys(paths) {
		if item := asObject(paths[path]); item != nil {
			d.completeItem(item, "/paths/"+jsonpointer.Escape(path))
		}
	}
	raw, err := json.Marshal(d.root)
	if err != nil {
		return refuse("", "%s", err)
	}
	var old openapi2.T
	if err := json.Unmarshal(raw, &old); err != nil {
		return refuse("", "it cannot be read as Swagger 2.0: %s", clean(err.Error(), 300))
	}
	converted, err := d.assembleSwagger(&old)
	if err != nil {
		return refuse("", "it cannot be converted to OpenAPI 3.0: %s", clean(err.Error(), 300))
	}
	if raw, err = json.Marshal(converted); err != nil {
		return refuse("", "it cannot be converted to OpenAPI 3.0: %s", clean(err.Error(), 300))
	}
	v, err := readJSON(raw)
	if err != nil {
		return refuse("", "%s", err)
	}
	lists := d.formLists()
	d.root = asObject(v)
	d.restoreForms(lists)
	return nil
}

// Limits of the media types that are repeated for each operation.
const (
	maxMediaTypes = 20
	maxMediaType  = 200 // Bytes.
)

// boundSwagger bounds the values that the conversion repeats for each operation,
// such as media types of the document.
func (d *document) boundSwagger(paths object) error {
	operations := 0
	for _, item := range paths {
		operations += len(asObject(item))
	}
	if operations > maxAll {
		return refuse("/paths", "it has more than %d operations: split it", maxAll)
	}
	for _, kind := range []string{"consumes", "produces"} {
		list := d.root.list(kind)
		if len(list) > maxMediaTypes {
			return refuse("/"+kind, "it has %d media types: at most %d are supported", len(list), maxMediaTypes)
		}
		for i, v := range list {
			if text, ok := v.(string); !ok || len(text) > maxMediaType {
				return refuse("/"+kind+"/"+itoa(i), "expected a media type of at most %d characters", maxMediaType)
			}
		}
	}
	return nil
}

// completeItem sets the defaults of Swagger 2.0 that the conversion lacks: media
// types of the document, forms without one, and lists joined by commas.
func (d *document) completeItem(item object, at string) {
	d.completeParameters(item.list("parameters"), at)
	for _, method := range methods {
		op := asObject(item[method])
		if op == nil {
			continue
		}
		d.completeParameters(op.list("parameters"), at+"/"+method)
		for _, kind := range []string{"consumes", "produces"} {
			if op[kind] == nil && d.root[kind] != nil {
				op[kind] = d.root[kind]
			}
		}
		if d.hasForm(op) || d.hasForm(item) {
			op["consumes"] = []any{d.formMedia(op, item)}
		}
	}
}

func (d *document) completeParameters(list []any, at string) {
	for i, raw := range list {
		o, _, err := d.follow(raw, at)
		if err != nil || o.text("type") != "array" || o["collectionFormat"] != nil && o["collectionFormat"] != "tsv" {
			continue
		}
		if o["collectionFormat"] == "tsv" {
			d.notes = append(d.notes, Loss{
				at + "/parameters/" + itoa(i), "a list that is separated by tabs is joined by commas",
			})
		}
		o["collectionFormat"] = "csv"
	}
}

// formOf lists the form parameters of an operation or path.
func (d *document) formOf(of object) []object {
	var found []object
	for _, raw := range of.list("parameters") {
		if o, _, err := d.follow(raw, ""); err == nil && o.text("in") == "formData" {
			found = append(found, o)
		}
	}
	return found
}

func (d *document) hasForm(of object) bool { return len(d.formOf(of)) > 0 }

// formMedia returns the media type of a form: multipart if it has a file or the
// document declares it.
func (d *document) formMedia(op, item object) string {
	const parts, fields = "multipart/form-data", "application/x-www-form-urlencoded"
	if slices.ContainsFunc(slices.Concat(d.formOf(op), d.formOf(item)), func(o object) bool {
		return o.text("type") == "file"
	}) {
		return parts
	}
	said := false
	for _, media := range op.list("consumes") {
		text, _ := media.(string)
		base, _, _ := mime.ParseMediaType(text)
		if base == fields {
			return fields
		}
		said = said || base == parts
	}
	if said {
		return parts
	}
	return fields
}

// assembleSwagger converts the parts of a document separately, so that a dangling
// reference is reported for its operation.
func (d *document) assembleSwagger(old *openapi2.T) (out *openapi3.T, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("it is malformed: %v", r)
		}
	}()
	out = &openapi3.T{OpenAPI: "3.0.3", Info: &old.Info, Components: &openapi3.Components{
		Schemas: make(openapi3.Schemas), Parameters: make(openapi3.ParametersMap),
		RequestBodies: make(openapi3.RequestBodies),
		Responses:     make(openapi3.ResponseBodies), SecuritySchemes: make(openapi3.SecuritySchemes),
	}}
	d.swaggerServers(old, out)
	for _, name := range slices.Sorted(maps.Keys(old.Parameters)) {
		parameter, body, schemas, err := openapi2conv.ToV3Parameter(out.Components, old.Parameters[name], old.Consumes)
		switch {
		case err != nil:
			d.skipPart("/parameters/"+jsonpointer.Escape(name), err)
		case body != nil:
			out.Components.RequestBodies[name] = body
		case schemas != nil:
			for _, schema := range schemas {
				out.Components.Schemas[name] = schema
			}
		default:
			out.Components.Parameters[name] = parameter
		}
	}
	out.Paths = openapi3.NewPaths()
	for _, path := range slices.Sorted(maps.Keys(old.Paths)) {
		item, err := openapi2conv.ToV3PathItem(old, out.Components, old.Paths[path], old.Consumes)
		if err != nil {
			d.skipPart("/paths/"+jsonpointer.Escape(path), err)
			continue
		}
		out.Paths.Set(path, item)
	}
	for _, name := range slices.Sorted(maps.Keys(old.Responses)) {
		response, err := openapi2conv.ToV3Response(old.Responses[name], old.Produces)
		if err != nil {
			d.skipPart("/responses/"+jsonpointer.Escape(name), err)
			continue
		}
		out.Components.Responses[name] = response
	}
	maps.Copy(out.Components.Schemas, openapi2conv.ToV3Schemas(old.Definitions))
	for _, name := range slices.Sorted(maps.Keys(old.SecurityDefinitions)) {
		scheme, err := openapi2conv.ToV3SecurityScheme(old.SecurityDefinitions[name])
		if err != nil {
			d.skipPart("/securityDefinitions/"+jsonpointer.Escape(name), err)
			continue
		}
		out.Components.SecuritySchemes[name] = scheme
	}
	out.Security = openapi2conv.ToV3SecurityRequirements(old.Security)
	return out, nil
}

func (d *document) skipPart(pointer string, err error) {
	text := clean(err.Error(), 200)
	if e, ok := errors.AsType[*tool.Error](err); ok {
		text = e.Msg
	}
	d.notes = append(d.notes, Loss{pointer, "it is skipped, because it cannot be converted to OpenAPI 3.0: " + text})
}

// swaggerServers builds servers from host, basePath and schemes.
func (d *document) swaggerServers(old *openapi2.T, out *openapi3.T) {
	base := "/" + strings.Trim(old.BasePath, "/")
	if old.Host == "" {
		out.Servers = openapi3.Servers{{URL: base}}
		return
	}
	schemes := slices.DeleteFunc(slices.Clone(old.Schemes), func(s string) bool { return s != "https" && s != "http" })
	slices.SortFunc(schemes, func(a, b string) int { return strings.Compare(b, a) }) // https first.
	if len(schemes) == 0 {
		schemes = []string{"https"}
	}
	for _, scheme := range slices.Compact(schemes) {
		out.Servers = append(out.Servers, &openapi3.Server{URL: scheme + "://" + old.Host + strings.TrimSuffix(base, "/")})
	}
}

// formLists collects the serialization of lists in forms, which the conversion
// drops: by operation and field.
func (d *document) formLists() map[string]map[string]string {
	out := make(map[string]map[string]string)
	paths := d.root.object("paths")
	for path := range paths {
		item := paths.object(path)
		for _, method := range methods {
			for _, o := range slices.Concat(d.formOf(item), d.formOf(item.object(method))) {
				if o.text("type") != "array" {
					continue
				}
				key := method + " " + path
				if out[key] == nil {
					out[key] = make(map[string]string)
				}
				out[key][o.text("name")] = o.text("collectionFormat")
			}
		}
	}
	return out
}

// restoreForms adds to the converted forms what the conversion drops: whether they
// are required, and the serialization of lists.
func (d *document) restoreForms(lists map[string]map[string]string) {
	paths := d.root.object("paths")
	for path := range paths {
		for _, method := range methods {
			fields := lists[method+" "+path]
			body, _, err := d.follow(paths.object(path).object(method)["requestBody"], "")
			if err != nil {
				continue
			}
			content := body.object("content")
			for _, media := range sortedKeys(content) {
				if base := baseType(media); base != "multipart/form-data" && base != "application/x-www-form-urlencoded" {
					continue
				}
				if len(content.object(media).object("schema").list("required")) > 0 {
					body["required"] = true // A form with a required field is required.
				}
				if len(fields) == 0 {
					continue
				}
				encoding := make(map[string]any, len(fields))
				for name, format := range fields {
					style := map[string]string{"ssv": "spaceDelimited", "pipes": "pipeDelimited"}[format]
					if style == "" {
						style = "form"
					}
					encoding[name] = map[string]any{"style": style, "explode": format == "multi"}
				}
				content.object(media)["encoding"] = encoding
			}
		}
	}
}
