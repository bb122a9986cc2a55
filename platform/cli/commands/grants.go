package commands

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

// grantCommand makes a standing grant.
func (a *app) grantCommand() *cobra.Command {
	var in v1.NewGrant
	var lasts time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "grant TOOL", Short: "Approve calls that are to come, within limits", Args: cli.Operands("tool"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in.Tool, in.ExpiresS = args[0], int(lasts.Seconds())
			made, err := c.CreateGrant(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(made, "granted %s: %s", made.ID, terminal.Clean(made.Covers))
		}),
	}, `Makes a standing grant: it approves the calls that it covers in your name, and each
takes one of its uses. It counts as long as your key may decide such calls, and never
for runs that you started. A call that needs several approvals still needs the others.`,
		`  toolcrib approvals grant refundOrder --when 'input.amount <= 50' --uses 20 --for 168h
  toolcrib approvals grant refundOrder --version ^1.2 --agent supportDesk --uses 5`)
	flags := cmd.Flags()
	flags.StringVar(&in.Version, "version", "", "version constraint (default: every version)")
	flags.StringVar(&in.Agent, "agent", "", "slug of the agent that calls (default: every caller)")
	flags.StringVar(&in.Requester, "requester", "", "whom the run acts for (default: every subject)")
	flags.StringVar(&in.When, "when", "", "condition on input and principal, in CEL (default: all arguments)")
	flags.IntVar(&in.Uses, "uses", 1, "how many calls, up to 10000")
	flags.DurationVar(&lasts, "for", 24*time.Hour, "how long it lasts, up to 2160h")
	flags.StringVar(&in.Reason, "reason", "", "for the record")
	return cmd
}

func (a *app) grantListCommand() *cobra.Command {
	var q client.GrantQuery
	cmd := cli.Describe(listCommand(a, "List standing grants, newest first",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.Grant], error) {
			q.Page = page
			return c.ListGrants(ctx, q)
		}, grantListing), `Lists standing grants: what each covers, and how much of it was used.`,
		`  toolcrib approvals grants --active
  toolcrib approvals grants --tool refundOrder --json`)
	cmd.Use = "grants"
	cmd.Aliases = nil
	cmd.Flags().StringVar(&q.Tool, "tool", "", "slug of the tool")
	cmd.Flags().BoolVar(&q.Active, "active", false, "only those that may be used")
	return cmd
}

var grantListing = listing[v1.Grant]{
	header: "GRANT STATUS USED COVERS~ BY",
	row: func(v v1.Grant) []string {
		return []string{v.ID, string(v.Status), fmt.Sprintf("%d of %d", v.Used, v.Uses), v.Covers, v.CreatedBy}
	},
	empty: "no standing grant has been made: toolcrib approvals grant makes one",
}

func (a *app) grantRevokeCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "revoke GRANT", Short: "Revoke a standing grant", Args: cli.Operands("grant"),
		ValidArgsFunction: a.completeGrants,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			revoked, err := c.RevokeGrant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(revoked, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "revoked %s after %d of %d uses\n", revoked.ID, revoked.Used, revoked.Uses)
				return err
			})
		}),
	}, `Revokes a standing grant at once. What it approved stays approved.`,
		`  toolcrib approvals revoke 01987a3c-0000-7000-8000-000000000003`)
}

// completeGrants completes ids of grants that may be used.
func (a *app) completeGrants(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListGrants(ctx, client.GrantQuery{Active: true, Page: client.Page{Limit: completionNames}})
		return each(page.Items, func(v v1.Grant) string { return v.ID + "\t" + terminal.Shorten(v.Covers, 60) }), err
	})
}
