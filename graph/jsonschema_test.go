package graph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

var update = flag.Bool("update", false, "write docs/graph.schema.json")

// The published schema is that of the code.
func TestJSONSchemaIsPublished(t *testing.T) {
	t.Parallel()

	const file = "../docs/graph.schema.json"
	if *update {
		require.NoError(t, os.WriteFile(file, graph.JSONSchema(), 0o644))
	}
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(graph.JSONSchema()), string(raw), "go test ./graph -run TestJSONSchemaIsPublished -update")
}

func format(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(graph.SchemaID, bytes.NewReader(graph.JSONSchema())))
	return c.MustCompile(graph.SchemaID)
}

// Every field and every kind is in the schema, with words on it.
func TestJSONSchemaHasAllFields(t *testing.T) {
	t.Parallel()

	var s struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Description string
				Enum        []flow.Kind
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(graph.JSONSchema(), &s))
	for name, of := range map[string]reflect.Type{
		"definition": reflect.TypeFor[graph.Definition](), "node": reflect.TypeFor[graph.Node](),
		"limits": reflect.TypeFor[graph.Limits](), "case": reflect.TypeFor[graph.Case](),
		"branch": reflect.TypeFor[graph.Branch](), "retry": reflect.TypeFor[flow.Retry](),
	} {
		require.Len(t, s.Defs[name].Properties, of.NumField(), name)
		for f := range of.Fields() {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			require.NotEmpty(t, s.Defs[name].Properties[field].Description, "%s.%s", name, field)
		}
	}
	require.Equal(t, flow.Kinds(), s.Defs["node"].Properties["kind"].Enum)
}

// beyond are the faults that no schema finds: of what leads where, and of what texts say.
var beyond = regexp.MustCompile(`no node (leads|")|leads back|another (node|body|branch)|unique|never runs|itself|closed here|around it|only in the body|` +
	`not a reference|the condition (is|uses|cannot)|runs later|declares no|a node has no "`)

// agree checks that the schema and Parse take the same: what Parse alone refuses is beyond the schema.
func agree(t *testing.T, s *jsonschema.Schema, raw string) {
	t.Helper()
	var v any
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v), raw)
	invalid := s.Validate(v)
	_, err := graph.Parse(json.RawMessage(raw), nil)
	if err == nil {
		require.NoError(t, invalid, raw)
		return
	}
	if invalid != nil {
		return
	}
	faults := graph.Faults{{Path: tool.AsError(err).Path, Msg: tool.AsError(err).Msg}}
	errors.As(err, &faults)
	for _, f := range faults {
		if strings.HasSuffix(f.Path, "_schema") {
			continue
		}
		require.Regexp(t, beyond, f.Msg, "the schema takes %s, and Parse does not: %s", raw, f.Path)
	}
}

func TestJSONSchemaAgreesWithParse(t *testing.T) {
	t.Parallel()

	s := format(t)
	agree(t, s, everything)
	agree(t, s, fmt.Sprintf(mapOf, 3, 1, ""))
	for name, tt := range refusals {
		if tt.raw != "" {
			t.Log(name)
			agree(t, s, tt.raw)
		}
	}
}

// Each node of each kind, with each field missing, of other forms, and with fields of other kinds.
func TestJSONSchemaAgreesOnMutations(t *testing.T) {
	t.Parallel()

	s := format(t)
	var d struct{ Nodes []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(everything), &d))
	known := map[string]any{
		"retry": map[string]any{"attempts": 2}, "output_schema": map[string]any{"type": "object"}, "timeout_s": 1.5,
		"title": "x", "until": "2026-01-01T00:00:00Z", "on_error": "continue", "next": "zz", "tolerate": 1,
		"failed_items": "null",
	}
	for _, n := range d.Nodes {
		maps.Copy(known, n)
	}
	forms := []any{
		1, -1, 1.5, "x", "a b", true, []any{1}, map[string]any{"x": 1}, 1e6, strings.Repeat("x", 100), "tool@", "tool@^1",
	}
	for _, n := range d.Nodes {
		check := func(change func(n map[string]any)) {
			changed := maps.Clone(n)
			change(changed)
			raw, err := json.Marshal(map[string]any{"nodes": []any{changed, map[string]any{"id": "zz", "kind": "start"}}})
			require.NoError(t, err)
			agree(t, s, string(raw))
		}
		check(func(map[string]any) {})
		for _, name := range slices.Sorted(maps.Keys(known)) {
			check(func(n map[string]any) { delete(n, name) })
			check(func(n map[string]any) {
				if _, has := n[name]; !has {
					n[name] = known[name]
				}
			})
			for _, form := range forms {
				check(func(n map[string]any) { n[name] = form })
			}
		}
		check(func(n map[string]any) { n["nonsense"] = 1 })
		for _, attempts := range []int{0, 1, 2, 20, 21} {
			for _, backoff := range []float64{-1, 0, 0.5, 1, 3} {
				check(func(n map[string]any) { n["retry"] = map[string]any{"attempts": attempts, "backoff": backoff} })
			}
		}
		check(func(n map[string]any) { n["retry"] = map[string]any{"attempts": 2, "on": []string{"nothing"}} })
	}
}
