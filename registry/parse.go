package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/tool"
)

// ParseDefinition reads the JSON of a tool, an agent, an MCP server, an
// artifact or a pipeline, distinguished by its "kind"; without one it is a
// tool. Names of fields are accepted in snake_case and camelCase, and in other
// usual spellings: "input" and "parameters" for input_schema, "timeout" in
// milliseconds, "executionType", a nested "schema" or "config_schema". An
// unknown field fails with tool.Invalid and the name that was probably meant.
func ParseDefinition(raw []byte) (Definition, error) {
	doc, err := readObject("", raw)
	if err != nil {
		return Definition{}, err
	}
	var kind string
	if err := take(doc, "kind", &kind); err != nil {
		return Definition{}, err
	}
	switch kind {
	case "", "tool":
		s, err := parseTool(doc)
		return Definition{Tool: s}, err
	case "agent":
		s, err := parseAgent(doc)
		return Definition{Agent: s}, err
	case "mcp_server":
		s, err := parseServer("", doc)
		return Definition{Server: s}, err
	case "artifact":
		s, err := parseArtifact(doc)
		return Definition{Artifact: s}, err
	case "pipeline":
		s, err := parsePipeline(doc)
		return Definition{Pipeline: s}, err
	default:
		return Definition{}, refuse(
			tool.Invalid, "/kind", "kind %.40q: expected tool, agent, mcp_server, artifact or pipeline", kind,
		)
	}
}

func parseAgent(doc object) (*AgentSpec, error) {
	for _, alias := range []string{"system_prompt", "prompt"} {
		if err := doc.move(alias, doc, "instructions"); err != nil {
			return nil, err
		}
	}
	if doc["slug"] == nil && doc["name"] != nil {
		doc["slug"] = doc["name"]
	}
	doc.drop(rowFields...)
	var s AgentSpec
	if err := firstOf(doc.nested("limits"), parseSkills(doc)); err != nil {
		return nil, err
	}
	return &s, doc.into("", &s)
}

// object is a JSON object with its names in snake_case.
type object map[string]json.RawMessage

// readObject reads an object and unifies the spelling of its names.
func readObject(path string, raw []byte) (object, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(raw, &in); err != nil || in == nil {
		return nil, refuse(tool.Invalid, path, "expected a JSON object")
	}
	out := make(object, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		snake := snakeCase(name)
		if _, twice := out[snake]; twice {
			return nil, refuse(tool.Invalid, path+"/"+name, "%s is given twice, in two spellings", snake)
		}
		if value := in[name]; !bytes.Equal(value, []byte("null")) {
			out[snake] = value
		}
	}
	return out, nil
}

// snakeCase writes a name in snake_case: inputSchema as input_schema, and
// serverURL as server_url.
func snakeCase(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		isUpper := c >= 'A' && c <= 'Z'
		if isUpper && lower {
			b.WriteByte('_')
		}
		lower = !isUpper && c != '_' && c != '-'
		if c == '-' {
			c = '_'
		}
		b.WriteString(strings.ToLower(string(c)))
	}
	return b.String()
}

// move renames a field, into another object perhaps. Giving both is an error.
func (o object) move(from string, to object, name string) error {
	value, ok := o[from]
	if !ok {
		return nil
	}
	if _, taken := to[name]; taken {
		return refuse(tool.Invalid, "/"+from, "%s and %s are the same field: expected one of them", from, name)
	}
	delete(o, from)
	to[name] = value
	return nil
}

func (o object) drop(names ...string) {
	for _, name := range names {
		delete(o, name)
	}
}

// nested unifies the spelling of the names of an object within.
func (o object) nested(name string) error {
	if o[name] == nil {
		return nil
	}
	inner, err := readObject("/"+name, o[name])
	if err != nil {
		return err
	}
	return o.put(name, inner)
}

// put stores an object within, unless it is empty.
func (o object) put(name string, inner object) error {
	if len(inner) == 0 {
		return nil
	}
	raw, err := json.Marshal(inner)
	if err != nil {
		return refuse(tool.Invalid, "/"+name, "malformed JSON")
	}
	o[name] = raw
	return nil
}

// take reads a field and removes it.
func take(o object, name string, to any) error {
	raw, ok := o[name]
	if !ok {
		return nil
	}
	delete(o, name)
	if err := json.Unmarshal(raw, to); err != nil {
		return typeError("/"+name, err)
	}
	return nil
}

// into decodes the whole object, and refuses names that to does not have.
func (o object) into(path string, to any) error {
	if err := checkNames(path, o, to); err != nil {
		return err
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return refuse(tool.Invalid, path, "malformed JSON")
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return typeError(path, err)
	}
	return nil
}

// typeError names the field whose value is of the wrong type.
func typeError(path string, err error) error {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		parts := slices.DeleteFunc(strings.Split(te.Field, "."), func(part string) bool {
			// Embedded structs have no name of their own.
			return part == "Definition" || part == "Policy" || part == "Connection"
		})
		path = strings.TrimSuffix(path+"/"+strings.Join(parts, "/"), "/")
		return refuse(tool.Invalid, path, "%s: %s", path, strict.Expected(te))
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return within(path, e)
	}
	return refuse(tool.Invalid, path, "%s", fmt.Sprintf("malformed: %.120s", err.Error()))
}
