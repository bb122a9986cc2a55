package visible

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// prose are the keywords of JSON Schema whose strings are only for readers.
var prose = []string{"title", "description", "$comment", "x-description", "markdownDescription"}

// values are the keywords of JSON Schema with instances, which are sent, or compared with what
// is sent.
var values = []string{"enum", "const", "default", "examples", "example"}

// Schema removes hidden characters from the titles, descriptions and comments of an untrusted
// JSON Schema. It returns the schema, unchanged byte by byte if there were none, and the JSON
// Pointers of the changed texts in order.
//
// Anywhere else, in names of properties, enums, defaults, patterns or references, such a
// character is part of the data, and removing it would change the schema's meaning: it fails
// with an error that names the place and the character. It also fails for malformed JSON.
func Schema(raw json.RawMessage) (cleaned json.RawMessage, removed []string, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return nil, nil, fmt.Errorf("it is not JSON: %w", err)
	}
	w := walk{}
	doc = w.value(doc, "", false)
	switch {
	case w.err != nil:
		return nil, nil, w.err
	case len(w.removed) == 0:
		return raw, nil, nil
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the schema: %w", err)
	}
	sort.Strings(w.removed)
	return out, w.removed, nil
}

// walk cleans a decoded schema in place.
type walk struct {
	removed []string
	err     error
}

// value cleans a value at a pointer. Below a keyword with instances, no text is prose.
func (w *walk) value(v any, at string, instance bool) any {
	switch v := v.(type) {
	case string:
		w.refuse(v, at)
	case []any:
		for i, item := range v {
			v[i] = w.value(item, at+"/"+strconv.Itoa(i), instance)
		}
	case map[string]any:
		for name, item := range v {
			below := at + "/" + jsonpointer.Escape(name)
			w.refuse(name, below)
			text, isText := item.(string)
			if isText && !instance && slices.Contains(prose, name) {
				if clean := Text(text); clean != text {
					v[name] = clean
					w.removed = append(w.removed, below)
				}
				continue
			}
			v[name] = w.value(item, below, instance || slices.Contains(values, name))
		}
	}
	return v
}

// refuse keeps the first fault in the order of pointers.
func (w *walk) refuse(s, at string) {
	r, found := First(s)
	if !found {
		return
	}
	err := &HiddenError{Pointer: Text(at), Rune: r}
	if before, ok := w.err.(*HiddenError); !ok || err.Pointer < before.Pointer { //nolint:errorlint // Set here only.
		w.err = err
	}
}

// HiddenError is a hidden character that cannot be removed.
type HiddenError struct {
	Pointer string // Where it is, without hidden characters.
	Rune    rune
}

// Error implements the error interface.
func (e *HiddenError) Error() string {
	return fmt.Sprintf("it contains the invisible character %U at %s", e.Rune, e.Pointer)
}
