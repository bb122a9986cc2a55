package httpcall

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// readMembers decodes a JSON object's members into variables by their exact names.
// Faults have the pointer of the member.
func readMembers(raw []byte, into map[string]any) error {
	object, err := readObject(raw)
	if err != nil {
		return err
	}
	return takeMembers(object, into)
}

// takeMembers is readMembers of an object that was split.
func takeMembers(object map[string]json.RawMessage, into map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		v, known := into[name]
		if !known {
			return fault("/"+jsonpointer.Escape(name), strict.Unknown(name, slices.Sorted(maps.Keys(into))))
		}
		if err := readValue("/"+jsonpointer.Escape(name), object[name], v); err != nil {
			return err
		}
	}
	return nil
}

// readObject splits a JSON object into its members' bytes.
func readObject(raw []byte) (map[string]json.RawMessage, error) {
	if kind(raw) != '{' {
		if kind(raw) != 0 && !json.Valid(raw) {
			return nil, fault("", "malformed JSON")
		}
		return nil, fault("", "expected an object")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fault("", "malformed JSON: "+err.Error())
	}
	return object, nil
}

// readValue decodes the value at path. Faults may point below it.
func readValue(path string, raw json.RawMessage, into any) error {
	if list, ok := into.(*[]ErrorRule); ok {
		return readList(path, raw, list)
	}
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	return within(path, err)
}

func readList[T any](path string, raw json.RawMessage, list *[]T) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return within(path, err)
	}
	for i, item := range items {
		var v T
		if err := readValue(path+"/"+strconv.Itoa(i), item, &v); err != nil {
			return err
		}
		*list = append(*list, v)
	}
	return nil
}

// within returns err as a fault at path.
func within(path string, err error) error {
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if typeErr.Field != "" {
			path += "/" + strings.ReplaceAll(typeErr.Field, ".", "/")
		}
		return fault(path, strict.Expected(typeErr))
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return fault(path+e.Path, e.Msg)
	}
	return fault(path, strings.TrimPrefix(err.Error(), "json: "))
}
