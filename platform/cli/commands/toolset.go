package commands

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

func (a *app) toolsetCommand() *cobra.Command {
	return cli.Describe(cli.Group("toolset", "Offer chosen tools to MCP clients under an address of their own",
		a.toolsetCreateCommand(), a.toolsetListCommand(), a.toolsetShowCommand(), a.toolsetSetCommand(),
		a.toolsetDeleteCommand()),
		`A toolset is a choice of tools at /mcp/SLUG of the server. MCP clients that use that
address see and call those of its tools that their key may call, and no others. A key
that is made for a toolset works there alone.`,
		`  toolcrib toolset create support --tool getOrder --tool refundOrder@^1
  toolcrib key create support-desk --toolset support
  toolcrib mcp config claude --toolset support`)
}

// toolsetFlags describe a toolset on a command line.
type toolsetFlags struct {
	name, instructions, catalog, status string
	tools, servers                      []string
}

func (f *toolsetFlags) register(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.tools, "tool", nil,
		"tool that is in it, as SLUG or SLUG@CONSTRAINT, such as getOrder@^1.2; may be repeated")
	flags.StringArrayVar(&f.servers, "mcp-server", nil,
		"attached MCP server whose tools are all in it, those that are imported later too; may be repeated")
	flags.StringVar(&f.name, "name", "", "what people call it (default: the slug)")
	flags.StringVar(&f.instructions, "instructions", "", "what clients may show their models")
	flags.StringVar(&f.catalog, "catalog", "", "how tools are listed: auto, all or search (default: auto)")
	flags.StringVar(&f.status, "status", "", "active or disabled (default: active)")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	_ = cmd.RegisterFlagCompletionFunc("catalog",
		cobra.FixedCompletions(textsOf(toolset.Catalogs()), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("status",
		cobra.FixedCompletions(textsOf(toolset.Statuses()), cobra.ShellCompDirectiveNoFileComp))
}

func textsOf[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// into writes the flags that were given into a definition.
func (f *toolsetFlags) into(cmd *cobra.Command, d *v1.ToolsetDefinition) error {
	given := cmd.Flags().Changed
	if given("tool") {
		d.Tools = nil
		for _, text := range f.tools {
			of, err := toolsetTool(text)
			if err != nil {
				return cli.Usagef("--tool: %w", err)
			}
			d.Tools = append(d.Tools, of)
		}
	}
	if given("mcp-server") {
		d.Servers = slices.DeleteFunc(slices.Clone(f.servers), func(s string) bool { return s == "" })
	}
	if given("name") {
		d.Name = f.name
	}
	if given("instructions") {
		d.Instructions = f.instructions
	}
	if given("catalog") {
		d.Catalog = toolset.Catalog(f.catalog)
	}
	if given("status") {
		d.Status = toolset.Status(f.status)
	}
	t := d.Toolset()
	if err := t.Check(); err != nil {
		return cli.Usagef("%s", strings.TrimPrefix(tool.AsError(err).Path+": "+tool.AsError(err).Msg, "/"))
	}
	return nil
}

// toolsetTool reads a tool of a toolset as it is written on a command line.
func toolsetTool(text string) (v1.ToolsetTool, error) {
	ref, err := tool.ParseRef(text)
	return v1.ToolsetTool{Tool: ref.Name(), Version: ref.Constraint}, err
}

func (a *app) toolsetCreateCommand() *cobra.Command {
	var flags toolsetFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "create SLUG", Short: "Create a toolset", Args: cli.Operands("slug"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			d := v1.ToolsetDefinition{Slug: args[0]}
			if err := flags.into(cmd, &d); err != nil {
				return err
			}
			made, err := c.CreateToolset(cmd.Context(), d)
			if err != nil {
				return err
			}
			return a.showToolset(made)
		}),
	}, `Creates a toolset at /mcp/SLUG of the server. Tools keep their places when they are
renamed; a constraint such as ^1.2 keeps clients at versions that meet it.`,
		`  toolcrib toolset create support --tool getOrder --tool refundOrder@^1
  toolcrib toolset create files --mcp-server files --instructions 'Read before you write.'
  toolcrib toolset create everything --tool getOrder --mcp-server files --catalog search`)
	flags.register(a, cmd)
	return cmd
}

func (a *app) toolsetListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List toolsets", (*client.Client).Toolsets, listing[v1.Toolset]{
		header: "TOOLSET NAME~ PATH TOOLS SERVERS~ CATALOG STATUS",
		row: func(t v1.Toolset) []string {
			return []string{
				t.Slug, terminal.Clean(t.Name), t.Path, strconv.Itoa(len(t.Tools)), strings.Join(t.Servers, " "),
				string(t.Catalog), string(t.Status),
			}
		},
		empty: "no toolsets: make one with toolcrib toolset create SLUG --tool TOOL",
	}), `Lists the tenant's toolsets. TOOLS counts those that were chosen by name, without the
tools of SERVERS.`,
		`  toolcrib toolset list --all
  toolcrib toolset list --json`)
}

func (a *app) toolsetShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show TOOLSET", Short: "Show a toolset", Args: cli.Operands("toolset"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.Toolset(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.showToolset(found)
		}),
	}, `Shows a toolset: its address, its tools with their constraints, and its servers.`,
		`  toolcrib toolset show support
  toolcrib toolset show support --json`)
}

func (a *app) toolsetSetCommand() *cobra.Command {
	var flags toolsetFlags
	var add, without []string
	cmd := cli.Describe(&cobra.Command{
		Use: "set TOOLSET", Short: "Change a toolset", Args: cli.Operands("toolset"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if cmd.Flags().NFlag() == 0 {
				return cli.Usagef("say what to change, such as --add-tool getOrder")
			}
			found, err := c.Toolset(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			d := v1.ToolsetDefinition{
				Slug: found.Slug, Name: found.Name, Instructions: found.Instructions, Catalog: found.Catalog,
				Status: found.Status, Servers: found.Servers, Revision: found.Revision,
			}
			for _, t := range found.Tools {
				if !slices.Contains(without, t.Tool) && !slices.Contains(without, t.ID) {
					d.Tools = append(d.Tools, v1.ToolsetTool{Tool: t.Tool, Version: t.Version})
				}
			}
			for _, text := range add {
				of, err := toolsetTool(text)
				if err != nil {
					return cli.Usagef("--add-tool: %w", err)
				}
				d.Tools = slices.DeleteFunc(d.Tools, func(t v1.ToolsetTool) bool { return t.Tool == of.Tool })
				d.Tools = append(d.Tools, of)
			}
			if err := flags.into(cmd, &d); err != nil {
				return err
			}
			saved, err := c.UpdateToolset(cmd.Context(), found.Slug, d)
			if err != nil {
				return err
			}
			return a.showToolset(saved)
		}),
	}, `Changes what is given and leaves the rest. --tool replaces all tools that were chosen by
name, --add-tool and --remove-tool change some. Clients are notified that their list changed.`,
		`  toolcrib toolset set support --add-tool cancelOrder --remove-tool refundOrder
  toolcrib toolset set support --add-tool getOrder@~1.2
  toolcrib toolset set support --status disabled`)
	flags.register(a, cmd)
	cmd.Flags().StringArrayVar(&add, "add-tool", nil,
		"tool to add, or whose constraint to change, as SLUG or SLUG@CONSTRAINT; may be repeated")
	cmd.Flags().StringArrayVar(&without, "remove-tool", nil, "tool to remove; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("add-tool", a.completeTools)
	_ = cmd.RegisterFlagCompletionFunc("remove-tool", a.completeTools)
	return cmd
}

func (a *app) toolsetDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete TOOLSET", Short: "Delete a toolset, and revoke its keys", Args: cli.Operands("toolset"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.DeleteToolset(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(
				gone, "the toolset %s is deleted, and %d of its keys revoked", gone.Toolset, gone.RevokedKeys,
			)
		}),
	}, `Its tools stay what they are. Keys that were made for it are revoked for good.`,
		`  toolcrib toolset delete support`)
}

// showToolset prints a toolset.
func (a *app) showToolset(t v1.Toolset) error {
	names := make([]string, len(t.Tools))
	for i, of := range t.Tools {
		if names[i] = of.Tool; of.Version != "" {
			names[i] += "@" + of.Version
		}
	}
	return a.Printer.Show(t, func(w io.Writer) error {
		return terminal.Pairs(w,
			"toolset", t.Slug, "id", t.ID, "name", t.Name, "path", t.Path, "status", string(t.Status), "catalog",
			string(t.Catalog), "tools", strings.Join(names, " "), "mcp servers", strings.Join(t.Servers, " "),
			"instructions", t.Instructions, "revision", strconv.FormatInt(t.Revision, 10),
			"changed", terminal.Stamp(t.UpdatedAt))
	})
}
