package schema

import (
	"net/url"
	"strconv"
	"strings"
)

var (
	tokenEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	tokenUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// escapeToken makes a name a token of a JSON Pointer.
func escapeToken(name string) string { return tokenEscaper.Replace(name) }

// tokens splits a JSON Pointer into unescaped names.
func tokens(pointer string) []string {
	if pointer == "" || pointer == "/" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		parts[i] = tokenUnescaper.Replace(p)
	}
	return parts
}

// lookup follows a JSON Pointer through decoded JSON.
func lookup(doc any, pointer string) (any, bool) {
	for _, token := range tokens(pointer) {
		switch d := doc.(type) {
		case map[string]any:
			v, ok := d[token]
			if !ok {
				return nil, false
			}
			doc = v
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(d) {
				return nil, false
			}
			doc = d[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// unescapeLocation turns a location of the validation library, whose tokens
// are escaped as in URLs, into a plain JSON Pointer.
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
