package commands

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
)

// mcpTrustCommand is the command that trusts the results of a server, or that takes it back.
func (a *app) mcpTrustCommand(trusted bool) *cobra.Command {
	use, short, long := "trust", "Trust the results of an MCP server",
		`Results of an MCP server taint the runs that get them: later calls that write outside
or use a credential are raised. Those of a trusted server do not, in runs that begin
from now on. It needs the permission tenants.write. A new address, transport or
command of the server takes it back.`
	if !trusted {
		use, short, long = "distrust", "Do not trust the results of an MCP server any more",
			"Results of the server taint the runs that get them, in runs that begin from now on."
	}
	return cli.Describe(&cobra.Command{
		Use: use + " SERVER", Short: short, Args: cli.Operands("server"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			s, err := c.TrustMCPServer(cmd.Context(), args[0], trusted)
			if err != nil {
				return err
			}
			return a.Printer.Show(s, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "results of %s are %s\n", s.Slug, writeTrust(s.Trusted))
				return err
			})
		}),
	}, long, "  toolcrib mcp "+use+" files")
}

// writeTrust says how results of a server count.
func writeTrust(trusted bool) string {
	if trusted {
		return "trusted"
	}
	return "untrusted"
}
