package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) graphCommand() *cobra.Command {
	return cli.Describe(cli.Group("graph", "Check, draw, compare and run graphs and compositions",
		a.graphValidateCommand(), a.graphShowCommand(), a.graphDiffCommand(), a.graphSchemaCommand(),
		a.graphRunCommand(), a.graphResumeCommand(), a.graphImportCommand(), a.graphExportCommand()),
		`A graph is a tool of the type graph, so tool apply, publish, call and explain are its
commands too, and run nodes lists how far a run of one came. These look into it. A
composition is a graph of one shape: its steps are the nodes.`,
		`  toolcrib graph validate checkOrders.yaml
  toolcrib graph show checkOrders --svg > checkOrders.svg
  toolcrib graph diff checkOrders@1.0.0 checkOrders@1.1.0`)
}

func (a *app) graphSchemaCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of graphs", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Printer.Out.Write(graph.JSONSchema())
			return err
		},
	}, `Prints the JSON Schema (draft 2020-12) of the implementation_config of a graph, with
which editors complete and check it.`, `  toolcrib graph schema > graph.schema.json`)
}

// graphSource is a graph of a file or of a server.
type graphSource struct {
	name       string // As it is called on the command line.
	slug       string // Empty of a configuration alone.
	sequence   bool   // Whether it is a composition.
	title      string
	definition graph.Definition
	input      json.RawMessage // Its input schema.
}

// isFile reports whether an operand means a file and no slug: slugs have no dots and slashes.
func isFile(operand string) bool {
	name, _, _ := strings.Cut(operand, "@")
	return operand == "-" || !tool.ValidSlug(name) ||
		slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(operand))
}

// readGraph reads a graph that must be sound: of a file, or of a server as SLUG or SLUG@VERSION.
func (a *app) readGraph(ctx context.Context, stdin io.Reader, operand string) (graphSource, error) {
	if !isFile(operand) {
		return a.fetchGraph(ctx, operand)
	}
	documents, err := definition.Read(ctx, []string{operand}, stdin)
	if err != nil {
		return graphSource{}, err
	}
	found := graphsIn(documents)
	switch {
	case len(found) == 0:
		return graphSource{}, noGraph(operand)
	case len(found) > 1:
		return graphSource{}, &tool.Error{Kind: tool.Invalid, Msg: fmt.Sprintf(
			"there are %d graphs in %s: put the one that is meant into a file of its own", len(found), operand)}
	}
	g, faults := found[0].parse()
	if len(faults) > 0 {
		return graphSource{}, faults[0]
	}
	return graphSource{operand, found[0].slug, g.Sequence(), found[0].title, g.Definition, found[0].input}, nil
}

func noGraph(where string) error {
	return &tool.Error{Kind: tool.Invalid, Msg: "there is no graph in " + where +
		": expected a tool with implementation_type graph or composition, or its implementation_config alone"}
}

func (a *app) fetchGraph(ctx context.Context, operand string) (graphSource, error) {
	c, err := a.Connect()
	if err != nil {
		return graphSource{}, err
	}
	defer c.Close()
	return a.graphOf(ctx, c, operand)
}

// graphOf fetches the graph that SLUG or SLUG@VERSION means: its draft, or a version.
func (a *app) graphOf(ctx context.Context, c *client.Client, operand string) (graphSource, error) {
	slug, version, _ := strings.Cut(operand, "@")
	d, err := toolDefinition(ctx, c, slug, version)
	if err != nil {
		return graphSource{}, a.suggestTool(ctx, c, slug, err)
	}
	if !graph.Is(d.Implementation) {
		return graphSource{}, &tool.Error{
			Kind: tool.Invalid, Msg: fmt.Sprintf("%s is no graph: it is of type %s", slug, d.Implementation),
		}
	}
	g, err := graph.Of(d.Implementation, d.Config, d.InputSchema)
	if err != nil {
		return graphSource{}, err
	}
	title := d.Name
	if title == "" {
		title = slug
	}
	return graphSource{operand, slug, g.Sequence(), title, g.Definition, d.InputSchema}, nil
}

// served is the part of a tool's definition that graphs have.
type served struct {
	Name           string
	Implementation tool.Implementation
	Config         json.RawMessage
	InputSchema    json.RawMessage
}

// toolDefinition fetches a version of a tool, or its draft.
func toolDefinition(ctx context.Context, c *client.Client, slug, version string) (served, error) {
	if version == "" {
		t, err := c.Tool(ctx, slug)
		return served{t.Name, t.Implementation, t.Config, t.InputSchema}, err
	}
	v, err := c.ToolVersion(ctx, slug, version)
	d := v.Definition
	return served{d.Name, d.Implementation, d.Config, d.InputSchema}, err
}

// graphDocument is a graph in a file.
type graphDocument struct {
	definition.Document

	slug   string
	title  string
	impl   tool.Implementation
	config json.RawMessage
	input  json.RawMessage
	base   string // JSON Pointer of the configuration in the document.
	whole  bool   // Whether the document defines a tool.
}

// graphsIn returns the graphs among documents: tools of their types, and configurations alone.
func graphsIn(documents []definition.Document) []graphDocument {
	var out []graphDocument
	for _, d := range documents {
		var fields map[string]json.RawMessage
		if json.Unmarshal(d.Raw, &fields) != nil {
			continue
		}
		text := func(name string) string {
			var s string
			_ = json.Unmarshal(fields[name], &s) // What is no text is missing.
			return s
		}
		switch impl := tool.Implementation(text("implementation_type")); {
		case graph.Is(impl):
			title := text("name")
			if title == "" {
				title = text("slug")
			}
			out = append(out, graphDocument{
				d, text("slug"), title, impl, fields["implementation_config"], fields["input_schema"],
				"/implementation_config", true,
			})
		case (fields["nodes"] != nil || fields["steps"] != nil) && fields["slug"] == nil:
			out = append(out, graphDocument{Document: d, impl: graph.TypeOf(d.Raw), config: d.Raw})
		}
	}
	return out
}

// graphError is a fault of a graph, and where it is.
type graphError struct {
	*definition.FileError

	Path string `json:"path"` // JSON Pointer in the document.
}

// parse compiles the graph, and returns all that is wrong with it.
func (d graphDocument) parse() (*graph.Graph, []graphError) {
	g, err := graph.Of(d.impl, d.config, d.input)
	if err == nil {
		return g, nil
	}
	var out []graphError
	for _, f := range graph.FaultsOf(err) {
		out = append(out, graphError{d.Fault(d.base+f.Path, f.Msg), d.base + f.Path})
	}
	return nil, out
}
