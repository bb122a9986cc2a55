package schema

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

var numberPattern = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// scalarOf reads a number, a boolean or null that was written as a string.
// Only the spelling of JSON counts as a number: "007" and "1,000" do not.
func scalarOf(sh *shape, text string) (any, Rule, bool) {
	text = strings.TrimSpace(text)
	switch {
	case (sh.wants("number") || sh.wants("integer")) && numberPattern.MatchString(text) && checkNumber(json.Number(text)) == "":
		return json.Number(text), RuleNumber, true
	case sh.wants("boolean") && strings.EqualFold(text, "true"):
		return true, RuleBoolean, true
	case sh.wants("boolean") && strings.EqualFold(text, "false"):
		return false, RuleBoolean, true
	case sh.wants("null") && (strings.EqualFold(text, "null") || strings.EqualFold(text, "none")):
		return nil, RuleNull, true
	default:
		return nil, "", false
	}
}

// structureOf reads an object or an array that was written as a string.
func structureOf(text string) (any, bool) {
	text = strings.TrimSpace(text)
	if !looksLikeJSON(text) {
		return nil, false
	}
	if v, err := decodeValue(json.RawMessage(text)); err == nil {
		return v, true
	}
	v, _, err := repairText(text)
	return v, err == nil
}

// isOneItem reports whether text names one thing: "a, b" may be meant as two.
func isOneItem(text string) bool {
	return strings.TrimSpace(text) != "" && !strings.ContainsAny(text, ",;|\n") && !looksLikeJSON(strings.TrimSpace(text))
}

// spellings lists the members of an enum that text may stand for.
func spellings(enum []any, text string) []any {
	var out []any
	for _, member := range enum {
		switch member := member.(type) {
		case string:
			if member != text && fold(member) == fold(text) {
				out = append(out, member)
			}
		case json.Number:
			if string(member) == strings.TrimSpace(text) {
				out = append(out, member)
			}
		}
	}
	return out
}

// tooCostly reports whether validating v by sch takes too many steps.
func tooCostly(sch *jsonschema.Schema, v any) bool {
	m := meter{costs: make(map[visit]int)}
	return m.cost(sch, newNode(v)) > maxSteps
}
