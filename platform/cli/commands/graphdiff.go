package commands

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

func (a *app) graphDiffCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "diff FROM TO", Short: "Tell two graphs apart, node by node", Args: cli.Operands("graph", "other graph"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.graphs(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var sides [2]graphSource
			for i := range sides {
				var err error
				if sides[i], err = a.readGraph(cmd.Context(), cmd.InOrStdin(), args[i]); err != nil {
					return err
				}
			}
			changes := graph.Diff(&sides[0].definition, &sides[1].definition)
			shown := struct {
				From    string         `json:"from"`
				To      string         `json:"to"`
				Changes []graph.Change `json:"changes"`
			}{sides[0].name, sides[1].name, append([]graph.Change{}, changes...)}
			return a.Printer.Show(shown, func(w io.Writer) error { return writeChanges(w, changes) })
		},
	}, `Lists nodes that were added, removed and changed: where they lead, their conditions,
and each binding. Each side is a version, as in checkOrders@1.0.0, a draft, or a file.
toolcrib tool diff tells how a change weighs for those who call the graph.`,
		`  toolcrib graph diff checkOrders@1.0.0 checkOrders@1.1.0
  toolcrib graph diff checkOrders checkOrders.yaml --json`)
}

func writeChanges(w io.Writer, changes []graph.Change) error {
	if len(changes) == 0 {
		_, err := fmt.Fprintln(w, "nothing changed")
		return err
	}
	rows := make([][]string, len(changes))
	for i, c := range changes {
		node := c.Node
		if node == "" {
			node = "(graph)"
		}
		rows[i] = []string{c.What, node, c.Path, string(c.From), string(c.To)}
	}
	return terminal.Table(w, "WHAT NODE WHERE~ FROM~ TO~", rows)
}
