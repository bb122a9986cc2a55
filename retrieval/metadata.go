package retrieval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of metadata.
const (
	MaxMetadataFields = 32
	MaxMetadataString = 512 // Bytes.
	MaxMetadataList   = 64  // Strings.
)

// Metadata is set by a document's owner, for filters and results: a flat object of strings,
// numbers, booleans and lists of strings. Numbers are float64 or [json.Number].
type Metadata map[string]any

var fieldPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// UnmarshalJSON implements [json.Unmarshaler]. It keeps numbers exact.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil {
		return fmt.Errorf("reading metadata: %w", err)
	}
	*m = fields
	return nil
}

// Check checks metadata at the JSON Pointer path. It fails with [tool.Invalid].
func (m Metadata) Check(path string) error {
	if len(m) > MaxMetadataFields {
		return invalid(path, "%d fields: want at most %d", len(m), MaxMetadataFields)
	}
	for _, field := range slices.Sorted(maps.Keys(m)) {
		if err := checkField(path, field); err != nil {
			return err
		}
		if !scalar(m[field]) && !stringList(m[field]) {
			return invalid(
				path+"/"+field, "want a string of at most %d bytes, a number, a boolean, or a list of at most %d such strings",
				MaxMetadataString, MaxMetadataList,
			)
		}
	}
	return nil
}

func checkField(path, field string) error {
	if !fieldPattern.MatchString(field) {
		return invalid(path, "field %.80q: want a letter or _, then letters, digits, _, . or -, at most 64", field)
	}
	return nil
}

// scalar reports whether v is a valid value of metadata other than a list.
func scalar(v any) bool {
	switch v := v.(type) {
	case string:
		return short(v)
	case bool:
		return true
	default:
		_, ok := number(v)
		return ok
	}
}

// number returns a number that PostgreSQL can store.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil && len(v) <= 64 && fewDigits(string(v))
	default:
		return 0, false
	}
}

// fewDigits reports whether a number's exponent has at most three digits, so that PostgreSQL can
// store it: 1e-99999 is 0 as a float, but too small for numeric.
func fewDigits(text string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	return len(strings.TrimLeft(exponent, "+-0")) <= 3
}

func stringList(v any) bool {
	switch list := v.(type) {
	case []string:
		return len(list) <= MaxMetadataList && !slices.ContainsFunc(list, func(s string) bool { return !short(s) })
	case []any:
		return len(list) <= MaxMetadataList && !slices.ContainsFunc(list, func(v any) bool {
			s, ok := v.(string)
			return !ok || !short(s)
		})
	default:
		return false
	}
}

func short(s string) bool {
	return len(s) <= MaxMetadataString && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}
