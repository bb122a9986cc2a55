package schema

import (
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// tokens splits a JSON Pointer into unescaped names.
func tokens(pointer string) []string {
	if pointer == "" || pointer == "/" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		parts[i] = jsonpointer.Unescape(p)
	}
	return parts
}

// lookup follows a JSON Pointer through decoded JSON.
func lookup(doc any, pointer string) (any, bool) {
	return jsonpointer.New(tokens(pointer)...).Lookup(doc)
}

// unescapeLocation converts a location of the validation library, whose tokens are escaped as
// in URLs, to a JSON Pointer.
func unescapeLocation(location string) string {
	plain, err := url.PathUnescape(location)
	if err != nil {
		return location
	}
	return plain
}

// fragment returns the part of an absolute location that is a pointer into the
// document.
func fragment(location string) string {
	_, pointer, _ := strings.Cut(location, "#")
	return unescapeLocation(pointer)
}
