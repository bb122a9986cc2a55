package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/platform/cli"
)

const soundGraph = `slug: checkOrders
name: Check orders
description: Reads orders.
version: 1.0.0
publish: true
implementation_type: graph
implementation_config:
  nodes:
    - id: each
      kind: map
      over: {$from: /input/orders}
      nodes:
        - {id: order, kind: tool, tool: getOrder, arguments: {id: {$from: /item}}}
    - {id: done, kind: end, output: {$from: /nodes/each/result}}
input_schema:
  type: object
  properties: {orders: {type: array, items: {type: string}}}
`

// All faults of a graph are reported at once, each with its line, without a server.
func TestGraphValidate(t *testing.T) {
	t.Parallel()
	s := setup(t)
	wrong := s.write(t, "wrong.yaml", strings.NewReplacer("kind: map", "kind: mop", "/item", "/step").Replace(soundGraph)+
		"---\nimplementation_type: graph\nslug: b\nimplementation_config:\n  nodes:\n    - {id: a, kind: loop, next: zz}\n")
	got := s.run(t, "graph", "validate", wrong, "--offline")
	require.Equal(t, cli.ExitInvalid, got.code)
	require.Contains(t, got.err, `wrong.yaml:10:`)
	require.Contains(t, got.err, `kind "mop"`)
	require.Contains(t, got.err, "   10 |       kind: mop")
	require.Contains(t, got.err, `there is no node "zz"`)
	require.Contains(t, got.err, "needs a condition")
	var shown struct {
		Failed int
		Faults []struct {
			Line int
			Path string
		}
	}
	got = s.run(t, "graph", "validate", wrong, "--offline", "--json")
	require.NoError(t, json.Unmarshal([]byte(got.out), &shown), got.out)
	require.Equal(t, 2, shown.Failed)
	require.Equal(t, "/implementation_config/nodes/0/kind", shown.Faults[0].Path)
	require.Equal(t, 10, shown.Faults[0].Line)

	sound := s.write(t, "sound.yaml", soundGraph)
	require.Equal(t, "1 graphs are sound\n", s.ok(t, "graph", "validate", sound, "--offline"))
	got = s.run(t, "graph", "validate", sound)
	require.Equal(t, cli.ExitNotFound, got.code, "%s%s", got.out, got.err)
	require.Contains(t, got.err, "getOrder")
	s.tools(t, "getOrder")
	require.Equal(t, "1 graphs are sound\n", s.ok(t, "graph", "validate", sound))
	require.Equal(t, cli.ExitNotFound, s.run(t, "graph", "show", "checkOrders").code, "nothing was applied")

	alone := s.write(t, "alone.yaml", "nodes:\n  - {id: a, kind: start, next: b}\n")
	require.Contains(t, s.run(t, "graph", "validate", alone).err, "alone.yaml:2:")
	none := s.run(t, "graph", "validate", s.write(t, "none.yaml", "slug: a\nimplementation_type: internal\n"))
	require.Equal(t, cli.ExitInvalid, none.code)
	require.Contains(t, none.err, "there is no graph in")
}

// A graph is listed and drawn from a server, a version, and a file, with the statuses of a run.
func TestGraphShow(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.tools(t, "getOrder")
	file := s.write(t, "sound.yaml", soundGraph)
	s.ok(t, "apply", "-f", file)
	for _, operand := range []string{"checkOrders", "checkOrders@1.0.0", file} {
		require.Regexp(t, `(?m)^each +map +done +over /input/orders$`, s.ok(t, "graph", "show", operand))
		require.Regexp(t, `(?m)^  order +tool +getOrder$`, s.ok(t, "graph", "show", operand))
		require.Contains(t, s.ok(t, "graph", "show", operand, "--mermaid"), "subgraph n0[")
		require.Contains(t, s.ok(t, "graph", "show", operand, "--svg"), `<title id="t">Check orders</title>`)
	}
	var shown struct {
		Steps      []struct{ Node string }
		Definition graph.Definition
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "graph", "show", "checkOrders", "--json")), &shown))
	require.Len(t, shown.Steps, 3)
	require.Len(t, shown.Definition.Nodes, 2)
	require.Equal(t, cli.ExitUsage, s.run(t, "graph", "show", "checkOrders", "--svg", "--mermaid").code)
	require.Contains(t, s.run(t, "graph", "show", "getOrder").err, "is no graph")
	require.Contains(t, s.run(t, "graph", "show", "checkOrder").err, "Did you mean checkOrders?")
}

func TestGraphDiff(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.tools(t, "getOrder")
	s.ok(t, "apply", "-f", s.write(t, "one.yaml", soundGraph))
	two := s.write(t, "two.yaml", strings.NewReplacer(
		"1.0.0", "1.1.0", "kind: map", "kind: map\n      concurrency: 3", "/item}", "/item/id}").Replace(soundGraph))
	s.ok(t, "apply", "-f", two)
	want := `(?s)WHAT.*added +each +/concurrency +3\n.*changed +order +/arguments/id/\$from +"/item" +"/item/id"`
	require.Regexp(t, want, s.ok(t, "graph", "diff", "checkOrders@1.0.0", "checkOrders@1.1.0"))
	require.Regexp(t, want, s.ok(t, "graph", "diff", "checkOrders@1.0.0", two))
	require.Equal(t, "nothing changed\n", s.ok(t, "graph", "diff", "checkOrders", two))
	require.Contains(t, s.ok(t, "graph", "diff", "checkOrders", two, "--json"), `"changes": []`)
}

func TestGraphSchema(t *testing.T) {
	t.Parallel()
	require.Equal(t, string(graph.JSONSchema()), setup(t).ok(t, "graph", "schema"))
}

const soundSteps = `slug: readTwice
name: Read twice
description: Reads an order, and its copy.
version: 1.0.0
publish: true
implementation_type: composition
implementation_config:
  steps:
    - {id: first, tool: getOrder, arguments: {id: {$from: /input/id}}}
    - {id: second, tool: getOrder, arguments: {id: {$from: /steps/first/text}}}
  output: {$from: /steps/second/text}
input_schema: {type: object, properties: {id: {type: string}}}
`

// Compositions are checked, listed, drawn, compared and exported as graphs, of which they are a shape.
func TestGraphCommandsTakeCompositions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.tools(t, "getOrder")
	wrong := s.run(t, "graph", "validate", "--offline",
		s.write(t, "wrong.yaml", strings.Replace(soundSteps, "/steps/first/text", "/steps/third/text", 1)))
	require.Equal(t, cli.ExitInvalid, wrong.code)
	require.Contains(t, wrong.err, "wrong.yaml:10:")
	require.Contains(t, s.run(t, "graph", "validate", s.write(t, "alone.yaml", "steps: []\n")).err, "alone.yaml:1:")

	file := s.write(t, "sound.yaml", soundSteps)
	require.Equal(t, "1 graphs are sound\n", s.ok(t, "graph", "validate", file))
	s.ok(t, "apply", "-f", file)
	for _, operand := range []string{"readTwice", "readTwice@1.0.0", file} {
		require.Regexp(t, `(?m)^first +tool +second +getOrder$`, s.ok(t, "graph", "show", operand))
		require.Contains(t, s.ok(t, "graph", "show", operand, "--mermaid"), "-->")
		require.Contains(t, s.ok(t, "graph", "show", operand, "--svg"), `<title id="t">Read twice</title>`)
	}
	two := s.write(t, "two.yaml", strings.Replace(soundSteps, "/input/id", "/input", 1))
	require.Regexp(t, `changed +first +/arguments/id/\$from +"/input/id" +"/input"`,
		s.ok(t, "graph", "diff", "readTwice@1.0.0", two))

	doc, made := filepath.Join(s.dir, "doc.yaml"), filepath.Join(s.dir, "made.yaml")
	s.ok(t, "graph", "export", "readTwice", "--format", "yaml", "--output", doc)
	s.ok(t, "graph", "import", doc, "--output", made)
	shown := s.ok(t, "graph", "show", made, "--json")
	require.Contains(t, shown, "/nodes/first/text")
	require.NotContains(t, shown, "/steps/first/text")
}
