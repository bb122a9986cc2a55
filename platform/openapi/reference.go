package openapi

import (
	"net/url"
	"strconv"
	"strings"
)

// escape writes a name as an element of a JSON Pointer.
func escape(name string) string { return pointerEscapes.Replace(name) }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// follow returns the object that v is or refers to, and where that stands. A
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
	return nil, pointer, refuse(pointer, "references lead to references without an end")
}

// lookup finds what a reference names.
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
		return nil, "", refuse(from, "the reference %s is no JSON Pointer", clean(ref, 120))
	}
	var v any = map[string]any(d.root)
	if pointer == "" {
		return v, "", nil
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for token := range strings.SplitSeq(pointer[1:], "/") {
		name := unescape.Replace(token)
		switch at := v.(type) {
		case map[string]any:
			member, ok := at[name]
			if !ok {
				return nil, "", refuse(from, "the reference %s leads nowhere", clean(ref, 120))
			}
			v = member
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at) {
				return nil, "", refuse(from, "the reference %s leads nowhere", clean(ref, 120))
			}
			v = at[i]
		default:
			return nil, "", refuse(from, "the reference %s leads nowhere", clean(ref, 120))
		}
	}
	return v, pointer, nil
}
