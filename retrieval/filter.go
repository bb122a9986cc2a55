package retrieval

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Bounds of filters.
const (
	MaxConditions   = 16
	MaxFilterValues = 64 // In one condition.
)

// Comparison is how a condition compares a field of a document's metadata.
type Comparison string

// Comparisons.
const (
	In      Comparison = "in"     // It is one of the values, or a list that contains one.
	AtLeast Comparison = "gte"    // It is that value or greater: numbers by value, strings by their bytes.
	AtMost  Comparison = "lte"    // It is that value or less.
	Exists  Comparison = "exists" // It is present or, for false, absent.
)

// Condition is one condition on a document.
type Condition struct {
	Field      string     `json:"field"`
	Comparison Comparison `json:"comparison"`
	// Values are the values of In; one string or number of AtLeast and AtMost; one
	// boolean of Exists.
	Values []any `json:"values"`
}

// Filter is a conjunction of conditions on a document. In JSON it is an object with a member for
// each field:
//
//	{"team": "billing"}                       the value, or a list that contains it
//	{"team": {"in": ["billing", "sales"]}}    one of them
//	{"year": {"gte": 2024, "lte": 2026}}      within bounds, both included
//	{"archived": {"exists": false}}           absent
//
// There is no other syntax. Numbers are ordered by value, strings by bytes, which orders dates
// written as 2026-01-31.
type Filter []Condition

// ParseFilter parses a filter's JSON at the JSON Pointer path. Empty input, null and {} match
// every document. It fails with [tool.Invalid].
func ParseFilter(path string, raw json.RawMessage) (Filter, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&fields); err != nil || dec.More() {
		return nil, invalid(path, `want an object such as {"team": "billing", "year": {"gte": 2024}}`)
	}
	var f Filter
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		conditions, err := readCondition(path, field, fields[field])
		if err != nil {
			return nil, err
		}
		f = append(f, conditions...)
	}
	return f, f.Check(path)
}

func readCondition(path, field string, v any) (Filter, error) {
	if err := checkField(path, field); err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		if !scalar(v) {
			return nil, invalid(path+"/"+field, `want a string, number or boolean, or an object of in, gte, lte or exists`)
		}
		return Filter{{Field: field, Comparison: In, Values: []any{v}}}, nil
	}
	if len(object) == 0 {
		return nil, invalid(path+"/"+field, "want in, gte, lte or exists")
	}
	var f Filter
	for _, name := range slices.Sorted(maps.Keys(object)) {
		c := Condition{Field: field, Comparison: Comparison(name), Values: []any{object[name]}}
		if c.Comparison == In {
			list, isList := object[name].([]any)
			if !isList {
				return nil, invalid(path+"/"+field+"/in", "want a list of values")
			}
			c.Values = list
		}
		f = append(f, c)
	}
	return f, nil
}

// Check checks a filter at the JSON Pointer path. It fails with [tool.Invalid].
func (f Filter) Check(path string) error {
	if len(f) > MaxConditions {
		return invalid(path, "%d conditions: want at most %d", len(f), MaxConditions)
	}
	for i := range f {
		if err := f[i].check(path); err != nil {
			return err
		}
	}
	return nil
}

func (c *Condition) check(path string) error {
	if err := checkField(path, c.Field); err != nil {
		return err
	}
	at := path + "/" + c.Field + "/" + string(c.Comparison)
	switch c.Comparison {
	case In:
		if len(c.Values) == 0 || len(c.Values) > MaxFilterValues ||
			slices.ContainsFunc(c.Values, func(v any) bool { return !scalar(v) }) {
			return invalid(at, "want 1 to %d strings of at most %d bytes, numbers or booleans", MaxFilterValues,
				MaxMetadataString)
		}
	case AtLeast, AtMost:
		if len(c.Values) != 1 || !ordered(c.Values[0]) {
			return invalid(at, "want a number, or a string of at most %d bytes", MaxMetadataString)
		}
	case Exists:
		if len(c.Values) != 1 || c.Values[0] != true && c.Values[0] != false {
			return invalid(at, "want true or false")
		}
	default:
		return invalid(path+"/"+c.Field, "%.40q is unknown: want in, gte, lte or exists", string(c.Comparison))
	}
	return nil
}

func ordered(v any) bool {
	_, isBool := v.(bool)
	return scalar(v) && !isBool
}
