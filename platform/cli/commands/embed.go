package commands

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) embedCommand() *cobra.Command {
	return cli.Describe(cli.Group("embed", "Show tools in frames of other sites",
		a.embedOriginsCommand(), a.embedAllowCommand(), a.embedDisallowCommand(), a.embedTokenCommand()),
		`A page of another site shows a tool in a frame, where the tenant allows its origin. The
backend of the site makes a token for each view, which runs the one tool as the person
that the backend names, for five minutes.`,
		`  toolcrib embed allow https://shop.example.com
  toolcrib embed token searchOrders --origin https://shop.example.com --caller customer-7`)
}

func (a *app) embedOriginsCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "origins", Short: "List the origins that may frame tools", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			found, err := c.EmbedOrigins(cmd.Context())
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), v1.Page[v1.EmbedOrigin]{Items: found}, listing[v1.EmbedOrigin]{
				header: "ORIGIN ID BY~ SINCE",
				row: func(o v1.EmbedOrigin) []string {
					return []string{o.Origin, o.ID, o.CreatedBy, terminal.Stamp(o.CreatedAt)}
				},
				empty: "no pages may frame tools: allow some with toolcrib embed allow ORIGIN",
			})
		}),
	}, `Lists the origins whose pages may frame the tenant's tools.`, `  toolcrib embed origins`)
}

func (a *app) embedAllowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "allow ORIGIN", Short: "Let pages of an origin frame tools", Args: cli.Operands("origin"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			made, err := c.AddEmbedOrigin(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(made, "pages of %s may frame the tenant's tools", made.Origin)
		}),
	}, `The origin is the scheme, host and port of the pages: https, or http of this machine.
There are no wildcards.`,
		`  toolcrib embed allow https://shop.example.com
  toolcrib embed allow http://localhost:3000`)
}

func (a *app) embedDisallowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "disallow ORIGIN", Short: "Let pages of an origin frame tools no longer", Args: cli.Operands("origin"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			id := args[0]
			if !tool.ValidID(id) {
				found, err := c.EmbedOrigins(cmd.Context())
				if err != nil {
					return err
				}
				id = ""
				for _, o := range found {
					if o.Origin == args[0] {
						id = o.ID
					}
				}
				if id == "" {
					return &tool.Error{Kind: tool.NotFound, Op: "embed disallow", Msg: fmt.Sprintf(
						"pages of %q may not frame tools: see toolcrib embed origins", args[0])}
				}
			}
			gone, err := c.RemoveEmbedOrigin(cmd.Context(), id)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "pages of %s may frame the tenant's tools no longer", gone.Origin)
		}),
	}, `Names the origin, or its id. Tokens for it open nothing from then on.`,
		`  toolcrib embed disallow https://shop.example.com`)
}

func (a *app) embedTokenCommand() *cobra.Command {
	var n v1.NewEmbedToken
	cmd := cli.Describe(&cobra.Command{
		Use: "token TOOL", Short: "Make a token for a frame", Args: cli.Operands("tool"), ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			n.Tool = args[0]
			if n.Origin == "" || n.Caller == "" {
				return cli.Usagef("--origin and --caller are required")
			}
			made, err := c.CreateEmbedToken(cmd.Context(), n)
			if err != nil {
				return err
			}
			return a.Printer.Show(made, func(w io.Writer) error {
				return terminal.Pairs(w, "token", made.Token, "frame", made.URL, "origin", made.Origin,
					"tool", made.Tool+"@"+made.Version, "caller", made.Subject, "until", terminal.Stamp(made.ExpiresAt))
			})
		}),
	}, `Makes what the backend of a site makes for each view of a page. The token is shown once,
and is good for five minutes. The page around the frame gives it to the frame by
postMessage.`,
		`  toolcrib embed token searchOrders --origin https://shop.example.com --caller customer-7`)
	flags := cmd.Flags()
	flags.StringVar(&n.Origin, "origin", "", "origin of the page around the frame")
	flags.StringVar(&n.Caller, "caller", "", "your id of the person before the page")
	flags.StringVar(&n.Version, "version", "",
		"a published version, or a constraint (default: the one that calls get now)")
	return cmd
}
