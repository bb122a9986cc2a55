package definition

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// Arguments makes an object of name=value pairs. Values are text; the tool's
// schema converts them afterwards. A name given several times is a list. Dots
// lead into objects, unless declared reports that the schema has a property of
// exactly that name.
func Arguments(pairs []string, declared func(name string) bool) (json.RawMessage, error) {
	root := make(map[string]any)
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--arg %q: expected NAME=VALUE", pair)
		}
		path := strings.Split(name, ".")
		if declared(name) {
			path = []string{name}
		}
		if reason := jsonvalue.CheckString(pair); reason != "" { // Encoding would replace what it cannot write.
			return nil, fmt.Errorf("--arg %q: %s", name, reason)
		}
		if err := put(root, path, value); err != nil {
			return nil, fmt.Errorf("--arg %q: %w", pair, err)
		}
	}
	return json.Marshal(root)
}

// put sets a value in nested objects.
func put(object map[string]any, path []string, value string) error {
	name := path[0]
	if len(path) == 1 {
		switch have := object[name].(type) {
		case nil:
			object[name] = value
		case string:
			object[name] = []any{have, value}
		case []any:
			object[name] = append(have, value)
		default:
			return fmt.Errorf("%s is an object already", name)
		}
		return nil
	}
	inner, ok := object[name].(map[string]any)
	if !ok {
		if object[name] != nil {
			return fmt.Errorf("%s has a value already", name)
		}
		inner = make(map[string]any)
		object[name] = inner
	}
	return put(inner, path[1:], value)
}
