package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Restore returns sent with the secrets of stored in place of the redaction marks of [JSON],
// so that a definition that was read, changed and sent back keeps its secrets. Members are
// matched by name, and items of lists by their name, key or id, else by position.
//
// A secret is not restored where the request may now go elsewhere: if a URL, host or the
// like was changed or added, sent is returned unchanged, and its receiver refuses the
// redaction marks.
func Restore(sent, stored json.RawMessage) json.RawMessage {
	if !bytes.Contains(sent, []byte(tool.Redacted)) || len(stored) == 0 {
		return sent
	}
	s, err := decode(sent)
	if err != nil {
		return sent
	}
	has, err := decode(stored)
	if err != nil {
		return sent
	}
	var r restoring
	out := r.merge("", s, walk(has, 0), has)
	if r.led || !r.restored {
		return sent
	}
	return encode(out)
}

type restoring struct {
	restored bool // A secret was put back.
	led      bool // A destination was changed.
}

// merge returns sent, with the values of stored in place of those equal to shown.
func (r *restoring) merge(name string, sent, shown, stored any) any {
	if reflect.DeepEqual(sent, shown) {
		r.restored = r.restored || !reflect.DeepEqual(shown, stored)
		return stored
	}
	switch sent := sent.(type) {
	case map[string]any:
		shownMembers, _ := shown.(map[string]any)
		storedMembers, _ := stored.(map[string]any)
		out := make(map[string]any, len(sent))
		for k, v := range sent {
			out[k] = r.merge(k, v, shownMembers[k], storedMembers[k])
		}
		return out
	case []any:
		shownItems, _ := shown.([]any)
		storedItems, _ := stored.([]any)
		out := make([]any, len(sent))
		for i, v := range sent {
			var wasShown, wasStored any
			if at := place(shownItems, v, i); at >= 0 {
				wasShown, wasStored = shownItems[at], storedItems[at]
			}
			out[i] = r.merge(name, v, wasShown, wasStored)
		}
		return out
	case string:
		r.led = r.led || leads(name, sent)
	}
	return sent
}

// place returns the index of an item in the old list: by its name, else by position.
func place(items []any, item any, position int) int {
	if name := nameOf(item); name != "" {
		return slices.IndexFunc(items, func(other any) bool { return nameOf(other) == name })
	}
	if position < len(items) {
		return position
	}
	return -1
}

func nameOf(item any) string {
	if name, _, ok := pair(item); ok {
		return name
	}
	object, _ := item.(map[string]any)
	for _, member := range []string{"name", "key", "id", "header"} {
		if name, ok := object[member].(string); ok {
			return name
		}
	}
	return ""
}

// leadingWords are words in the names of members for destinations.
var leadingWords = words(`url uri endpoint endpoints host hosts hostname server servers domain address base origin proxy site
	region target ref port path in location method type command program`)

// leads reports whether a text may be a destination. A redaction mark is not: it is refused
// where it is left.
func leads(name, value string) bool {
	if value == tool.Redacted {
		return false
	}
	return strings.ContainsAny(value, ".:/@%{}\\") ||
		slices.ContainsFunc(splitWords(name), func(w string) bool { return leadingWords[w] })
}
