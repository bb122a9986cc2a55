package commands

import (
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/view"
)

func (a *app) viewCommand() *cobra.Command {
	return cli.Describe(cli.Group("view", "Publish results behind links that need no login",
		a.viewPublishCommand(), a.viewListCommand(), a.viewShowCommand(), a.viewRotateCommand(), a.viewRevokeCommand()),
		`A view is a page that displays the result of a call, or what a tool does, to everyone
who has its link, until it expires or is revoked. Switch publishing on for the tenant
first.`,
		`  toolcrib tenant publish on
  toolcrib view publish --run RUN --title 'Order SO-1017'
  toolcrib view list`)
}

func (a *app) viewPublishCommand() *cobra.Command {
	var n v1.NewView
	var keep time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "publish", Short: "Publish a result, or what a tool does", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			switch {
			case (n.RunID == "") == (n.Tool == ""):
				return cli.Usagef("say what to publish: --run RUN for the result of a call, or --tool TOOL")
			case n.RunID != "":
				n.Kind = view.Result
			default:
				n.Kind = view.Tool
			}
			if err := view.CheckKeep(keep); err != nil {
				return cli.Usagef("--expires: a link is good for a minute to a year")
			}
			n.ExpiresIn = int64(keep / time.Second)
			made, err := c.PublishView(cmd.Context(), n)
			if err != nil {
				return err
			}
			return a.showPublished(made)
		}),
	}, `Publishes a page that displays the result of a call, by its run, or what a tool does and
takes. The link is shown once. Everyone who has it can open the page without a login.
What looks like a secret is not shown on the page.`,
		`  toolcrib view publish --run RUN --title 'Order SO-1017' --expires 24h
  toolcrib view publish --tool getOrder`)
	flags := cmd.Flags()
	flags.StringVar(&n.RunID, "run", "", "run of the call whose result is shown")
	flags.StringVar(&n.Tool, "tool", "", "tool whose description is shown")
	flags.StringVar(&n.Title, "title", "", "title of the page (default: the slug of the tool)")
	flags.StringVar(&n.Description, "description", "", "what the page says above the view")
	flags.DurationVar(&keep, "expires", view.DefaultKeep, "how long the link is good")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	return cmd
}

func (a *app) viewListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List published views", (*client.Client).Views, listing[v1.View]{
		header: "VIEW TITLE~ KIND TOOL STATUS EXPIRES",
		row: func(v v1.View) []string {
			return []string{
				v.ID, terminal.Clean(v.Title), string(v.Kind), v.Tool + "@" + v.Version, string(v.Status),
				terminal.Stamp(v.ExpiresAt),
			}
		},
		empty: "no published views: publish one with toolcrib view publish --run RUN",
	}), `Lists the tenant's published views, newest first. A view is suspended while its tool is
disabled, deleted or quarantined.`,
		`  toolcrib view list --all
  toolcrib view list --json`)
}

func (a *app) viewShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show VIEW", Short: "Show a published view", Args: cli.Operands("view"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.View(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.showView(found)
		}),
	}, `Shows what a view displays and what its link does. The link itself is not stored.`,
		`  toolcrib view show VIEW`)
}

func (a *app) viewRotateCommand() *cobra.Command {
	var keep time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "rotate VIEW", Short: "Replace the link of a view", Args: cli.Operands("view"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if err := view.CheckKeep(keep); err != nil {
				return cli.Usagef("--expires: a link is good for a minute to a year")
			}
			made, err := c.RotateView(cmd.Context(), args[0], keep)
			if err != nil {
				return err
			}
			return a.showPublished(made)
		}),
	}, `Replaces the link by another, which is shown once. The old link opens nothing from then on.`,
		`  toolcrib view rotate VIEW --expires 24h`)
	cmd.Flags().DurationVar(&keep, "expires", view.DefaultKeep, "how long the link is good")
	return cmd
}

func (a *app) viewRevokeCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "revoke VIEW", Short: "Make the link of a view useless", Args: cli.Operands("view"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.RevokeView(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "the link of %s opens nothing any more", gone.ID)
		}),
	}, `Its link opens nothing from then on, for good.`,
		`  toolcrib view revoke VIEW`)
}

// showPublished prints a view with its link.
func (a *app) showPublished(p v1.PublishedView) error {
	return a.Printer.Show(p, func(w io.Writer) error {
		return terminal.Pairs(w, "view", p.ID, "title", terminal.Clean(p.Title), "link", p.URL,
			"expires", terminal.Stamp(p.ExpiresAt))
	})
}

// showView prints a view.
func (a *app) showView(v v1.View) error {
	return a.Printer.Show(v, func(w io.Writer) error {
		return terminal.Pairs(w,
			"view", v.ID, "title", terminal.Clean(v.Title), "description", terminal.Clean(v.Description),
			"kind", string(v.Kind), "status", string(v.Status),
			"tool", v.Tool+"@"+v.Version, "run", v.RunID, "expires", terminal.Stamp(v.ExpiresAt),
			"links before this one", strconv.Itoa(v.Rotations), "published by", v.CreatedBy)
	})
}
