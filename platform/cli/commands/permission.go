package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) keyPermissionsCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "permissions", Short: "List the permissions that a key can have", Args: cli.Operands(),
		RunE: func(*cobra.Command, []string) error {
			known := api.KnownPermissions()
			return a.Printer.Show(v1.Page[api.Permission]{Items: known}, func(w io.Writer) error {
				rows := make([][]string, 0, len(known)+1)
				for _, p := range known {
					rows = append(rows, []string{p.Name, p.Meaning})
				}
				return terminal.Table(w, "PERMISSION TO~", append(rows, []string{"*", "do all of it, and call every tool"}))
			})
		},
	}, `Lists the permissions that the API asks for. A tool can ask for one of your own by
its required_permission: a key that calls it has to have that one too.`, `  toolcrib key permissions`)
}

// warnOfPermissions warns of permissions that nothing asks for: they may be for
// tools to come, or mistyped. With a nil client the tools are not asked.
func (a *app) warnOfPermissions(ctx context.Context, c *client.Client, wanted []string) {
	known := append(api.Permissions(), "*")
	unknown := func(p string) bool { return !slices.Contains(known, p) }
	if c != nil && slices.ContainsFunc(wanted, unknown) {
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Env.Patience, suggestPatience))
		defer cancel()
		page, err := collect(paging{limit: suggestNames}, func(p client.Page) (v1.Page[v1.Tool], error) {
			return c.ListTools(ctx, client.ToolQuery{Page: p})
		})
		if err == nil { // Else the key may not see them, and what the API asks for is all there is to compare with.
			known = append(known, each(page.Items, func(t v1.Tool) string { return t.RequiredPermission })...)
		}
	}
	for i, p := range wanted {
		if unknown(p) && !slices.Contains(wanted[:i], p) {
			_, _ = fmt.Fprintf(a.Env.Err, "warning: neither the API nor a tool asks for the permission %q%s\n",
				terminal.Clean(p),
				cmp.Or(terminal.DidYouMean(p, known), ": toolcrib key permissions lists those of the API")) // The key is made.
		}
	}
}
