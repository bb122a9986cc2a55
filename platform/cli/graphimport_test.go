package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// A document of Agent Spec becomes definitions that apply takes, without a server; what they lack is listed.
func TestGraphImport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	raw, err := os.ReadFile("../agentspec/testdata/linear.json")
	require.NoError(t, err)
	doc := s.write(t, "flow.json", string(raw))
	got := s.run(t, "graph", "import", doc)
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Contains(t, got.out, "implementation_type: prompt")
	require.Contains(t, got.out, "---\n")
	require.Contains(t, got.err, `needed   /$referenced_components/read/tool: the tool "readPage"`)

	file := filepath.Join(s.dir, "made.yaml")
	got = s.run(t, "graph", "import", doc, "--output", file, "--model", "scripted/clerk", "--slug", "sumUp")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Contains(t, got.out, "2 definitions in "+file)
	require.Equal(t, "1 graphs are sound\n", s.ok(t, "graph", "validate", file, "--offline"))
	got = s.run(t, "graph", "import", doc, "--apply")
	require.Equal(t, cli.ExitNotFound, got.code, "readPage is missing\n%s%s", got.out, got.err)
	require.Contains(t, got.err, "readPage")

	var shown struct {
		Slug        string
		Definitions []map[string]any
		Losses      []map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "graph", "import", doc, "--json")), &shown))
	require.Len(t, shown.Definitions, 2)
	require.NotEmpty(t, shown.Losses)
}

// What a beginner gets wrong is said in words: another format, several faults, a file that is missing.
func TestGraphImportRefuses(t *testing.T) {
	t.Parallel()
	s := setup(t)
	raw, err := os.ReadFile("../agentspec/testdata/linear.json")
	require.NoError(t, err)
	wrong := s.write(t, "wrong.json", strings.NewReplacer(`"component_type": "LlmNode"`, `"component_type": "Magic"`,
		`"destination_input": "summary"`, `"destination_input": "heading"`).Replace(string(raw)))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"faults":    {[]string{wrong}, cli.ExitInvalid, `wrong.json at /$referenced_components/sum/component_type: a node of type "Magic"`},
		"a graph":   {[]string{s.write(t, "graph.yaml", soundGraph)}, cli.ExitInvalid, "this is no Agent Spec document"},
		"no file":   {[]string{"none.json"}, cli.ExitNotFound, "none.json"},
		"empty":     {[]string{s.write(t, "empty.json", "")}, cli.ExitInvalid, "it is empty"},
		"two ends":  {[]string{wrong, "--apply", "--output", "x"}, cli.ExitUsage, "one of --apply and --output"},
		"a bad way": {nil, cli.ExitUsage, "file"},
	} {
		got := s.run(t, append([]string{"graph", "import"}, c.args...)...)
		require.Equal(t, c.code, got.code, "%s: %s", name, got.err)
		require.Contains(t, got.err, c.says, name)
	}
}

// A graph is written as a document, which makes the same graph again.
func TestGraphExport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "sound.yaml", `slug: getOrder
description: Finds an order.
version: 1.0.0
publish: true
implementation_type: client
interaction: {intent: action, requires_response: true}
input_schema: {type: object, properties: {id: {type: string}}}
---
`+soundGraph))
	doc := filepath.Join(s.dir, "doc.yaml")
	got := s.run(t, "graph", "export", "checkOrders", "--format", "yaml", "--output", doc)
	require.Equal(t, cli.ExitOK, got.code, got.err)
	made := filepath.Join(s.dir, "made.yaml")
	s.ok(t, "graph", "import", doc, "--output", made)
	require.Equal(t, "nothing changed\n", s.ok(t, "graph", "diff", "checkOrders@1.0.0", made))
	require.Contains(t, s.ok(t, "graph", "export", "checkOrders@1.0.0"), `"component_type":"ParallelMapNode"`)

	got = s.run(t, "graph", "export", "getOrder")
	require.Equal(t, cli.ExitConflict, got.code)
	require.Contains(t, got.err, "is no graph: it is of type client")
	got = s.run(t, "graph", "export", "checkOrder")
	require.Equal(t, cli.ExitNotFound, got.code)
	require.Contains(t, got.err, "checkOrders", "the nearest name")
	require.Equal(t, cli.ExitUsage, s.run(t, "graph", "export", doc).code)
}

// A graph is not run where that cannot be: no such graph or version, another type, a file that is no graph.
func TestGraphRunRefuses(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "tools.yaml", `slug: getOrder
description: Finds an order.
version: 1.0.0
publish: true
implementation_type: client
interaction: {intent: action, requires_response: true}
input_schema: {type: object, properties: {id: {type: string}}}
---
`+soundGraph))
	alone := s.write(t, "alone.yaml", "nodes: [{id: a, kind: start}]\n")
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no graph":     {[]string{"getOrder"}, cli.ExitInvalid, "is no graph: it is of type client"},
		"none":         {[]string{"checkOrder"}, cli.ExitNotFound, "checkOrders"},
		"no version":   {[]string{"checkOrders@^9"}, cli.ExitNotFound, "9"},
		"no slug":      {[]string{alone}, cli.ExitInvalid, "has no slug"},
		"no such file": {[]string{"none.yaml"}, cli.ExitNotFound, "none.yaml"},
		"both inputs":  {[]string{"-", "--args-file", "-"}, cli.ExitUsage, "not both"},
		"no statuses":  {[]string{"checkOrders", "--detach", "--svg", "x.svg"}, cli.ExitUsage, "--svg"},
		"bad args":     {[]string{"checkOrders", "--args", "{"}, cli.ExitInvalid, "are not JSON"},
	} {
		got := s.run(t, append([]string{"graph", "run"}, c.args...)...)
		require.Equal(t, c.code, got.code, "%s: %s", name, got.err)
		require.Contains(t, got.err, c.says, name)
	}
}
