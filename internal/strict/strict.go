// Package strict decodes JSON into structs strictly: one value, no unknown members, and each
// fault with its JSON Pointer. It is used for configurations of tools.
package strict

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// maxDepth bounds the nesting of values.
const maxDepth = 100

// Decode decodes raw into the struct that into points to. It fails with [tool.Invalid], whose
// Op is op and whose Path is the JSON Pointer of the fault, and with [io.EOF] for a text that
// is empty or white space.
func Decode(op string, raw []byte, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return io.EOF
	}
	d := decoder{op: op}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var whole json.RawMessage
	if err := dec.Decode(&whole); err != nil {
		return d.refuse("", "malformed JSON: "+strings.TrimPrefix(err.Error(), "json: "), nil)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return d.refuse("", "more than one JSON value", nil)
	}
	if err := d.check("", whole, reflect.TypeOf(into), 0); err != nil {
		return err
	}
	if err := json.Unmarshal(whole, into); err != nil {
		return d.fault("", err)
	}
	return nil
}

// decoder reads one text.
type decoder struct{ op string }

func (d decoder) refuse(path, msg string, err error) error {
	return &tool.Error{Kind: tool.Invalid, Op: d.op, Path: path, Msg: msg, Err: err}
}

var (
	jsonOwn = reflect.TypeFor[json.Unmarshaler]()
	textOwn = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// check finds the first unknown member, or value of the wrong type.
func (d decoder) check(path string, raw json.RawMessage, t reflect.Type, depth int) error {
	if depth > maxDepth {
		return d.refuse(path, fmt.Sprintf("nested more than %d deep", maxDepth), nil)
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}
	if reflect.PointerTo(t).Implements(jsonOwn) || reflect.PointerTo(t).Implements(textOwn) {
		return d.unmarshaled(path, raw, t)
	}
	switch t.Kind() { //nolint:exhaustive // Others hold nothing to look into.
	case reflect.Pointer:
		return d.check(path, raw, t.Elem(), depth)
	case reflect.Struct:
		return d.checkStruct(path, raw, t, depth)
	case reflect.Map:
		return d.checkMembers(path, raw, func(string) (reflect.Type, bool) { return t.Elem(), true }, t, depth)
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		if t.Elem().Kind() == reflect.Uint8 || json.Unmarshal(raw, &items) != nil {
			return d.unmarshaled(path, raw, t)
		}
		for i, item := range items {
			if err := d.check(path+"/"+strconv.Itoa(i), item, t.Elem(), depth+1); err != nil {
				return err
			}
		}
		return nil
	case reflect.Interface:
		return nil
	default:
		return d.unmarshaled(path, raw, t)
	}
}

func (d decoder) checkStruct(path string, raw json.RawMessage, t reflect.Type, depth int) error {
	fields := fieldsOf(t)
	return d.checkMembers(path, raw, func(name string) (reflect.Type, bool) {
		field, known := fields[name]
		return field, known
	}, t, depth)
}

func (d decoder) checkMembers(
	path string, raw json.RawMessage, of func(name string) (reflect.Type, bool), t reflect.Type, depth int,
) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return d.unmarshaled(path, raw, t)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := path + "/" + jsonpointer.Escape(name)
		field, known := of(name)
		if !known {
			return d.refuse(at, Unknown(name, slices.Sorted(maps.Keys(fieldsOf(t)))), nil)
		}
		if err := d.check(at, members[name], field, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// unmarshaled returns the fault of a value that is decoded as a whole.
func (d decoder) unmarshaled(path string, raw json.RawMessage, t reflect.Type) error {
	if err := json.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
		return d.fault(path, err)
	}
	return nil
}

func (d decoder) fault(path string, err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return d.refuse(path+e.Path, e.Msg, err)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return d.refuse(path, Expected(e), nil)
	}
	return d.refuse(path, strings.TrimPrefix(err.Error(), "json: "), err)
}

// Expected returns the message for a value of the wrong type.
func Expected(e *json.UnmarshalTypeError) string {
	msg := "expected " + wanted(e.Type) + ", got " + got(e.Value)
	if e.Type.Kind() == reflect.String && (e.Value == "bool" || strings.HasPrefix(e.Value, "number")) {
		msg += ": put it in quotes"
	}
	return msg
}

// Unknown returns the message for an unknown field, with a suggestion.
func Unknown(name string, known []string) string {
	if meant := nearest.Name(name, known); meant != "" {
		return fmt.Sprintf("unknown field %.60q: did you mean %s?", name, meant)
	}
	if len(known) == 0 || len(known) > 60 {
		return fmt.Sprintf("unknown field %.60q", name)
	}
	return fmt.Sprintf("unknown field %.60q: expected one of %s", name, strings.Join(known, ", "))
}

// wanted returns the JSON type of a Go type.
func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() { //nolint:exhaustive // The others are numbers.
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}

// got returns the name of a JSON value, from encoding/json's.
func got(value string) string {
	switch {
	case value == "bool":
		return "true or false"
	case value == "array":
		return "an array"
	case value == "object":
		return "an object"
	case strings.HasPrefix(value, "number "):
		return "the " + value // With its digits.
	default:
		return "a " + value
	}
}

// fieldsOf lists the JSON names of a struct with their types, including those of embedded
// structs; none for other types.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(fields, fieldsOf(f.Type))
		case !f.IsExported() || name == "-":
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	return fields
}
