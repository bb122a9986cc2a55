package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// expectation describes what a keyword of the subschema m requires. The text is derived from
// the schema alone, never from a value.
func expectation(keyword string, m map[string]any) string {
	arg := m[keyword]
	switch keyword {
	case "type":
		return typeNames(arg)
	case "enum":
		return "one of " + literals(arg)
	case "const":
		return literal(arg)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return "a number " + bounds[keyword] + " " + literal(arg)
	case "multipleOf":
		return "a multiple of " + literal(arg)
	case "minLength", "maxLength":
		return "a string of " + bounds[keyword] + " " + counted(literal(arg), "character", "characters")
	case "minItems", "maxItems":
		return "an array of " + bounds[keyword] + " " + counted(literal(arg), "item", "items")
	case "minProperties", "maxProperties":
		return "an object of " + bounds[keyword] + " " + counted(literal(arg), "property", "properties")
	case "pattern":
		return "a string that matches " + tool.Clip(fmt.Sprint(arg), 80)
	case "format":
		return "a string in the format " + tool.Clip(fmt.Sprint(arg), 40)
	case "uniqueItems":
		return "an array whose items all differ"
	case "contains", "minContains", "maxContains":
		return "an array with other items"
	case "not":
		return "a value outside what the schema excludes"
	case "oneOf":
		return "a value of exactly one of the allowed forms"
	default:
		return "what the schema allows here (" + tool.Clip(keyword, 40) + ")"
	}
}

var bounds = map[string]string{
	"minimum": "of at least", "maximum": "of at most",
	"exclusiveMinimum": "greater than", "exclusiveMaximum": "less than",
	"minLength": "at least", "maxLength": "at most",
	"minItems": "at least", "maxItems": "at most",
	"minProperties": "at least", "maxProperties": "at most",
}

func typeNames(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case []any:
		names := make([]string, 0, len(arg))
		for _, name := range arg {
			names = append(names, fmt.Sprint(name))
		}
		return strings.Join(names, " or ")
	default:
		return "another type"
	}
}

// literals formats the first values of an enum.
func literals(arg any) string {
	values, _ := arg.([]any)
	texts := make([]string, 0, 9)
	for i, v := range values {
		if i == 8 {
			texts = append(texts, fmt.Sprintf("or %d others", len(values)-i))
			break
		}
		texts = append(texts, literal(v))
	}
	return strings.Join(texts, ", ")
}

func literal(v any) string {
	raw, err := encode(v)
	if err != nil {
		return "a fixed value"
	}
	return tool.Clip(string(raw), 60)
}

// counted writes a number of things.
func counted(n, one, many string) string {
	if n == "1" {
		return n + " " + one
	}
	return n + " " + many
}

// describe names the kind and size of a value, never the value.
func describe(v *jsonvalue.Value) string {
	switch v.Kind() {
	case jsonvalue.String:
		return "a string of " + counted(strconv.Itoa(utf8.RuneCountInString(v.Text())), "character", "characters")
	case jsonvalue.Array:
		return "an array of " + counted(strconv.Itoa(v.Len()), "item", "items")
	case jsonvalue.Object:
		return "an object of " + counted(strconv.Itoa(v.Len()), "property", "properties")
	case jsonvalue.Null:
		return "null"
	case jsonvalue.False, jsonvalue.True, jsonvalue.Number:
	}
	if kind := kindName(v); kind != "integer" {
		return "a " + kind
	}
	return "an integer"
}
