package openapi

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// direction is whether a schema describes what is sent or what is received.
type direction int

const (
	sent direction = iota
	received
)

// Keywords of schemas, by the type of their value. Others are not copied.
var (
	// plainKeywords are copied unchanged.
	plainKeywords = []string{
		"const", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "maxLength", "minLength",
		"maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties", "maxContains", "minContains",
		"dependentRequired", "format", "contentEncoding", "contentMediaType", "deprecated", "readOnly", "writeOnly",
	}
	oneSchema = []string{
		"not", "if", "then", "else", "additionalProperties", "propertyNames", "contains", "unevaluatedItems",
		"unevaluatedProperties",
	}
	schemaLists = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMaps  = []string{"patternProperties", "dependentSchemas"}
)

// sharedSchema is a schema of the document that is the target of references.
type sharedSchema struct {
	name   string // Below $defs.
	schema any
	lost   losses
}

// converter converts a document's schemas to JSON Schema 2020-12. Targets of
// references become definitions, shared by all tools.
type converter struct {
	doc   *document
	way   direction
	defs  map[string]*sharedSchema // By JSON Pointer.
	named map[string]*sharedSchema
	taken map[string]int // The last number that was put behind a name.
	// checked caches the results of validation, by the text of a schema.
	checked map[string]error
}

func newConverter(d *document, way direction) *converter {
	return &converter{
		doc: d, way: way, defs: make(map[string]*sharedSchema), named: make(map[string]*sharedSchema),
		taken: make(map[string]int), checked: make(map[string]error),
	}
}

// schema converts the schema at a pointer. References in it lead to #/$defs.
func (c *converter) schema(v any, pointer string, lost *losses) (any, error) {
	if c.doc.work--; c.doc.work < 0 {
		return nil, errWork
	}
	if flag, ok := v.(bool); ok {
		return flag, nil
	}
	in := asObject(v)
	if in == nil {
		return nil, refuse(pointer, "expected a schema")
	}
	out := make(map[string]any)
	if raw, has := in["$ref"]; has {
		ref, ok := raw.(string)
		if !ok {
			return nil, refuse(pointer, "expected a reference")
		}
		name, err := c.define(ref, pointer)
		if err != nil {
			return nil, err
		}
		out["$ref"] = "#/$defs/" + name
		if c.doc.legacy { // It ignores keywords beside a reference.
			return out, nil
		}
	}
	if err := c.parts(in, out, pointer, lost); err != nil {
		return nil, err
	}
	c.texts(in, out, pointer, lost)
	if c.doc.legacy {
		legacyBounds(in, out)
		legacyNull(in, out)
	}
	return out, nil
}

// define returns the name of the definition for the target of a reference.
func (c *converter) define(ref, from string) (string, error) {
	target, pointer, err := c.doc.lookup(ref, from)
	if err != nil {
		return "", err
	}
	if known, ok := c.defs[pointer]; ok {
		return known.name, nil
	}
	def := &sharedSchema{name: c.freeName(pointer)}
	c.defs[pointer], c.named[def.name] = def, def // Before the conversion: it may refer to itself.
	def.schema, err = c.schema(target, pointer, &def.lost)
	if err != nil {
		delete(c.defs, pointer)
		return "", err
	}
	return def.name, nil
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

func (c *converter) freeName(pointer string) string {
	name := jsonpointer.Unescape(pointer[strings.LastIndexByte(pointer, '/')+1:])
	name = strings.Trim(notInName.ReplaceAllString(name, "_"), "_")
	if name == "" {
		name = "schema"
	}
	if len(name) > 80 {
		name = name[:80]
	}
	free := name
	for c.named[free] != nil {
		c.taken[name] = max(c.taken[name], 1) + 1
		free = name + "_" + strconv.Itoa(c.taken[name])
	}
	return free
}

// parts converts the keywords that restrict the values of a schema.
func (c *converter) parts(in object, out map[string]any, pointer string, lost *losses) error {
	for _, keyword := range plainKeywords {
		if v, ok := in[keyword]; ok {
			out[keyword] = v
		}
	}
	if v, ok := in["type"]; ok {
		out["type"] = v
	}
	if enum, ok := in["enum"].([]any); ok && len(enum) > 0 {
		out["enum"] = enum
	} else if ok {
		lost.add(pointer+"/enum", "an enum without values is left out: no value could match it")
	}
	c.pattern(in, out, pointer, lost)
	for _, keyword := range oneSchema {
		if v, ok := in[keyword]; ok {
			sub, err := c.schema(v, pointer+"/"+keyword, lost)
			if err != nil {
				return err
			}
			out[keyword] = sub
		}
	}
	if err := c.items(in, out, pointer, lost); err != nil {
		return err
	}
	for _, keyword := range schemaLists {
		list, ok := in[keyword].([]any)
		if !ok || len(list) == 0 {
			continue
		}
		converted := make([]any, len(list))
		for i, v := range list {
			sub, err := c.schema(v, pointer+"/"+keyword+"/"+strconv.Itoa(i), lost)
			if err != nil {
				return err
			}
			converted[i] = sub
		}
		out[keyword] = converted
	}
	for _, keyword := range schemaMaps {
		if err := c.schemaMap(in, out, keyword, pointer, lost); err != nil {
			return err
		}
	}
	if err := c.properties(in, out, pointer, lost); err != nil {
		return err
	}
	c.discriminate(in, out, pointer, lost)
	for _, keyword := range []string{"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary"} {
		if in[keyword] != nil {
			lost.add(pointer+"/"+keyword, "%s is left out", keyword)
		}
	}
	return nil
}

func (c *converter) items(in object, out map[string]any, pointer string, lost *losses) error {
	v, ok := in["items"]
	if !ok {
		return nil
	}
	if list, isList := v.([]any); isList { // As in draft 7.
		converted := make([]any, len(list))
		for i, item := range list {
			sub, err := c.schema(item, pointer+"/items/"+strconv.Itoa(i), lost)
			if err != nil {
				return err
			}
			converted[i] = sub
		}
		if len(converted) > 0 {
			out["prefixItems"] = converted
		}
		return nil
	}
	sub, err := c.schema(v, pointer+"/items", lost)
	out["items"] = sub
	return err
}

func (c *converter) schemaMap(in object, out map[string]any, keyword, pointer string, lost *losses) error {
	converted := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(in.object(keyword))) {
		at := pointer + "/" + keyword + "/" + jsonpointer.Escape(name)
		if keyword == "patternProperties" {
			if reason := badPattern(name); reason != "" {
				lost.add(at, "%s is left out: %s", keyword, reason)
				continue
			}
		}
		sub, err := c.schema(in.object(keyword)[name], at, lost)
		if err != nil {
			return err
		}
		converted[name] = sub
	}
	if len(converted) > 0 {
		out[keyword] = converted
	}
	return nil
}

// properties converts members, and the list of the required ones, except those of
// the other direction: a read-only member is not sent, and a write-only one is
// not received.
func (c *converter) properties(in object, out map[string]any, pointer string, lost *losses) error {
	properties := in.object("properties")
	gone := make(map[string]bool)
	converted := make(map[string]any, len(properties))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		at := pointer + "/properties/" + jsonpointer.Escape(name)
		if c.otherWay(properties[name]) {
			gone[name] = true
			continue
		}
		sub, err := c.schema(properties[name], at, lost)
		if err != nil {
			return err
		}
		if m, ok := sub.(map[string]any); ok && secret.SensitiveKey(name) {
			delete(m, "default") // It may hold a secret.
			delete(m, "examples")
		}
		converted[name] = sub
	}
	if len(converted) > 0 {
		out["properties"] = converted
	}
	required, ok := in["required"].([]any)
	if !ok {
		if in["required"] != nil && in["required"] != false {
			lost.add(pointer+"/required", "required is left out: expected a list of names")
		}
		return nil
	}
	var names []any
	for _, name := range required {
		text, isText := name.(string)
		if isText && !gone[text] && !c.goneBelow(in, text) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		out["required"] = names
	}
	return nil
}

// goneBelow reports whether a required member is declared in a schema below, and
// belongs to the other direction only.
func (c *converter) goneBelow(in object, name string) bool {
	if _, declared := in.object("properties")[name]; declared {
		return false
	}
	for i, part := range in.list("allOf") {
		o, _, err := c.doc.follow(part, strconv.Itoa(i))
		if err != nil {
			continue
		}
		if property, ok := o.object("properties")[name]; ok {
			return c.otherWay(property)
		}
	}
	return false
}

// otherWay reports whether a member belongs to the other direction only.
func (c *converter) otherWay(v any) bool {
	flag := "readOnly"
	if c.way == received {
		flag = "writeOnly"
	}
	return !c.doc.composed(v, "", true, func(raw any, o object, _ string) bool {
		return !o.flag(flag) && (c.doc.legacy || !asObject(raw).flag(flag))
	})
}

func (c *converter) pattern(in object, out map[string]any, pointer string, lost *losses) {
	pattern, ok := in["pattern"].(string)
	if !ok {
		return
	}
	if reason := badPattern(pattern); reason != "" {
		lost.add(pointer+"/pattern", "the pattern is left out: %s", reason)
		return
	}
	out["pattern"] = pattern
}

// badPattern returns why a pattern is not supported.
func badPattern(pattern string) string {
	if len(pattern) > 1024 {
		return "it is longer than 1024 bytes"
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return "it uses a feature that RE2 does not support, such as lookahead"
	}
	return ""
}

// texts converts the title, description, default and examples of a schema.
func (c *converter) texts(in object, out map[string]any, pointer string, lost *losses) {
	if title := line(in.text("title"), 120); title != "" {
		out["title"] = title
	}
	if text := prose(in.text("description"), MaxSchemaDescription); text != "" {
		out["description"] = text
	}
	if v, ok := in["default"]; ok && small(v) {
		out["default"] = v
	} else if ok {
		lost.add(pointer+"/default", "a default of more than %d bytes is left out", maxSpecimens)
	}
	var examples []any
	if v, ok := in["example"]; ok {
		examples = append(examples, v)
	}
	examples = append(examples, in.list("examples")...)
	examples = slices.DeleteFunc(examples, func(v any) bool { return !small(v) })
	if len(examples) > 0 {
		out["examples"] = examples[:min(len(examples), 3)]
	}
}

func small(v any) bool {
	raw, err := json.Marshal(v)
	return err == nil && len(raw) <= maxSpecimens
}
