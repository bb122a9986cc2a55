package binding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Rename returns a binding whose references into one root lead into another one, such as from
// "steps" to "nodes". An empty binding stays empty. It fails where the binding is no JSON.
func Rename(raw json.RawMessage, from, to string) (json.RawMessage, error) {
	if len(raw) == 0 {
		return raw, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // Numbers stay as they are written.
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading a binding: %w", err)
	}
	rename(v, "/"+from+"/", "/"+to+"/")
	return Marshal(v)
}

func rename(v any, from, to string) {
	switch v := v.(type) {
	case map[string]any:
		if pointer, ok := v[keyFrom].(string); ok {
			if below, ok := strings.CutPrefix(pointer, from); ok {
				v[keyFrom] = to + below
			}
			return // Its default is a literal.
		}
		if _, ok := v[keyLiteral]; ok {
			return
		}
		for _, member := range v {
			rename(member, from, to)
		}
	case []any:
		for _, item := range v {
			rename(item, from, to)
		}
	}
}
