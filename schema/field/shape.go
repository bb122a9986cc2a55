package field

// shape infers type and display from the standard keywords of a schema. For a
// known type, it infers the display only.
func shape(m object, known Type) (Type, Display) {
	t, _ := nullable(m["type"])
	switch {
	case known == "" && entity(m) != "":
		return orKnown("", Relation)
	case known == "" && t == "array" && m["uniqueItems"] == true && choices(m["items"]):
		return orKnown("", Enum)
	case known == Object, known == "" && t == "object" && m["enum"] == nil:
		return Object, objectDisplay(m)
	case known == Date:
		if m["format"] == "date-time" {
			return Date, Moment
		}
		if m["format"] == "date" {
			return Date, Day
		}
		return Date, Time
	case known != "":
		return orKnown(known, known)
	case m["enum"] != nil:
		return orKnown("", Enum)
	case t == "string":
		return stringShape(m)
	case t == "number" || t == "integer":
		return orKnown("", Number)
	case t == "boolean":
		return orKnown("", Boolean)
	case t == "array":
		return orKnown("", Array)
	default:
		return Object, JSON
	}
}

// orKnown returns the known type, or else otherwise, with its default display.
func orKnown(known, otherwise Type) (Type, Display) {
	if known == "" {
		known = otherwise
	}
	if all := displays[known]; len(all) > 0 {
		return known, all[0]
	}
	return known, ""
}

// entity returns the type of the entity whose id, or whose ids, a foreign schema declares a value to be;
// empty for other values.
func entity(m object) string {
	name, _ := m[entityKeyword].(string)
	switch t, _ := nullable(m["type"]); t {
	case "string":
		if m["enum"] == nil {
			return name
		}
	case "array":
		items, _ := m["items"].(object)
		several, said := m[selectKeyword]
		if items["type"] == "string" && items["enum"] == nil && (!said || several == "multiple") {
			return name
		}
	}
	return ""
}

// choices reports whether a subschema is a list of values and nothing else.
func choices(node any) bool {
	m, _ := node.(object)
	for name := range m {
		if name != "enum" && name != "type" {
			return false
		}
	}
	return m["enum"] != nil
}

func stringShape(m object) (Type, Display) {
	switch m["format"] {
	case "date":
		return Date, Day
	case "date-time":
		return Date, Moment
	case "uri":
		return URL, Input
	case "email":
		return Email, Input
	default:
		return Text, Input
	}
}

func objectDisplay(m object) Display {
	_, fields := m["properties"]
	extra, values := m["additionalProperties"]
	switch {
	case fields, extra == false:
		return Group
	case values && !anything(extra):
		return Map
	default:
		return JSON
	}
}

// nullable splits null off a type. Other types are unchanged.
func nullable(t any) (any, bool) {
	list, ok := t.([]any)
	switch {
	case ok && len(list) == 1:
		return list[0], false
	case ok && len(list) == 2 && list[1] == "null":
		return list[0], true
	case ok && len(list) == 2 && list[0] == "null":
		return list[1], true
	default:
		return t, false
	}
}

// anything reports whether a subschema accepts every value because it is empty.
func anything(node any) bool {
	m, ok := node.(object)
	return node == true || ok && len(m) == 0
}
