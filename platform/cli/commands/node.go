package commands

import (
	"strconv"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) runNodesCommand() *cobra.Command {
	var p paging
	cmd := cli.Describe(&cobra.Command{
		Use: "nodes RUN", Short: "List the nodes of a run's graphs", Args: cli.Operands("run id"),
		ValidArgsFunction: a.completeRuns,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := collect(p, func(page client.Page) (v1.Page[v1.Node], error) {
				return c.ListNodes(cmd.Context(), args[0], page)
			})
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), found, nodeListing)
		}),
	}, `Lists the nodes that have ended, in the order in which they did, and the items of maps.
--json has their results and states too.`,
		`  toolcrib run nodes 01987a3c-0000-7000-8000-000000000001
  toolcrib run nodes 01987a3c-0000-7000-8000-000000000001 --all --json`)
	p.register(cmd)
	return cmd
}

var nodeListing = listing[v1.Node]{
	header: "NODE KIND STATUS ATTEMPTS ENDED ERROR~",
	row: func(n v1.Node) []string {
		path, kind, attempts := n.Path, string(n.Kind), ""
		switch {
		case path == "":
			path, kind = "(graph)", "-"
		case kind == "":
			kind = "-"
		}
		if n.Attempts > 0 {
			attempts = strconv.Itoa(n.Attempts)
		}
		return []string{path, kind, string(n.Status), attempts, terminal.SinceOf(n.EndedAt), n.Error}
	},
	empty: "the run has run no graph, or none of its nodes has ended",
}
