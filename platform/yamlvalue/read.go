// Package yamlvalue reads YAML documents as the values that encoding/json decodes from JSON, within
// bounds: aliases are expanded, and counted.
package yamlvalue

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits bound a document.
type Limits struct {
	Nodes int // Values, after expansion of aliases.
	Depth int // Nested values.
}

// reader converts YAML nodes to the values that encoding/json decodes from JSON.
type reader struct {
	limits Limits
	nodes  int
	open   map[*yaml.Node]bool // Aliases that are being expanded.
}

// Read reads a document of one value by the rules of YAML 1.2 and JSON: yes, no and dates are texts, and numbers
// are of type [json.Number]. Errors have the line.
func Read(raw []byte, limits Limits) (doc any, err error) {
	defer func() {
		if r := recover(); r != nil { // The library has panicked on malformed input.
			doc, err = nil, fmt.Errorf("it cannot be read as YAML: %v", r)
		}
	}()
	var root yaml.Node
	if err := yaml.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return nil, errors.New("it has no document")
	}
	r := reader{limits: limits, open: make(map[*yaml.Node]bool)}
	return r.value(root.Content[0], 0)
}

func (r *reader) value(n *yaml.Node, depth int) (any, error) {
	r.nodes++
	switch {
	case r.nodes > r.limits.Nodes:
		return nil, fmt.Errorf("line %d: more than %d values, after expansion of aliases", n.Line, r.limits.Nodes)
	case depth > r.limits.Depth:
		return nil, fmt.Errorf("line %d: nested more than %d deep", n.Line, r.limits.Depth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.AliasNode:
		if n.Alias == nil || r.open[n.Alias] {
			return nil, fmt.Errorf("line %d: the alias *%s is recursive", n.Line, clip(n.Value, 40))
		}
		r.open[n.Alias] = true
		defer delete(r.open, n.Alias)
		return r.value(n.Alias, depth+1)
	case yaml.ScalarNode:
		return scalar(n)
	case yaml.DocumentNode:
	}
	return nil, fmt.Errorf("line %d: this has no equivalent in JSON", n.Line)
}

// mapping reads an object. Members of a merge key are overridden by the
// object's own.
func (r *reader) mapping(n *yaml.Node, depth int) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a name must be a string", key.Line)
		}
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if _, twice := out[key.Value]; twice {
			return nil, fmt.Errorf("line %d: %q is duplicate", key.Line, clip(key.Value, 60))
		}
		v, err := r.value(value, depth+1)
		if err != nil {
			return nil, err
		}
		out[key.Value] = v
	}
	for _, node := range merged {
		v, err := r.value(node, depth+1)
		if err != nil {
			return nil, err
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, v := range list {
			brought, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("line %d: the value of a merge key must be a mapping", node.Line)
			}
			for name, value := range brought {
				if _, have := out[name]; !have {
					out[name] = value
				}
			}
		}
	}
	return out, nil
}

// scalar reads a scalar by the rules of YAML 1.2 and JSON: yes, no and dates are
// strings, and numbers keep their spelling.
func scalar(n *yaml.Node) (any, error) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value, nil
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE", nil
	case "!!int", "!!float":
		return number(n)
	case "!!str", "!!timestamp", "!!binary":
		return n.Value, nil
	default:
		return nil, fmt.Errorf("line %d: the tag %s has no equivalent in JSON", n.Line, clip(n.Tag, 40))
	}
}

func number(n *yaml.Node) (any, error) {
	if isNumber(n.Value) {
		return json.Number(n.Value), nil
	}
	var i int64
	if n.Decode(&i) == nil {
		return json.Number(strconv.FormatInt(i, 10)), nil
	}
	var f float64
	if n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
	}
	return nil, fmt.Errorf("line %d: %s is not a number in JSON", n.Line, clip(n.Value, 40))
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
