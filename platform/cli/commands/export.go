package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/tool"
)

// exported is a definition as it is written to a file.
type exported struct {
	slug string
	raw  json.RawMessage
	note string // A remark about it; may be empty.
}

// exportFlags say what is exported, and where.
type exportFlags struct {
	all    bool
	source string
	out    string
}

func (f *exportFlags) register(cmd *cobra.Command, kind string) {
	cmd.Flags().BoolVar(&f.all, "all", false, "all "+kind+" of the tenant")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "file, or folder for a file each (default: the standard output)")
}

func (a *app) toolExportCommand() *cobra.Command {
	var f exportFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "export TOOL... | --all", Short: "Write tools as definitions that apply takes", Args: cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if f.source != "" && len(args) == 0 {
				f.all = true
			}
			return a.export(cmd, f, args, func(ctx context.Context) ([]string, error) {
				return f.tools(ctx, c)
			}, func(ctx context.Context, name string) (exported, error) {
				out, err := exportTool(ctx, c, name)
				return out, a.suggestTool(ctx, c, name, err)
			})
		}),
	}, `Writes the drafts of tools as YAML, with policy and annotations: apply makes the
same of it again, here or on another server. A tool whose draft is published has
publish: true. With --all, those that a server of MCP brings are left out: they
come from it. A value that looks like a secret is not shown; applied here, it stays
what it is.`, `  toolcrib tool export getOrder > getOrder.yaml
  toolcrib tool export --all -o tools/
  toolcrib tool export --source Orders -o orders.yaml`)
	f.register(cmd, "tools")
	cmd.Flags().StringVar(&f.source, "source", "", "only tools that were imported from the document of this name")
	return cmd
}

func (a *app) agentExportCommand() *cobra.Command {
	var f exportFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "export AGENT... | --all", Short: "Write agents as definitions that apply takes", Args: cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeAgents,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return a.export(cmd, f, args, func(ctx context.Context) ([]string, error) {
				page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Agent], error) {
					return c.ListAgents(ctx, p)
				})
				return each(page.Items, func(g v1.Agent) string { return g.Slug }), err
			}, func(ctx context.Context, name string) (exported, error) {
				out, err := exportAgent(ctx, c, name)
				return out, a.suggestAgent(ctx, c, name, err)
			})
		}),
	}, `Writes the drafts of agents as YAML: apply makes the same of it again, here or on
another server. An agent whose draft is published has publish: true.`, `  toolcrib agent export supportDesk > supportDesk.yaml
  toolcrib agent export --all -o agents/`)
	f.register(cmd, "agents")
	return cmd
}

// export writes the named definitions, or all.
func (a *app) export(
	cmd *cobra.Command, f exportFlags, args []string, list func(context.Context) ([]string, error),
	read func(context.Context, string) (exported, error),
) error {
	ctx := cmd.Context()
	switch {
	case f.all == (len(args) > 0):
		return cli.Usagef("%s needs names or --all, one of both: see %s --help", cmd.CommandPath(), cmd.CommandPath())
	case f.all:
		var err error
		if args, err = list(ctx); err != nil {
			return err
		}
		if len(args) == 0 {
			return &tool.Error{Kind: tool.NotFound, Msg: "there is nothing to export"}
		}
	}
	definitions := make([]exported, len(args))
	for i, name := range args {
		var err error
		if definitions[i], err = read(ctx, name); err != nil {
			return err
		}
		if note := definitions[i].note; note != "" {
			// The rest matters more.
			_, _ = fmt.Fprintf(a.Env.Err, "warning: %s: %s\n", terminal.Clean(definitions[i].slug), terminal.Clean(note))
		}
	}
	return a.writeExported(f.out, definitions)
}

func (a *app) writeExported(out string, definitions []exported) error {
	if a.Printer.JSON {
		raws := make([]json.RawMessage, len(definitions))
		for i, d := range definitions {
			raws[i] = d.raw
		}
		return a.Printer.Show(map[string]any{"definitions": raws}, nil)
	}
	texts := make([]string, len(definitions))
	for i, d := range definitions {
		text, err := definition.Format(d.raw)
		if err != nil {
			return err
		}
		texts[i] = text
	}
	info, err := os.Stat(out)
	switch {
	case out == "" || out == "-":
		_, err := fmt.Fprint(a.Printer.Out, strings.Join(texts, "---\n"))
		return err
	case strings.HasSuffix(out, "/"), err == nil && info.IsDir():
		if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // Definitions hold no secrets.
			return fmt.Errorf("making the folder: %w", err)
		}
		for i, d := range definitions {
			file := filepath.Join(out, filepath.Base(d.slug)+".yaml")
			if err := os.WriteFile(file, []byte(texts[i]), 0o644); err != nil { //nolint:gosec // As above.
				return fmt.Errorf("writing a definition: %w", err)
			}
		}
	default:
		//nolint:gosec // As above.
		if err := os.WriteFile(out, []byte(strings.Join(texts, "---\n")), 0o644); err != nil {
			return fmt.Errorf("writing the definitions: %w", err)
		}
	}
	return a.Printer.Say("wrote %d definitions to %s", len(definitions), terminal.Clean(out))
}

// tools lists the tenant's own tools that are meant.
func (f exportFlags) tools(ctx context.Context, c *client.Client) ([]string, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Tool], error) {
		return c.ListTools(ctx, client.ToolQuery{Page: p})
	})
	if err != nil {
		return nil, err
	}
	var slugs, sources []string
	for _, t := range page.Items {
		source := openapi.SourceOf(&tool.Tool{Definition: tool.Definition{Interaction: t.Interaction}})
		if source != nil && !slices.Contains(sources, source.Name) {
			sources = append(sources, source.Name)
		}
		meant := f.source == "" || source != nil && source.Name == f.source
		if meant && t.Scope == "tenant" && t.ToolType != tool.BucketMCP {
			slugs = append(slugs, t.Slug)
		}
	}
	if f.source != "" && len(slugs) == 0 {
		return nil, &tool.Error{Kind: tool.NotFound, Msg: fmt.Sprintf("no tool was imported from a document %q%s", f.source,
			terminal.DidYouMean(f.source, sources))}
	}
	return slugs, nil
}

// Fields of definitions, in the order people write them. What a server keeps of
// a row is not among them.
var (
	toolFields = []string{
		"slug", "name", "description", "category", "icon", "version", "publish", "status", "is_active", "egress_class",
		"requires_approval", "permission_policy", "required_permission", "egress_rules", "implementation_type",
		"implementation_config", "artifact_id", "artifact_version", "input_schema", "output_schema", "output_check",
		"execution", "interaction",
	}
	agentFields = []string{
		"slug", "name", "description", "version", "publish", "status", "model", "model_options", "fallback_models",
		"instructions", "tools", "tool_mode", "limits", "max_concurrency", "on_unavailable_tool", "output_schema",
		"text_tool_calls", "spaces", "tool_groups", "skills",
	}
	// usual are the defaults of fields, which are not written.
	usual = map[string]string{
		"requires_approval": "false", "permission_policy": `"auto"`, "is_active": "true", "publish": "false",
	}
)

func exportTool(ctx context.Context, c *client.Client, name string) (exported, error) {
	t, err := c.Tool(ctx, name)
	if err != nil {
		return exported{}, err
	}
	if t.Scope != "tenant" {
		return exported{}, &tool.Error{
			Kind: tool.Denied, Msg: t.Slug + " is the platform's: only tools of the tenant are exported",
		}
	}
	versions, err := c.ToolVersions(ctx, t.ID)
	if err != nil {
		return exported{}, err
	}
	published := false
	for _, v := range versions.Items {
		published = published || v.Published && v.Version == t.Version && same(v.Definition, t.Definition)
	}
	return definitionOf("tool", t.Slug, t, toolFields, t.Status, published)
}

func exportAgent(ctx context.Context, c *client.Client, name string) (exported, error) {
	g, err := c.Agent(ctx, name)
	if err != nil {
		return exported{}, err
	}
	versions, err := c.AgentVersions(ctx, g.ID)
	if err != nil {
		return exported{}, err
	}
	limits := g.Limits
	content := v1.AgentDefinition{
		Name:              g.Name,
		Description:       g.Description,
		Instructions:      g.Instructions,
		Model:             g.Model,
		ModelOptions:      g.ModelOptions,
		FallbackModels:    g.FallbackModels,
		Tools:             g.Tools,
		ToolMode:          g.ToolMode,
		Limits:            &limits,
		MaxConcurrency:    g.MaxConcurrency,
		OnUnavailableTool: g.OnUnavailableTool,
		OutputSchema:      g.OutputSchema,
		TextToolCalls:     g.TextToolCalls,
		Spaces:            g.Spaces,
		ToolGroups:        g.ToolGroups,
		Skills:            g.Skills,
	}
	published := false
	for _, v := range versions.Items {
		published = published || v.Published && v.Version == g.Version && same(v.Definition, content)
	}
	return definitionOf("agent", g.Slug, g, agentFields, g.Status, published)
}

func same(a, b any) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// definitionOf writes those fields of a row that its definition has.
func definitionOf(
	kind, slug string, row any, fields []string, status tool.Status, published bool,
) (exported, error) {
	raw, err := json.Marshal(row)
	if err != nil {
		return exported{}, fmt.Errorf("writing the definition: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return exported{}, fmt.Errorf("writing the definition: %w", err)
	}
	out := exported{slug: slug}
	switch {
	case status != tool.Published:
	case published:
		members["publish"] = json.RawMessage("true")
	default:
		out.note = "what is exported is the draft, which is not published; an earlier version is"
	}
	if status == tool.Draft || status == tool.Published {
		delete(members, "status")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"kind":%q`, kind)
	for _, field := range fields {
		value := members[field]
		switch string(value) {
		case "", "{}", "[]", "null", `""`, usual[field]:
			continue
		}
		fmt.Fprintf(&b, ",%q:%s", field, value)
	}
	b.WriteByte('}')
	out.raw = b.Bytes()
	if strings.Contains(string(out.raw), tool.Redacted) {
		out.note = "values that look like secrets are not shown: applied here they stay what they are, elsewhere set them"
	}
	return out, nil
}
