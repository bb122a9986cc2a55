package openapi

import (
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// follow returns the object that v is or refers to, and its pointer. A
// reference out of the document is refused: nothing is fetched or opened.
func (d *document) follow(v any, pointer string) (object, string, error) {
	for range maxRefs {
		if err := d.spend(); err != nil {
			return nil, pointer, err
		}
		o := asObject(v)
		if o == nil {
			return nil, pointer, refuse(pointer, "expected an object")
		}
		ref, ok := o["$ref"].(string)
		if !ok {
			return o, pointer, nil
		}
		target, to, err := d.lookup(ref, pointer)
		if err != nil {
			return nil, pointer, err
		}
		v, pointer = target, to
	}
	return nil, pointer, refuse(pointer, "the chain of references is too long or cyclic")
}

// lookup finds the target of a reference.
func (d *document) lookup(ref, from string) (any, string, error) {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, "", refuse(
			from, "it refers to %s: only references within the document are followed, nothing is fetched or read",
			clean(ref, 120),
		)
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil || pointer != "" && !strings.HasPrefix(pointer, "/") {
		return nil, "", refuse(from, "the reference %s is not a JSON Pointer", clean(ref, 120))
	}
	v, ok := jsonpointer.New(pointerTokens(pointer)...).Lookup(map[string]any(d.root))
	if !ok {
		return nil, "", refuse(from, "the reference %s has no target", clean(ref, 120))
	}
	return v, pointer, nil
}

// pointerTokens splits a pointer, without the limit of depth that others have.
func pointerTokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		tokens[i] = jsonpointer.Unescape(token)
	}
	return tokens
}
