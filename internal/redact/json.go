package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// JSON returns raw with likely secrets replaced by [tool.Redacted], at any depth, for output
// to people:
//
//   - the values of sensitive members; an object or array as a whole, except for null,
//     true and false, and for an object that only refers to an argument, as
//     {"from": "/token"};
//   - the values of sensitive headers in lists: {"name": …, "value": …}, pairs,
//     and "Name: value";
//   - default, const, enum and examples of a sensitive property of a schema;
//   - the matches of [Text] in strings.
//
// Where nothing is hidden, raw is returned unchanged; else the order of keys is not kept.
// Malformed JSON is replaced by [tool.Redacted].
func JSON(raw json.RawMessage) json.RawMessage { return at(raw, 0) }

// maxNesting bounds JSON and base64 inside strings.
const maxNesting = 3

func at(raw json.RawMessage, nesting int) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return raw
	}
	v, err := decode(raw)
	if err != nil {
		return json.RawMessage(`"` + tool.Redacted + `"`)
	}
	hidden := walk(v, nesting)
	if reflect.DeepEqual(v, hidden) {
		return bytes.TrimSpace(raw)
	}
	return encode(hidden)
}

func decode(raw json.RawMessage) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func encode(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage(`"` + tool.Redacted + `"`)
	}
	return bytes.TrimSpace(buf.Bytes())
}

// walk returns a copy of v without likely secrets.
func walk(v any, nesting int) any {
	switch v := v.(type) {
	case map[string]any:
		return object(v, nesting)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if name, value, ok := pair(item); ok && SensitiveKey(name) && hides(value) {
				out[i] = []any{name, tool.Redacted}
				continue
			}
			out[i] = walk(item, nesting)
			if i > 0 && optionBefore(v[i-1], item) {
				out[i] = tool.Redacted
			}
		}
		return out
	case string:
		return text(v, nesting)
	default:
		return v
	}
}

func object(v map[string]any, nesting int) any {
	out := make(map[string]any, len(v))
	named := headerName(v)
	for k, member := range v {
		switch properties, ok := member.(map[string]any); {
		case k == "properties" && ok:
			out[k] = schemas(properties, nesting)
		case SensitiveKey(k) && refers(member):
			out[k] = reference(member, nesting)
		case hides(member) && (SensitiveKey(k) || named && valueMembers[strings.ToLower(k)]):
			out[k] = tool.Redacted
		default:
			out[k] = walk(member, nesting)
		}
	}
	return out
}

// referenceMembers are the members of an object such as {"type": "bearer",
// "credentials_ref": "orders"} that refer to a secret, and say how and where it is sent.
var referenceMembers = words(`type name header in credentials_ref token_url scopes audience client_auth`)

// refers reports whether a value is an object that refers to a credential instead of
// containing one.
func refers(v any) bool {
	members, ok := v.(map[string]any)
	if !ok {
		return false
	}
	ref, ok := members["credentials_ref"].(string)
	return ok && ref != ""
}

// reference hides all except for the reference to the credential.
func reference(v any, nesting int) any {
	members, _ := v.(map[string]any)
	out := make(map[string]any, len(members))
	for k, member := range members {
		if referenceMembers[k] && (isText(member) || k == "scopes" && isTexts(member)) {
			out[k] = walk(member, nesting)
		} else {
			out[k] = tool.Redacted
		}
	}
	return out
}

func isText(v any) bool { _, ok := v.(string); return ok }

func isTexts(v any) bool {
	items, ok := v.([]any)
	return ok && !slices.ContainsFunc(items, func(item any) bool { return !isText(item) })
}

var (
	nameMembers  = words(`name key header field parameter param variable attribute k`)
	valueMembers = words(`value values val v stringvalue string_value default defaultvalue default_value`)
)

// headerName reports whether an object has a sensitive header, parameter or variable with
// its value: {"name": "Authorization", "value": "…"}.
func headerName(v map[string]any) bool {
	for k, member := range v {
		if name, ok := member.(string); ok && nameMembers[strings.ToLower(k)] && SensitiveKey(name) {
			return true
		}
	}
	return false
}

// schemas hides the values in schemas of sensitive properties. A property without a schema
// is handled like other members.
func schemas(properties map[string]any, nesting int) any {
	out := make(map[string]any, len(properties))
	for name, property := range properties {
		schema, ok := property.(map[string]any)
		switch {
		case !SensitiveKey(name):
			out[name] = walk(property, nesting)
		case !ok || !describes(schema):
			out[name] = property
			if hides(property) {
				out[name] = tool.Redacted
			}
		default:
			out[name] = sensitive(schema, nesting)
		}
	}
	return out
}

// describes reports whether an object is a schema, rather than a value.
func describes(v map[string]any) bool {
	for _, word := range []string{
		"type", "$ref", "properties", "items", "enum", "const", "anyOf", "oneOf", "allOf", "description", "format",
		"pattern",
	} {
		if _, ok := v[word]; ok {
			return true
		}
	}
	return len(v) == 0
}

// sensitive returns the schema of a sensitive property without its values, including those
// of its subschemas.
func sensitive(schema map[string]any, nesting int) any {
	out := make(map[string]any, len(schema))
	for word, v := range schema {
		switch word {
		case "default", "const", "example":
			out[word] = v
			if hides(v) {
				out[word] = tool.Redacted
			}
		case "enum", "examples":
			out[word] = []any{tool.Redacted}
		case "items", "anyOf", "oneOf", "allOf":
			out[word] = each(v, func(s map[string]any) any { return sensitive(s, nesting) })
		default:
			out[word] = walk(v, nesting)
		}
	}
	return out
}

// each calls fn with an object, or with those of an array.
func each(v any, fn func(map[string]any) any) any {
	switch v := v.(type) {
	case map[string]any:
		return fn(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = each(v[i], fn)
		}
		return out
	default:
		return v
	}
}

// optionBefore reports whether an item of a list of arguments is the value of a
// sensitive option, as the one after "--password" is.
func optionBefore(option, item any) bool {
	name, ok := option.(string)
	value, isText := item.(string)
	return ok && isText && strings.HasPrefix(name, "--") && !strings.ContainsAny(name, "= ") &&
		!strings.HasPrefix(value, "--") && SensitiveKey(name)
}

// pair splits ["name", value].
func pair(v any) (name string, value any, ok bool) {
	items, isList := v.([]any)
	if !isList || len(items) != 2 {
		return "", nil, false
	}
	name, ok = items[0].(string)
	return name, items[1], ok
}

// hides reports whether the value of a sensitive member could be a secret.
func hides(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return false
	case map[string]any:
		from, ok := v["from"].(string)
		pointer := ok && len(v) == 1 && (from == "" || strings.HasPrefix(from, "/"))
		return !pointer
	default:
		return true
	}
}
