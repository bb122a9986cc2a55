package httpcall

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// fields are query parameters or form fields.
type fields []field

type field struct {
	of   string // The parameter's name, a prefix of the field's.
	name string
	text string // Escaped.
}

// encode writes fields sorted by parameter name; fields of one parameter keep their
// order.
func (f fields) encode() string {
	slices.SortStableFunc(f, func(a, b field) int { return cmp.Compare(a.of, b.of) })
	var b strings.Builder
	for _, one := range f {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(one.name) + "=" + one.text)
	}
	return b.String()
}

// addLiteral adds a field of the configuration.
func (f *fields) addLiteral(name, text string) {
	*f = append(*f, field{name, name, url.QueryEscape(text)})
}

// add writes an argument in a style, within the limit.
func (f *fields) add(ctx context.Context, left *room, name, path string, style Style, raw json.RawMessage) error {
	if err := ended(ctx); err != nil {
		return err
	}
	if err := left.fits(path, raw); err != nil {
		return err
	}
	w := fieldWriter{fields: f, left: left, path: path, of: name}
	if s, ok := scalar(raw); ok {
		return w.put(name, s)
	}
	switch style {
	case StyleComma:
		return w.join(name, ",", raw)
	case StyleSpace:
		return w.join(name, "%20", raw)
	case StylePipe:
		return w.join(name, "%7C", raw)
	case StylePairs:
		return w.pairs(name, raw)
	case StyleDeep:
		return w.deep(name, raw, 0)
	case StyleJSON:
		return w.put(name, string(raw))
	case StyleRepeat, "":
	}
	return w.repeat(name, raw)
}

// fieldWriter writes the fields of one argument.
type fieldWriter struct {
	fields *fields
	left   *room
	path   string
	of     string
}

func (w fieldWriter) put(name, text string) error { return w.putEscaped(name, url.QueryEscape(text)) }

func (w fieldWriter) putEscaped(name, text string) error {
	*w.fields = append(*w.fields, field{w.of, name, text})
	return w.left.take(w.path, len(name)+len(text)+len("&="))
}

// repeat writes a field for each item of an array, and any other value as JSON.
func (w fieldWriter) repeat(name string, raw json.RawMessage) error {
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) != nil {
		return w.put(name, string(raw))
	}
	texts, err := w.texts(array)
	if err != nil {
		return err
	}
	for _, s := range texts {
		if err := w.put(name, s); err != nil {
			return err
		}
	}
	return nil
}

// join writes one field of all items, or of all members' names and values.
func (w fieldWriter) join(name, separator string, raw json.RawMessage) error {
	texts, err := w.flat(raw)
	if err != nil {
		return err
	}
	for i := range texts {
		texts[i] = url.QueryEscape(texts[i])
	}
	return w.putEscaped(name, strings.Join(texts, separator))
}

// pairs writes a field for each member; arrays are written as repeat does.
func (w fieldWriter) pairs(name string, raw json.RawMessage) error {
	if kind(raw) == '[' {
		return w.repeat(name, raw)
	}
	texts, err := w.flat(raw)
	if err != nil {
		return err
	}
	for i := 0; i < len(texts); i += 2 {
		if err := w.put(texts[i], texts[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// deep writes a field for each value in raw, at any depth, with its path in the
// name.
func (w fieldWriter) deep(name string, raw json.RawMessage, depth int) error {
	if depth > maxDepth {
		return argument(w.path, fmt.Sprintf("nested more than %d deep", maxDepth))
	}
	if s, ok := scalar(raw); ok {
		return w.put(name, s)
	}
	if isNull(raw) {
		return nil
	}
	if kind(raw) == '[' {
		var array []json.RawMessage
		if err := json.Unmarshal(raw, &array); err != nil {
			return argument(w.path, "malformed JSON")
		}
		for i, item := range array {
			at := "[]"
			if k := kind(item); k == '{' || k == '[' {
				at = "[" + strconv.Itoa(i) + "]"
			}
			if err := w.deep(name+at, item, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	object, err := readArguments(raw)
	if err != nil {
		return err
	}
	for _, member := range object.names {
		if err := w.deep(name+"["+member+"]", object.members[member], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w fieldWriter) texts(array []json.RawMessage) ([]string, error) {
	texts := make([]string, 0, len(array))
	for _, item := range array {
		s, ok := scalar(item)
		if !ok {
			return nil, argument(w.path, "can't be a parameter: want an array of strings, numbers or booleans")
		}
		texts = append(texts, s)
	}
	return texts, nil
}

func (w fieldWriter) flat(raw json.RawMessage) ([]string, error) { return flatten(w.path, raw) }

// flatten returns the texts of an array's items, or the names and texts of an
// object's members in turn.
func flatten(path string, raw json.RawMessage) ([]string, error) {
	if kind(raw) == '[' {
		var array []json.RawMessage
		if err := json.Unmarshal(raw, &array); err != nil {
			return nil, argument(path, "malformed JSON")
		}
		return fieldWriter{path: path}.texts(array)
	}
	object, err := readArguments(raw)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, name := range object.names {
		s, ok := scalar(object.members[name])
		if !ok {
			return nil, argument(path+"/"+jsonpointer.Escape(name), "can't be a parameter: want a string, number or boolean")
		}
		texts = append(texts, name, s)
	}
	return texts, nil
}
