package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// exportKind is a kind of definitions that a tenant's export has.
type exportKind struct {
	name string // Of the flag, and of the folder.
	all  func(ctx context.Context, c *client.Client) ([]exported, error)
}

// exportKinds lists them in the order in which they are applied. Artifacts are not among them:
// their programs are not kept as files.
var exportKinds = []exportKind{
	{"servers", exportServers},
	{"pipelines", exportPipelines},
	{"profiles", exportProfiles},
	{"tools", func(ctx context.Context, c *client.Client) ([]exported, error) {
		return exportTools(ctx, c, func(t v1.Tool) bool { return t.Implementation != tool.Graph })
	}},
	{"graphs", func(ctx context.Context, c *client.Client) ([]exported, error) {
		return exportTools(ctx, c, func(t v1.Tool) bool { return t.Implementation == tool.Graph })
	}},
	{"agents", exportAgents},
	{"toolsets", exportToolsets},
}

func exportKindNames() []string {
	return each(exportKinds, func(k exportKind) string { return k.name })
}

func (a *app) exportCommand() *cobra.Command {
	var to string
	var kinds []string
	cmd := cli.Describe(&cobra.Command{
		Use: "export --to FOLDER", Short: "Write what a tenant defines as files that apply takes", Args: cobra.NoArgs,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			for _, kind := range kinds {
				if !slices.Contains(exportKindNames(), kind) {
					return cli.Usagef("--kind %s: want some of %s", kind, strings.Join(exportKindNames(), ", "))
				}
			}
			if to == "" && !a.Printer.JSON {
				return cli.Usagef("name the folder with --to, or ask for --json")
			}
			return a.exportAll(cmd.Context(), c, kinds, to)
		}),
	}, `Writes the drafts of tools, graphs and agents, and MCP servers, pipelines, profiles
and toolsets, as YAML: a file each, in a folder of each kind. What apply makes of the
folder is what there is: applied here, it changes nothing. Files that the export does
not write stay.

Not exported are credentials, keys, documents, uploaded programs, and tools that MCP
servers bring. A value that looks like a secret is not shown; applied here, it stays
what it is.`, `  toolcrib export --to definitions/
  toolcrib export --kind tools,toolsets --to definitions/
  toolcrib export --json | jq '.definitions[].slug'`)
	cmd.Flags().StringVar(&to, "to", "", "folder to write to")
	cmd.Flags().StringSliceVar(&kinds, "kind", nil,
		"kinds to export: "+strings.Join(exportKindNames(), ", ")+" (default: all)")
	_ = cmd.RegisterFlagCompletionFunc("kind",
		cobra.FixedCompletions(exportKindNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// exportAll writes all definitions of some kinds, or of all where none is named.
func (a *app) exportAll(ctx context.Context, c *client.Client, kinds []string, to string) error {
	type written struct {
		Kind  string `json:"kind"`
		Count int    `json:"count"`
	}
	var raws []json.RawMessage
	var counts []written
	for _, kind := range exportKinds {
		if len(kinds) > 0 && !slices.Contains(kinds, kind.name) {
			continue
		}
		found, err := kind.all(ctx, c)
		if err != nil {
			return fmt.Errorf("exporting %s: %w", kind.name, err)
		}
		for _, d := range found {
			raws = append(raws, d.raw)
			if d.note != "" { // The rest matters more.
				_, _ = fmt.Fprintf(a.Env.Err, "warning: %s %s: %s\n", kind.name, terminal.Clean(d.slug),
					terminal.Clean(d.note))
			}
		}
		if to != "" {
			if err := writeKind(filepath.Join(to, kind.name), found); err != nil {
				return err
			}
		}
		counts = append(counts, written{kind.name, len(found)})
	}
	shown := struct {
		To          string            `json:"to,omitempty"`
		Kinds       []written         `json:"kinds"`
		Definitions []json.RawMessage `json:"definitions,omitempty"`
	}{To: to, Kinds: counts}
	if to == "" {
		shown.Definitions = raws
	}
	return a.Printer.Show(shown, func(w io.Writer) error {
		rows := each(counts, func(n written) []string { return []string{n.Kind, strconv.Itoa(n.Count)} })
		return terminal.Table(w, "KIND WRITTEN", rows)
	})
}

// writeKind writes definitions into a folder, a file each.
func writeKind(folder string, all []exported) error {
	if len(all) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // Definitions hold no secrets.
		return fmt.Errorf("making the folder: %w", err)
	}
	for _, d := range all {
		text, err := definition.Format(d.raw)
		if err != nil {
			return err
		}
		file := filepath.Join(folder, filepath.Base(d.slug)+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // As above.
			return fmt.Errorf("writing a definition: %w", err)
		}
	}
	return nil
}

func exportTools(ctx context.Context, c *client.Client, meant func(v1.Tool) bool) ([]exported, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Tool], error) {
		return c.ListTools(ctx, client.ToolQuery{Page: p})
	})
	if err != nil {
		return nil, err
	}
	var out []exported
	for _, t := range page.Items {
		if t.Scope != "tenant" || t.ToolType == tool.BucketMCP || !meant(t) {
			continue
		}
		d, err := exportTool(ctx, c, t.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func exportAgents(ctx context.Context, c *client.Client) ([]exported, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Agent], error) {
		return c.ListAgents(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	out := make([]exported, len(page.Items))
	for i, g := range page.Items {
		if out[i], err = exportAgent(ctx, c, g.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// exportRows writes rows as definitions of a kind.
func exportRows[T any](
	kind string, fields []string, all v1.Page[T], slug func(T) string, row func(T) any,
) ([]exported, error) {
	out := make([]exported, len(all.Items))
	for i, item := range all.Items {
		var err error
		if out[i], err = definitionOf(kind, slug(item), row(item), fields, "", false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func exportServers(ctx context.Context, c *client.Client) ([]exported, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.MCPServer], error) {
		return c.MCPServers(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	fields := []string{
		"slug", "name", "server_url", "transport", "command", "headers", "auth", "allowed_tools", "trust_hints", "status",
	}
	return exportRows("mcp_server", fields, page, func(s v1.MCPServer) string { return s.Slug },
		func(s v1.MCPServer) any { return s })
}

func exportPipelines(ctx context.Context, c *client.Client) ([]exported, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Pipeline], error) {
		return c.ListPipelines(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	fields := []string{"slug", "name", "description", "search", "language", "chunking", "embedding", "disabled"}
	return exportRows("pipeline", fields, page, func(p v1.Pipeline) string { return p.Slug },
		func(p v1.Pipeline) any {
			if p.Reembedding != nil { // That is what was asked for last.
				p.Embedding = &p.Reembedding.Embedding
			}
			return p
		})
}

func exportProfiles(ctx context.Context, c *client.Client) ([]exported, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Profile], error) {
		return c.Profiles(ctx, "", p)
	})
	if err != nil {
		return nil, err
	}
	fields := []string{
		"name", "description", "denied", "requires_approval", "permission_policy", "egress_class", "required_permission",
		"rate", "max_concurrency",
	}
	return exportRows("profile", fields, page, func(p v1.Profile) string { return p.Name },
		func(p v1.Profile) any { return p })
}

func exportToolsets(ctx context.Context, c *client.Client) ([]exported, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Toolset], error) {
		return c.Toolsets(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	fields := []string{"slug", "name", "instructions", "catalog", "status", "tools", "servers"}
	return exportRows("toolset", fields, page, func(s v1.Toolset) string { return s.Slug },
		func(s v1.Toolset) any {
			s.Tools = each(s.Tools, func(t v1.ToolsetTool) v1.ToolsetTool {
				return v1.ToolsetTool{Tool: t.Tool, Version: t.Version}
			})
			return s
		})
}
